package migrate

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/migrate/migration"
)

// VerifyOptions are the options of a verification.
type VerifyOptions struct {
	// Quarantined, if not nil, has the bytes that were kept of undecodable records, by
	// path. Every undecodable record must be there.
	Quarantined map[string][][]byte
}

// Verify compares a target with its legacy queue. It reads both sides, recomputes what should
// exist, and never reads a plan. What it compares depends on the state of each run
// (docs/life.md, "States"). src is nil unless the legacy queue is in another ensemble: the run's record says where
// it is. Verify writes nothing. The error wraps [ErrTwoEnsembles] if src is needed, [ErrDamaged] if it is not
// known what was migrated, or comes from reading.
func Verify(ctx context.Context, src *Source, dst *Reader, opt VerifyOptions) (*migration.Verdict, error) {
	t, err := readWhole(ctx, dst)
	if err != nil {
		return nil, &TargetError{err}
	}
	if src == nil {
		if src, err = originOf(ctx, t); err != nil {
			return nil, err
		}
		if src == nil {
			src = source.Empty(dst)
		}
	}
	return verifyTarget(ctx, src, t, opt)
}

func verifyTarget(ctx context.Context, src *Source, t *target.Target, opt VerifyOptions) (*migration.Verdict, error) {
	src = asPlanned(src, t)
	names, err := t.ReadNames(ctx)
	if err != nil {
		return nil, &TargetError{err}
	}
	options := verify.Options{
		Reading:  func(done, total int) { report(ctx, PhaseReadingSource, done, total) },
		Progress: func(done, total int) { report(ctx, PhaseComparing, done, total) },
	}
	if opt.Quarantined != nil {
		options.Quarantined = func(r migration.Record) bool {
			return slices.ContainsFunc(opt.Quarantined[r.Path], func(data []byte) bool { return znode.SameData(data, r.Data) })
		}
	}
	v, err := verify.Verify(ctx, src, t, names, options)
	if err != nil {
		return nil, err
	}
	v.Uncompleted, err = uncompleted(ctx, t)
	return v, err
}

// asPlanned is the source with times read as the newest run has read them.
func asPlanned(src *Source, t *target.Target) *Source {
	if run := t.Ledger.Newest(); run != nil {
		if unit, err := legacy.ParseTimeChoice(run.Time); err == nil {
			return src.WithTimes(unit)
		}
	}
	return src
}
