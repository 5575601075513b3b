package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type verifyCmd struct {
	legacyFlags
	quarantine, output string
}

func (a *app) verifyCmd() *cobra.Command {
	c := &verifyCmd{}
	cmd := &cobra.Command{
		Use:   "verify TARGET [SOURCE]",
		Short: "recompute the expected tree from the legacy records and compare",
		Long: `Read both queues, recompute from the legacy records what the target should hold, and
compare. A record that was handed over is read where its bytes are kept. verify takes
from the target's own records only the choices of the migration, where the legacy queue
is, and which record became which job. Nothing is written.

Before the release, verify checks that every record is there exactly once. It also
checks each znode's data, each property of a job, the order, the counts and the layout's
rules. After the release, the jobs belong to the services: verify then checks that each is
in a state that the layout allows, or was removed. It lists jobs that were acted on
separately from damage, and the records about which somebody must decide.

Give SOURCE only if the legacy queue is in another ensemble, or in another dump. Exit code 1
unless the target matches the legacy records. A record that arrived since, which follow
moves, is no difference.`,
		Example: `  mrtq verify zk1:2181/new
  mrtq verify zk1:2181/new --quarantine mrtq-quarantine-zk1-2181-new.ndjson`,
		Args: args("TARGET", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	a.conn.RateFlag(cmd.Flags())
	cmd.Flags().StringVar(&c.quarantine, "quarantine", "", "quarantine `file` that must hold the bytes of every undecodable record")
	c.nodeFlags(cmd.Flags())
	c.time = "auto" // a verification reads times as the run did
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

type verified struct {
	// Outcome is "ok", or the gravest group of the differences.
	Outcome string `json:"verdict"`
	*migration.Verdict
}

func outcome(v *migration.Verdict) string {
	for _, g := range migration.DifferenceGroups {
		if v.CountGroup(g) > 0 {
			return string(g)
		}
	}
	return "ok"
}

func (c *verifyCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	kept, err := keptBytes(c.quarantine, s.target)
	if err != nil {
		return err
	}
	v, err := c.verify(ctx, a, s, migrate.VerifyOptions{Quarantined: kept})
	if err != nil {
		if errors.Is(err, migrate.ErrTwoEnsembles) { // SOURCE is missing
			err = exit.With(exit.Usage, err)
		}
		return a.wayOut(ctx, s.target, err)
	}
	if v.Run == "" {
		if status := a.statusOf(ctx, s.target); status != nil && status.Step == migrate.StepLegacyQueue {
			return a.wayOut(ctx, s.target, migrate.ErrNoQueue)
		}
	}
	a.printAs(c.output, verified{outcome(v), v}, func() { view.Verdict(a.Screen, v) })
	a.sayQuarantine(v, c.quarantine, s.target)
	a.concludeVerdict(v, s, c.quarantine, "")
	if !v.OK() {
		return exit.Check(fmt.Errorf("%w: %s", migrate.ErrNotVerified, screen.Count(len(v.Differences), "difference", "differences")))
	}
	return nil
}

func (a *app) sayQuarantine(v *migration.Verdict, file string, target place) {
	switch n := v.Count("not-kept"); {
	case n > 0:
		lacks := fmt.Sprintf("--quarantine %s doesn't hold the bytes of %s", file, screen.Count(n, "undecodable record", "undecodable records"))
		if !files.IsRegular(file) {
			lacks += ", because it is not there"
		}
		a.Say("%s. %s", lacks, wantQuarantine(target))
	case v.Records.Quarantined > 0 && file == "":
		a.Say("%s in quarantine; their bytes were not checked: add --quarantine FILE", screen.Count(v.Records.Quarantined, "record is", "records are"))
	}
}

func (c *verifyCmd) verify(ctx context.Context, a *app, s pair, opt migrate.VerifyOptions) (*migration.Verdict, error) {
	ctx, finish := a.Phases(ctx, "verifying")
	defer finish()
	var src *migrate.Source // nil: the run's record says where it is
	if s.source.Text != "" {
		opened, side, err := a.openSource(ctx, s, &c.legacyFlags)
		if err != nil {
			return nil, err
		}
		defer side.Close()
		src = opened
	}
	target, err := a.open(ctx, s.target, true)
	if err != nil {
		return nil, failed("target", s.target.Text, err)
	}
	defer target.Close()
	v, err := migrate.Verify(ctx, src, target.Reader, opt)
	if err != nil {
		return nil, whichSide(s, err)
	}
	return v, nil
}

// concludeVerdict says what a verification has found, and what to do next. before comes first.
func (a *app) concludeVerdict(v *migration.Verdict, s pair, quarantine, before string) {
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Holds: v.Holds}
	if v.Records.Quarantined > 0 {
		at.Quarantine = cmp.Or(quarantine, defaultQuarantine(s.target))
	}
	if v.Run != "" {
		at.Run, at.InUse = &v.Current, len(v.Released) > 0
		at.Releasing = v.Releasing
		at.Held, at.JobsStay = advice.HeldByRuns(v.Holds), v.Records.Migrated > 0
	}
	for _, d := range v.Differences {
		if d.Kind.Group() == migration.UndecidedGroup {
			at.Undecided = append(at.Undecided, migration.Note{Record: d.Record, Question: migration.Question(d.Kind)})
		}
	}
	tone, word, text := view.VerdictText(v, s.target.Text)
	next := a.advice.WhileServicesWork(at)
	if step := migrate.VerdictStep(v); step != "" {
		next = a.advice.Next(step, at)
	}
	a.Conclude(tone, word, before+screen.Sentence(text)+".", next)
}
