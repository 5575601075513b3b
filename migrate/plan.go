package migrate

import (
	"context"

	"mrtq/legacy"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
)

// MakePlan says what a migration would do. It derives from the source what should exist,
// and leaves out what was migrated already, as the target's ledger says. A source whose times are read by their
// magnitude is read as the newest run has read it. The same source,
// target and options give the same plan. What keeps it from being carried out is among its
// problems. It writes nothing.
//
// An error comes from reading, or wraps [ErrPlace] if the new queue can't be where the
// target is, or [ErrDamaged] if it is not known what was migrated. If it is about the
// target, it is a [*TargetError].
func MakePlan(ctx context.Context, src *Source, dst *Reader, opt migration.PlanOptions) (*migration.Plan, error) {
	if err := target.CheckPlaces(ctx, src.Reader(), dst, src.Queues); err != nil {
		return nil, &TargetError{err}
	}
	t, err := readWhole(ctx, dst)
	if err != nil {
		return nil, &TargetError{err}
	}
	p, err := makePlan(ctx, src, t, opt)
	if err != nil {
		return nil, err
	}
	return p.Plan, nil
}

func makePlan(ctx context.Context, src *Source, t *target.Target, opt migration.PlanOptions) (*plan.Made, error) {
	src = withTimes(src, t)
	in := plan.Input{Options: opt, Source: src, Target: t}
	var err error
	if in.Names, err = t.ReadNames(ctx); err != nil {
		return nil, &TargetError{err}
	}
	if in.Dialect, in.ShownBy, err = t.Dialect(ctx); err != nil {
		return nil, &TargetError{err}
	}
	if in.Renames, err = standing.FindRenames(ctx, t, src); err != nil {
		return nil, err
	}
	builder := plan.New(in)
	// With the ACLs, because a rollback must be able to give a record back as it was.
	err = readAll(ctx, src.WithACLs(), src.InOrder(), PhaseReadingSource, func(f source.Fetched) error {
		builder.Add(f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	report(ctx, PhasePlanning, 0, 0)
	there, err := t.Batches(ctx, builder.Existing(), builder.Dialect())
	if err != nil {
		return nil, &TargetError{err}
	}
	return builder.Finish(there), nil
}

// withTimes is the source with times read as the newest run has read them, unless the operator has chosen a unit.
func withTimes(src *Source, t *target.Target) *Source {
	if src.Options.Time != legacy.TimeAuto {
		return src
	}
	return asPlanned(src, t)
}

// TargetError is an error of reading the target.
type TargetError struct{ Err error }

// Error returns the text of Err alone.
func (e *TargetError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *TargetError) Unwrap() error { return e.Err }
