package main

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

type showCmd struct {
	legacyFlags
	output     string
	quarantine string
}

func (a *app) showCmd() *cobra.Command {
	c := &showCmd{}
	cmd := &cobra.Command{
		Use:   "show SOURCE TARGET ITEM",
		Short: "show one record and its job, on both sides",
		Long: `Show one legacy record, what the migration knows of it, and the job or access
request that it became. ITEM is a record's path or name, or a job's or request's path
or id. If a record can't be decoded, show says why, and which quarantine file keeps
its bytes. Nothing is written. Exit code 1 if neither side has the item, if the
quarantine file lacks its bytes, or if there is no new queue at TARGET.`,
		Example: `  mrtq show zk1:2181 zk1:2181/new /ingest/mrtQ-05000000000001
  mrtq show zk1:2181 zk1:2181/new jid0000000003`,
		Args: args("SOURCE", "TARGET", "ITEM"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	c.flags(cmd.Flags())
	cmd.Flags().StringVar(&c.quarantine, "quarantine", "", "`file` that keeps the bytes of undecodable records (default mrtq-quarantine-TARGET.ndjson, if it is here)")
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

// shownItem is the -o json of show.
type shownItem struct {
	Item    string       `json:"item"`
	Verdict string       `json:"verdict"`
	Record  *inspected   `json:"record"` // null if the source does not have it
	Custody shownCustody `json:"custody"`
	Job     shownJob     `json:"job"`
	// Quarantine is set if the record was not migrated because it can't be decoded.
	Quarantine *quarantined `json:"quarantine,omitempty"`
	// NoQueue is what is at TARGET instead of a new queue; nil if there is one.
	NoQueue *migrate.NoQueue `json:"no_queue,omitempty"`
}

type shownCustody struct {
	Record    string `json:"record"` // "" for a job that no migration made
	Run       string `json:"run"`    // "" if no run has migrated the record
	Unchanged bool   `json:"unchanged"`
}

type shownJob struct {
	Path    string      `json:"path"`
	State   string      `json:"state"`
	Touched string      `json:"touched"`
	Gone    string      `json:"gone"`
	Znodes  []shownNode `json:"znodes"`
}

type shownNode struct {
	Path    string `json:"path"`
	Version int32  `json:"version"`
	Data    []byte `json:"data"` // base64
}

func (c *showCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	it, noQueue, err := c.find(ctx, a, s, args[2])
	if errors.Is(err, migrate.ErrNoItem) {
		if noQueue != nil {
			return exit.Check(fmt.Errorf("show: %w, and %s. %s", err, noQueueAt(s.target, noQueue), checkPlace))
		}
		return exit.Check(fmt.Errorf("show: %w; give a record's path or name, or a job's path or id", err))
	}
	if errors.Is(err, migrate.ErrManyItems) {
		return exit.Usagef("show: %w", err)
	}
	if err != nil {
		return err
	}
	out := shownOf(args[2], it)
	if out.NoQueue = noQueue; noQueue != nil {
		out.Verdict += fmt.Sprintf(", and %s. %s", noQueueAt(s.target, noQueue), checkPlace)
	} else if inQuarantine(it) {
		if out.Quarantine, err = lookIntoQuarantine(*it.Record, c.quarantine, s.target); err != nil {
			return err
		}
		out.Verdict += ", because it can't be decoded: " + out.Quarantine.Message + ". " + out.Quarantine.where()
	}
	if c.output == "json" {
		err = a.JSON(out)
	} else {
		a.printShown(out, it)
	}
	t := good
	lacks := out.Quarantine != nil && out.Quarantine.File != "" && !out.Quarantine.Kept
	if (lacks || noQueue != nil) && err == nil {
		t, err = bad, exit.Check(errors.New("show: "+out.Verdict))
	} else if it.Gone != "" || it.Touched != "" || it.Record == nil {
		t = attention
	}
	a.Conclude(t, "Show: %s.", out.Verdict)
	return err
}

// find finds the item. noQueue is what is at the target instead of a new queue, nil if
// there is one.
func (c *showCmd) find(ctx context.Context, a *app, s sides, name string) (it *migrate.Item, noQueue *migrate.NoQueue, err error) {
	ctx, finish := a.phases(ctx, "reading both sides")
	defer finish()
	queue, done, err := a.openQueue(ctx, s.source, &c.legacyFlags)
	if err != nil {
		return nil, nil, failed("show: source", s.source.text, a.noLegacyQueue(ctx, s, &c.legacyFlags, err))
	}
	defer done()
	target, err := a.openTarget(ctx, s.target, nil)
	if err != nil {
		return nil, nil, failed("show: target", s.target.text, err)
	}
	defer target.Close()
	if noQueue, err = migrate.ReadNoQueue(ctx, target); err != nil {
		return nil, nil, failed("show: target", s.target.text, err)
	}
	it, err = migrate.FindItem(ctx, queue, target, name)
	if err != nil && !errors.Is(err, migrate.ErrNoItem) && !errors.Is(err, migrate.ErrManyItems) {
		err = failed("show", s.source.text+" "+s.target.text, err)
	}
	return it, noQueue, err
}

func shownOf(name string, it *migrate.Item) shownItem {
	out := shownItem{Item: name, Verdict: itemVerdict(it), Custody: shownCustody{it.Path, it.Run, it.Unchanged},
		Job: shownJob{Path: it.Root, State: it.State, Touched: it.Touched, Gone: it.Gone, Znodes: []shownNode{}}}
	if it.Record != nil {
		r := inspect(*it.Record)
		out.Record = &r
	}
	for _, n := range it.Nodes {
		out.Job.Znodes = append(out.Job.Znodes, shownNode{n.Path, n.Stat.Version, n.Data})
	}
	return out
}

// itemVerdict says in one sentence what became of an item.
func itemVerdict(it *migrate.Item) string {
	switch {
	case it.Path == "":
		return it.Root + " is " + it.State + ", and no migration made it"
	case it.Run == "" && it.Root == "":
		return it.Path + " was not migrated"
	case it.Gone != "":
		return it.Path + " was " + it.Gone
	}
	text := fmt.Sprintf("%s became %s, which is %s", it.Path, it.Root, it.State)
	if it.Touched != "" {
		text += "; it has changed since: " + it.Touched
	}
	switch {
	case it.Record == nil:
		text += "; the record is not in the source any more"
	case !it.Unchanged:
		text += "; the record has changed since"
	}
	return text
}

func (a *app) printShown(out shownItem, it *migrate.Item) {
	if it.Record != nil {
		a.Table("Legacy record", []string{"RECORD", "STATUS", "TIME", "FORMAT", "WHAT"}, []screen.Row{recordRow(*it.Record)})
	}
	if q := out.Quarantine; q != nil {
		kept := "unknown"
		if q.File != "" {
			kept = q.File
			if !q.Kept {
				kept = "not in " + q.File
			}
		}
		a.Table("Quarantine", []string{"RECORD", "WHY", "KEPT IN"}, []screen.Row{{it.Path, q.Message, kept}})
	}
	if it.Run != "" {
		a.Table("Custody", []string{"RECORD", "RUN", "JOB"}, []screen.Row{{it.Path, it.Run, it.Root}})
	}
	var rows []screen.Row
	for _, n := range out.Job.Znodes {
		data := string(n.Data)
		if !utf8.Valid(n.Data) {
			data = fmt.Sprintf("%d bytes", len(n.Data))
		}
		rows = append(rows, screen.Row{n.Path, n.Version, data})
	}
	a.Table("New queue", []string{"ZNODE", "VERSION", "DATA"}, rows)
}
