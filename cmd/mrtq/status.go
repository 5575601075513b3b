package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type statusCmd struct {
	every  time.Duration
	output string
}

func (a *app) statusCmd() *cobra.Command {
	c := &statusCmd{}
	cmd := &cobra.Command{
		Use:   "status TARGET",
		Short: "show migration status, once or repeatedly",
		Long: `Read the target and its legacy queue, and show the runs and what became of their
records, the number of jobs, batches and access requests in each state, the holds with
their owners, the locks, what is in the legacy queue and who may be at work there, and
what to do next. It does not compare jobs with records: mrtq verify does. Nothing is
written. Exit code 1 if a run, a release or a completion is not finished, if a record has
been in the legacy queue for a minute after its release, and nobody follows, if somebody must
decide about a record, if the migration's own records are damaged, or if there is no new
queue at TARGET. If there is none, status says what is there instead.

--every repeats this at an interval, and shows by how much each number has changed since
the last time. A terminal shows only the newest numbers; with -o json each time is a line. Ctrl-C
ends it.`,
		Example: `  mrtq status zk1:2181/new
  mrtq status zk1:2181/new --every 10s`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	a.conn.RateFlag(cmd.Flags())
	cmd.Flags().DurationVar(&c.every, "every", 0, "repeat at this interval (0: once)")
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

type statusOutput struct {
	*migrate.Status
	Next string `json:"next"` // the command of Step
}

func (c *statusCmd) run(ctx context.Context, a *app, given []string) error {
	s, err := parseTarget(given)
	if err != nil {
		return err
	}
	if c.every < 0 || c.every > 0 && c.every < time.Second {
		return exit.Usagef("--every %v: expected at least 1s, or 0 to look once", c.every)
	}
	var before *migrate.Status
	for a.Out.Err == nil { // or nobody reads it any more
		switch status, err := c.read(ctx, a, s); {
		case err != nil && before == nil:
			return err
		case ctx.Err() != nil:
			return nil // Ctrl-C is how it ends
		case err != nil: // the servers may restart in the night
			a.Say("%v; the next look is in %s", err, c.every)
		default:
			tone, text := c.show(a, s, status, before)
			if c.every == 0 {
				if tone == screen.Bad {
					return exit.Check(errors.New(text))
				}
				return nil
			}
			before = status
		}
		select {
		case <-time.After(c.every):
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (c *statusCmd) show(a *app, s pair, status, before *migrate.Status) (screen.Tone, string) {
	at := situationOf(s.target, status)
	next := a.advice.Next(status.Step, at)
	if status.Step == "" {
		next = a.advice.WhileServicesWork(at)
	}
	out := statusOutput{status, next.Command}
	switch {
	case c.output == "json" && c.every > 0:
		_ = screen.WriteJSONLine(a.Out, out)
	case c.output == "json":
		a.JSON(out)
	default:
		if c.every > 0 {
			a.Redraw(time.Now())
		}
		view.Status(a.Screen, status, before)
	}
	tone, word, text := view.StatusVerdict(status, s.target.Text)
	a.Conclude(tone, word, text+".", next)
	if c.every > 0 {
		a.PrintResult(c.output != "json")
	}
	return tone, text
}

func situationOf(target place, status *migrate.Status) advice.Situation {
	at := advice.Situation{Target: target.Text, Holds: status.Holds, NoQueue: status.NoQueue, Undecided: status.Undecided()}
	if run := status.Current(); run != nil {
		at.Run, at.InUse = &run.Run, slices.ContainsFunc(status.Runs, func(r migrate.RunStatus) bool { return r.State == migration.RunDone && len(r.Releases) > 0 })
		at.Releasing = status.Releasing()
		at.Held = advice.HeldByRuns(status.Holds)
		at.JobsStay = slices.ContainsFunc(status.Runs, func(r migrate.RunStatus) bool { return r.Present > 0 })
		at.Quarantine = defaultQuarantine(target)
	}
	return at
}

func (c *statusCmd) read(ctx context.Context, a *app, s pair) (*migrate.Status, error) {
	ctx, finish := a.Phases(ctx, "reading the target")
	defer finish()
	side, err := a.open(ctx, s.target, true)
	if err != nil {
		return nil, failed("target", s.target.Text, err)
	}
	defer side.Close()
	status, err := migrate.ReadStatus(ctx, side.Reader)
	return status, failed("target", s.target.Text, err)
}
