package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

func (a *app) rebuildCmd() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "rebuild TARGET",
		Short: "rebuild a damaged or missing custody ledger",
		Long: `Rebuild damaged or missing records of runs, and the custody ledger, below /migration.
rebuild uses the trace on /jobs, what can still be read of the ledger, and the jobs
that still exist. If a job is gone, and its part of the ledger too, rebuild can only
count its record. From then on, mrtq plan refuses each record that may be one of
these, until you say with --done or --again what happened to it. rebuild writes no
job, batch or request. If nothing is damaged, it writes nothing. Exit code 1 if the
custody of a record stays lost, or if there is no new queue at TARGET.`,
		Example: `  mrtq rebuild zk1:2181/new`,
		Args:    args("TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.rebuild(cmd.Context(), args[0], output) },
	}
	choice(cmd.Flags(), &output, "output", "o", "format", "table", "json")
	return cmd
}

func (a *app) rebuild(ctx context.Context, target, output string) error {
	e, err := parseEndpoint("TARGET", target)
	if err != nil {
		return err
	}
	r, err := a.carryOutRebuild(ctx, e)
	if exitCode(err) == exitCheck {
		return fmt.Errorf("rebuild: %w", err)
	}
	if err != nil {
		return failed("rebuild", target, err)
	}
	lost := 0
	for _, run := range r.Runs {
		lost += run.Lost
	}
	if output == "json" {
		err = a.printJSON(r)
	} else {
		a.printRebuilt(r)
	}
	switch {
	case len(r.Runs) == 0:
		a.conclude(good, "Rebuild: nothing to do: no record of a run is damaged.")
	case lost > 0:
		a.conclude(attention, "Rebuild: %s rebuilt; the custody of %s stays lost: mrtq plan names the records that may be among them.", count(len(r.Runs), "run", "runs"), count(lost, "record", "records"))
	default:
		a.conclude(good, "Rebuild: %s rebuilt, and nothing is lost.", count(len(r.Runs), "run", "runs"))
	}
	if err == nil && lost > 0 {
		err = checkError(fmt.Errorf("rebuild %s: the custody of %s stays lost; mrtq plan names the records that may be among them", target, count(lost, "record", "records")))
	}
	return err
}

func (a *app) carryOutRebuild(ctx context.Context, e endpoint) (*migrate.Rebuilt, error) {
	// If nothing is damaged, nothing is opened for writing and no chroot is created.
	damage, err := readTarget(ctx, a, e, migrate.Damage)
	if err != nil {
		return nil, err
	}
	if len(damage) == 0 {
		found, err := readTarget(ctx, a, e, migrate.ReadNoQueue)
		if err != nil {
			return nil, err
		}
		if found != nil {
			if err := a.ifSource(ctx, e, migrate.DefaultQueues()); err != nil {
				return nil, err
			}
			return nil, checkError(fmt.Errorf("%s. %s", noQueueAt(e, found), checkPlace))
		}
		return &migrate.Rebuilt{Runs: []migrate.RebuiltRun{}}, nil
	}
	m := &migrate.Migrator{Say: func(text string) { a.say("%s", text) }}
	var r *migrate.Rebuilt
	err = a.onTarget(ctx, e, func(t *migrate.Target) (err error) {
		m.Target = t
		r, err = m.Rebuild(ctx)
		return err
	})
	return r, err
}

func (a *app) printRebuilt(r *migrate.Rebuilt) {
	if len(r.Runs) == 0 {
		return
	}
	var rows [][]any
	for _, run := range r.Runs {
		why := run.Why
		if run.Guessed {
			why = append(why, "its settings were lost: the default ones are assumed")
		}
		rows = append(rows, []any{run.Run, run.Entries, run.Lost, strings.Join(why, "; ")})
	}
	a.table("", []string{"RUN", "RECORDS IN CUSTODY", "LOST", "WHAT WAS DAMAGED"}, rows)
}
