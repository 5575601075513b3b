package migrate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// ReleaseOptions are the options of a release.
type ReleaseOptions struct {
	VerifyOptions
	Queues      []newqueue.QueueHold // to release; none means all, unless there are Collections
	Collections []string             // to release
	// Others also lifts the holds of people and other clients.
	Others bool
	// ActedOn is how many jobs and batches may have been acted on.
	ActedOn int
	// Unverified releases without verifying.
	Unverified bool
	// Restored says that the operator knows that the target was restored from a backup.
	Restored bool
	Now      func() time.Time // nil: time.Now
}

// Released is what a release did.
type Released struct {
	Lifted []string     `json:"lifted"` // the holds that were removed
	Left   []HoldStatus `json:"left"`   // the holds that remain
	// Verdict is that of the verification; nil without one.
	Verdict *Verdict `json:"verdict"`
}

// Release verifies the target, and lifts the holds that runs have set. A hold that has
// other owners stays, unless opt.Others is set. src may be nil if opt.Unverified is set, or
// if no run was ever made.
//
// The error wraps [ErrUnfinished], [ErrNotVerified], [ErrNotKept], [ErrNotRetired],
// [ErrActedOn], [ErrNoSource], [ErrRestored], [ErrDamaged], [ErrNoQueue] or [ErrHoldsChanged], or comes from reading; then nothing was released. The
// result is not nil if the target was verified, and has the verdict.
func Release(ctx context.Context, src *Source, w *Writer, opt ReleaseOptions) (*Released, error) {
	t, err := target.Read(ctx, &w.Reader)
	if err != nil {
		return nil, cancelled(&TargetError{err})
	}
	if !t.HasQueue() && len(t.Holds) == 0 {
		return nil, fmt.Errorf("%w: nothing can be held", ErrNoQueue)
	}
	res := &Released{Lifted: []string{}, Left: []HoldStatus{}}
	r := release{w: w, t: t, opt: opt, nonce: rand.Text()}
	if !slices.ContainsFunc(t.Holds, r.lifts) {
		res.Left = append(res.Left, t.Holds...)
		return res, nil
	}
	// A hold of which no run is an owner keeps no worker from a migrated job.
	covered := slices.ContainsFunc(t.Holds, func(h target.Hold) bool { return h.Queue != "" && r.lifts(h) && h.OfRun() })
	if covered {
		err = checkReleasable(t, opt)
	}
	if err != nil {
		return nil, err
	}
	if covered && !opt.Unverified && len(t.Ledger.Runs) > 0 {
		if src == nil {
			return nil, ErrNoSource
		}
		if res.Verdict, err = verifyTarget(ctx, src, t, opt.VerifyOptions); err != nil {
			return nil, cancelled(err)
		}
		if err := accept(res.Verdict, opt); err != nil {
			return res, err
		}
	}
	if err := r.lift(ctx, res); err != nil {
		return res, err
	}
	return res, nil
}

// checkReleasable refuses a release that no verification could allow.
func checkReleasable(t *target.Target, opt ReleaseOptions) error {
	if t.Damage != nil && !opt.Unverified {
		return t.Damage
	}
	for _, run := range t.Ledger.Runs {
		if run.Unfinished() {
			return fmt.Errorf("%w: %s", ErrUnfinished, run.ID)
		}
	}
	if t.Restored() && !opt.Restored && !opt.Unverified {
		return fmt.Errorf("%w: a job that was finished after the backup was made would run again", ErrRestored)
	}
	return nil
}

// accept decides by a verdict whether the queues may be released.
func accept(v *Verdict, opt ReleaseOptions) error {
	acted := 0
	for _, d := range v.Differences {
		switch {
		case d.Queue != "" && len(opt.Queues) > 0 && !slices.Contains(opt.Queues, d.Queue):
		case d.Kind == verify.ActedOn:
			acted++
		case d.Kind == verify.Restored && opt.Restored:
		default:
			return fmt.Errorf("%w: %s", ErrNotVerified, d)
		}
	}
	if v.Records.Quarantined > 0 && opt.Quarantined == nil {
		return fmt.Errorf("%w (number of records: %d)", ErrNotKept, v.Records.Quarantined)
	}
	if keptRecords(v) {
		return ErrNotRetired
	}
	if acted > opt.ActedOn {
		return fmt.Errorf("%w: %d, and %d are accepted", ErrActedOn, acted, opt.ActedOn)
	}
	return nil
}

