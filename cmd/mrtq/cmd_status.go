package main

import (
	"context"
	"errors"
	"fmt"
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
		Long: `Read the target and say which runs there were and what became of the records that
they took over, how many jobs, batches and access requests are in which state, who
holds which queue, who has which lock, and what to do next. The source is not read:
whether the target is what it should be, mrtq verify says. Nothing is written. Exit
code 1 while a run is not finished, or its records are damaged.`,
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
	if output == "json" {
		err = a.printJSON(s)
	} else {
		a.printStatus(s)
	}
	t, text := good, "nothing is unfinished"
	if s.Unfinished() {
		t, text = bad, errUnfinished.Error()
	}
	if s.Next != "" {
		text += ". Next: " + s.Next
	}
	a.conclude(t, "Status: %s", text)
	if err == nil && s.Unfinished() {
		err = checkError(fmt.Errorf("status %s: %w", target, errUnfinished))
	}
	return err
}

func (a *app) printStatus(s *migrate.Status) {
	list(a, "", s.Runs, []string{"RUN", "STATE", "STARTED", "DIALECT", "IN CUSTODY", "STANDING", "GONE"}, func(r migrate.RunStatus) []any {
		return []any{r.Run, string(r.State), r.Started.Format(time.RFC3339), string(r.Dialect), r.Custody, r.Standing, r.Gone}
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
	list(a, "", s.Holds, []string{"HOLD", "SET BY"}, func(h migrate.HoldStatus) []any { return []any{h.Path, h.By} })
	list(a, "", s.Locks, []string{"LOCK", "SESSION"}, func(l migrate.LockStatus) []any { return []any{l.Path, l.Session} })
	if s.Touched > 0 {
		fmt.Fprintf(a.stdout, "%s changed since migrated.\n", count(s.Touched, "job or request was", "jobs and requests were"))
	}
}
