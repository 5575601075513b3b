package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

var errUnfinished = errors.New("the migration is not finished")

func (a *app) statusCmd() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status TARGET",
		Short: "say where a migration stands",
		Long: `Read the target, and show the runs and what became of their records, the number of
jobs, batches and access requests in each state, the holds, the locks, and what to do
next. status does not read the source, so it can't say whether the target is what it
should be: mrtq verify does. Nothing is written. Exit code 1 if a run is not finished,
if the migration's own records are damaged, or if there is no new queue at TARGET. In
that case status says what is there instead.`,
		Example: `  mrtq status zk1:2181/new`,
		Args:    args("TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.status(cmd.Context(), args[0], output) },
	}
	choice(cmd.Flags(), &output, "output", "o", "format", "table", "json")
	return cmd
}

func (a *app) status(ctx context.Context, target, output string) error {
	e, err := parseEndpoint("TARGET", target)
	if err != nil {
		return err
	}
	s, err := readTarget(ctx, a, e, migrate.ReadStatus)
	if err != nil {
		return failed("status", target, err)
	}
	text, next := stateText(s, e), a.nextOf(s, e)
	if output == "json" {
		err = a.printJSON(statusOutput{s, unlabelled(next)})
	} else {
		a.printStatus(s)
	}
	t := good
	if s.Unfinished() || s.NoQueue != nil {
		t = bad
	}
	a.conclude(t, "Status: %s.%s", text, afterBlank(next))
	if err == nil && t == bad {
		err = checkError(fmt.Errorf("status %s: %s", target, text))
	}
	return err
}

// statusOutput is the -o json of status.
type statusOutput struct {
	*migrate.Status
	Next string `json:"next"`
}

// unlabelled removes the label "Next: ", if the caller has its own.
func unlabelled(next string) string {
	return strings.TrimPrefix(strings.TrimPrefix(next, "Next: "), "Next, ")
}

// afterBlank is a sentence with a blank before it, or "" if there is no sentence.
func afterBlank(sentence string) string {
	if sentence == "" {
		return ""
	}
	return " " + sentence
}

func (a *app) printStatus(s *migrate.Status) {
	list(a, "", s.Runs, []string{"RUN", "STATE", "STARTED", "DIALECT", "IN CUSTODY", "STILL THERE", "GONE"}, func(r migrate.RunStatus) []any {
		return []any{r.Run, stateShown(s, r), r.Started.Format(time.RFC3339), string(r.Dialect), r.Custody, r.Existing, r.Gone}
	})
	list(a, "Damaged records of the migration", s.Damage, []string{"ZNODE", "WHAT"}, func(p migrate.Problem) []any { return []any{p.Path, p.Message} })
	for _, of := range []struct {
		what   string
		counts []migrate.StateCount
	}{{"JOBS", s.Jobs}, {"ACCESS REQUESTS", s.Access}, {"BATCHES", s.Batches}} {
		var rows [][]any
		for _, c := range of.counts {
			rows = append(rows, []any{c.State, c.Ours, c.Others})
		}
		a.table("", []string{of.what, "MIGRATED", "OTHERS"}, rows)
	}
	list(a, "", s.Holds, []string{"HOLD", "SET BY"}, func(h migrate.HoldStatus) []any { return []any{h.Path, heldBy(h)} })
	list(a, "", s.Locks, []string{"LOCK", "SESSION"}, func(l migrate.LockStatus) []any { return []any{l.Path, l.Session} })
	if s.Touched > 0 && s.AtWork == 0 { // otherwise the migrator may have changed them
		fmt.Fprintf(a.stdout, "%s migrated.\n", count(s.Touched, "job or request has changed since it was", "jobs and requests have changed since they were"))
	}
}

// heldBy says who set a hold, since when, and why.
func heldBy(h migrate.HoldStatus) string {
	text := h.By
	if !h.Since.IsZero() {
		text += " since " + h.Since.Format(time.RFC3339)
	}
	if h.Why != "" {
		text += ": " + h.Why
	}
	return text
}
