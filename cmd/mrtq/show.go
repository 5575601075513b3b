package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
)

type showCmd struct{ output string }

func (a *app) showCmd() *cobra.Command {
	c := &showCmd{}
	cmd := &cobra.Command{
		Use:   "show TARGET ITEM",
		Short: "show a legacy record and the job created from it",
		Long: `Show one legacy record, where it is now, what the migration knows of it, and the job or
access request that it became. ITEM is a record's path, name, jobID or token, or a job's or
request's path or id (jid, qid). If a record can't be decoded, show says why. Nothing is
written. Exit code 1 if neither side has the item, or if there is no new queue at
TARGET.`,
		Example: `  mrtq show zk1:2181/new /ingest/mrtQ-05000000000001
  mrtq show zk1:2181/new jid0000000003`,
		Args: args("TARGET", "ITEM"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

type shown struct {
	Item    string       `json:"item"`
	Verdict string       `json:"verdict"`
	Record  *view.Record `json:"record"` // null if the source does not have it
	Ledger  shownEntry   `json:"ledger"`
	Job     shownJob     `json:"job"`
	// Notices are what to know about the job before a service works on it.
	Notices []migrate.Notice `json:"notices"`
}

type shownEntry struct {
	Record string `json:"record"` // "" for a job that no migration made
	Run    string `json:"run"`    // "" if no run has migrated the record
	// Standing is how the record stands; "" if the legacy queue is in another ensemble, or for a job that no migration made.
	Standing migrate.Standing `json:"standing"`
}

type shownJob struct {
	Path   string      `json:"path"`
	State  string      `json:"state"` // "" if it was removed
	Znodes []shownNode `json:"znodes"`
}

type shownNode struct {
	Path    string `json:"path"`
	Version int32  `json:"version"`
	Data    []byte `json:"data"` // base64
}

func (c *showCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseTarget(args)
	if err != nil {
		return err
	}
	item, err := c.find(ctx, a, s, args[1])
	switch {
	case item != nil && item.NoQueue != nil:
		return a.wayOut(ctx, s.target, migrate.ErrNoQueue)
	case errors.Is(err, migrate.ErrNotFound):
		return exit.Check(fmt.Errorf("%w; give the path or id of a record or job", err))
	case errors.Is(err, migrate.ErrAmbiguousID):
		return exit.Usagef("%w", err)
	case err != nil:
		return err
	}
	out := shownOf(args[1], item)
	a.printAs(c.output, out, func() { view.Item(a.Screen, item) })
	tone := screen.Good
	settled := []migrate.Standing{migrate.StandingAsMigrated, migrate.StandingHandedOver, migrate.StandingNotMigrated}
	if !slices.Contains(settled, item.Standing) || item.Job != "" && len(item.Nodes) == 0 {
		tone = screen.Attention
	}
	a.Conclude(tone, view.ItemWord(item), out.Verdict+".", advice.Next{})
	return nil
}

func (c *showCmd) find(ctx context.Context, a *app, s pair, name string) (*migrate.FindResult, error) {
	ctx, finish := a.Phases(ctx, "reading both queues")
	defer finish()
	side, err := a.open(ctx, s.target, true)
	if err != nil {
		return nil, failed("target", s.target.Text, err)
	}
	defer side.Close()
	item, err := migrate.Find(ctx, side.Reader, name)
	if errors.Is(err, migrate.ErrDamaged) {
		err = a.wayOut(ctx, s.target, failed("target", s.target.Text, err))
	}
	return item, err
}

func shownOf(name string, it *migrate.FindResult) shown {
	out := shown{Item: name, Verdict: view.ItemVerdict(it), Ledger: shownEntry{it.Path, it.Run, it.Standing},
		Job: shownJob{Path: it.Job, State: it.State, Znodes: []shownNode{}}, Notices: append([]migrate.Notice{}, it.Notices...)}
	if it.Record != nil {
		r := view.RecordOf(*it.Record)
		out.Record = &r
	}
	for _, n := range it.Nodes {
		out.Job.Znodes = append(out.Job.Znodes, shownNode{n.Path, n.Stat.Version, n.Data})
	}
	return out
}
