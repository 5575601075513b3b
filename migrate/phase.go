package migrate

import (
	"context"
	"iter"

	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// Phase is what a command is doing at the moment.
type Phase string

// The phases.
const (
	PhaseReadingTarget Phase = "reading the target"
	PhaseReadingSource Phase = "reading the source"
	PhasePlanning      Phase = "planning"
	PhaseAwaitingTurn  Phase = "waiting for another migration"
	PhaseSending       Phase = "sending"
	PhaseComparing     Phase = "comparing"
	PhaseRemoving      Phase = "removing"
	PhaseHandingOver   Phase = "handing over"
)

type phaseKey struct{}

// WithProgress returns a context with which the functions of this package report what they
// do: the phase, and how many of its steps are done; total is 0 if that is not known.
// report is called often, and must not block.
func WithProgress(ctx context.Context, report func(p Phase, done, total int)) context.Context {
	return context.WithValue(ctx, phaseKey{}, report)
}

func report(ctx context.Context, p Phase, done, total int) {
	if f, ok := ctx.Value(phaseKey{}).(func(Phase, int, int)); ok {
		f(p, done, total)
	}
}

func readTarget(ctx context.Context, r *Reader) (*target.Target, error) {
	report(ctx, PhaseReadingTarget, 0, 0)
	return target.Read(ctx, r, func(done, total int) { report(ctx, PhaseReadingTarget, done, total) })
}

// readWhole is readTarget, but refuses a target whose own records of the migration are not
// whole. The error wraps [ErrDamaged] then.
func readWhole(ctx context.Context, r *Reader) (*target.Target, error) {
	t, err := readTarget(ctx, r)
	if err == nil {
		err = t.Damage
	}
	return t, err
}

func findActivity(ctx context.Context, src *Source, waiting bool) ([]migration.LegacyActivity, error) {
	done, total := 0, src.Len()
	report(ctx, PhaseReadingSource, 0, total)
	return handover.FindActivity(ctx, src, waiting, func() {
		done++
		report(ctx, PhaseReadingSource, done, total)
	})
}

func readAll(ctx context.Context, src *Source, paths iter.Seq[string], p Phase, each func(source.Fetched) error) error {
	done, total := 0, src.Len()
	report(ctx, p, 0, total)
	for f, err := range src.Fetch(ctx, paths) {
		if err != nil {
			return err
		}
		if err := each(f); err != nil {
			return err
		}
		done++
		report(ctx, p, done, total)
	}
	return nil
}
