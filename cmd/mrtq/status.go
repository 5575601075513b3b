package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
)

type statusCmd struct {
	legacyFlags
	output string
}

func (a *app) statusCmd() *cobra.Command {
	c := &statusCmd{}
	cmd := &cobra.Command{
		Use:   "status TARGET [SOURCE]",
		Short: "say where a migration stands",
		Long: `Read the target, and show the runs and what became of their records, the number of
jobs, batches and access requests in each state, the holds with their owners, the
locks, and what to do next. With SOURCE, status also names the legacy records that came
late, were missed, or could run twice: a legacy worker took them since. It does not compare the
target with the source: mrtq verify does. Nothing is written. Exit code 1 if a run is
not finished, if the migration's own records are damaged, or if there is no new queue
at TARGET. In that case status says what is there instead.`,
		Example: `  mrtq status zk1:2181/new
  mrtq status zk1:2181/new zk1:2181`,
		Args: args("TARGET", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	a.conn.RateFlag(cmd.Flags())
	c.nodeFlags(cmd.Flags())
	c.time = "auto" // times are read as the run did
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

// statusOutput is the -o json of status.
type statusOutput struct {
	*migrate.Status
	Next string `json:"next"` // the command of Step
}

func (c *statusCmd) run(ctx context.Context, a *app, given []string) error {
	s, err := parseSides(given)
	if err != nil {
		return err
	}
	status, err := c.read(ctx, a, s)
	if err != nil {
		return err
	}
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Holds: status.Holds, NoQueue: status.NoQueue}
	if run := status.Current(); run != nil {
		at.Run = &run.Run
		at.Quarantined = run.Choices.Quarantines() && defaultQuarantine(s.target) != ""
		at.Quarantine = defaultQuarantine(s.target)
	}
	for _, l := range status.Legacy {
		if len(l.Twice) > 0 {
			at.Twice = l.Twice[0]
		}
	}
	words, command := a.advice.Next(status.Step, at), ""
	if status.Step == "" && at.Run != nil && at.Run.State == migrate.Done {
		words, command = "To see what workers have done since:", a.advice.CommandOf(migrate.StepVerify, at)
	}
	if c.output == "json" {
		a.JSON(statusOutput{status, cmp.Or(command, a.advice.CommandOf(status.Step, at))})
	} else {
		view.Status(a.Screen, status)
	}
	tone, text := view.StatusVerdict(status, s.target.Text)
	a.Conclude(tone, "Status: %s. %s", text, strings.TrimSpace(words+" "+command))
	if tone == screen.Bad {
		return exit.Check(errors.New(text))
	}
	return nil
}

func (c *statusCmd) read(ctx context.Context, a *app, s pair) (*migrate.Status, error) {
	ctx, finish := a.Phases(ctx, "reading the target")
	defer finish()
	src, target, done, err := a.openBoth(ctx, s, &c.legacyFlags)
	if err != nil {
		return nil, err
	}
	defer done()
	status, err := migrate.ReadStatus(ctx, target, src)
	return status, failed("target", s.target.Text, err)
}