// release is the transaction of one release.
type release struct {
	w     *Writer
	t     *target.Target
	opt   ReleaseOptions
	nonce string
}

// lift lifts the holds in one transaction. It succeeds only if the runs and the holds are
// as they were read, because the target was verified then.
func (r *release) lift(ctx context.Context, res *Released) error {
	var ops []znode.Op
	var queues []newqueue.QueueHold
	for _, h := range r.t.Holds {
		left := r.left(h)
		if !r.lifts(h) {
			res.Left = append(res.Left, h)
			continue
		}
		if h.Queue != "" {
			queues = append(queues, h.Queue)
		}
		ops = append(ops, leave(h, left))
		if len(left) > 0 {
			h.Owners = left
			res.Left = append(res.Left, h)
		} else {
			res.Lifted = append(res.Lifted, h.Path)
		}
	}
	if len(ops) == 0 {
		return nil
	}
	ops = append(ops, r.records(queues, res.Verdict)...)
	err := r.commit(ctx, ops)
	if err != nil {
		res.Lifted = []string{}
	}
	return err
}

// leave is the operation that leaves a hold these owners. Without any, the hold goes.
func leave(h target.Hold, owners ledger.Owners) znode.Op {
	if len(owners) == 0 {
		return znode.Delete(h.Path, h.Stat.Version)
	}
	return znode.Set(h.Path, ledger.EncodeOwners(owners), h.Stat.Version)
}

// left are the owners that a hold has after the release.
func (r *release) left(h target.Hold) ledger.Owners {
	if r.opt.Others || h.Collection != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.Owners), func(o ledger.Owner) bool { return ledger.IsRun(o.By) })
}

// lifts reports whether the release takes owners from a hold.
func (r *release) lifts(h target.Hold) bool { return r.wants(h) && len(r.left(h)) < len(h.Owners) }

// wants reports whether the release is about a hold.
func (r *release) wants(h target.Hold) bool {
	switch {
	case h.Collection != "":
		return slices.Contains(r.opt.Collections, h.Collection)
	case len(r.opt.Queues) == 0:
		return len(r.opt.Collections) == 0
	}
	return slices.Contains(r.opt.Queues, h.Queue)
}

// records are the operations that note the release in the runs' records.
func (r *release) records(queues []newqueue.QueueHold, v *Verdict) (ops []znode.Op) {
	if r.t.Damage != nil || len(queues) == 0 {
		return nil
	}
	by := ledger.Release{At: now(r.opt.Now), By: apply.OwnerName(now(r.opt.Now)), Queues: queues, Unverified: r.opt.Unverified, Nonce: r.nonce}
	if v != nil {
		by.ActedOn = v.Count(verify.ActedOn)
	}
	for _, run := range r.t.Ledger.Runs {
		run.Restored = run.Restored || run.WasRestored()
		run.Version = run.Stat.Version + 1
		run.Releases = append(slices.Clone(run.Releases), by)
		ops = append(ops, znode.Set(ledger.RunPath(run.ID), run.Encode(), run.Stat.Version))
	}
	return ops
}

// commit sends the transaction. If the answer is lost, it looks whether this release is in
// the record of a run, or whether the holds were removed.
func (r *release) commit(ctx context.Context, ops []znode.Op) error {
	for {
		err := r.w.Multi(ctx, ops)
		var refused *znode.MultiError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused):
			return fmt.Errorf("%w: %w", ErrHoldsChanged, err)
		case !errors.Is(err, zkconn.ErrUnknownOutcome):
			return cancelled(err)
		}
		done, err := r.wasDone(context.WithoutCancel(ctx), ops)
		if err != nil || done {
			return err
		}
	}
}

func (r *release) wasDone(ctx context.Context, ops []znode.Op) (bool, error) {
	if err := r.w.Sync(ctx); err != nil {
		return false, fmt.Errorf("whether the queues were released is not known; run the same command again: %w", err)
	}
	last := ops[len(ops)-1]
	n, err := r.w.Get(ctx, last.Path)
	switch {
	case errors.Is(err, znode.ErrNoNode):
		return last.Kind == znode.OpDelete, nil
	case err != nil:
		return false, fmt.Errorf("whether the queues were released is not known; run the same command again: %w", err)
	}
	return last.Kind == znode.OpSet && bytes.Equal(n.Data, last.Data), nil
}
