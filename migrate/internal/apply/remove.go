package apply

import (
	"context"
	"errors"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Remover deletes znodes of a source. That may be another ZooKeeper than the target, so its
// transactions are none of a [Chain].
type Remover struct {
	w             *zkconn.Writer
	limits, limit Limits // the caller's, and those of the next transaction
	failures      failures
}

// NewRemover returns a Remover whose transactions are within limits.
func NewRemover(w *zkconn.Writer, limits Limits) *Remover {
	if limits.Bytes == 0 {
		limits.Bytes = DefaultBytes
	}
	return &Remover{w: w, limits: limits, limit: limits}
}

// Fits is how many operations the next transaction can have, from the first on; at least
// one if there is any.
func (r *Remover) Fits(ops []znode.Op) int {
	n, bytes := 0, 0
	for ; n < len(ops); n++ {
		bytes += ops[n].Size(len(r.w.Address().Chroot))
		if n > 0 && (bytes > r.limit.Bytes || r.limit.Ops > 0 && n == r.limit.Ops) {
			break
		}
	}
	return n
}

// Remove carries out deletes. It leaves out those that the server refuses, because the znode
// has changed, is not there or has children, and returns them. If the answer is lost, it looks
// whether the znodes are there. The error wraps [ErrInterrupted] or [ErrDropped], or comes
// from the server.
func (r *Remover) Remove(ctx context.Context, ops []znode.Op) (left []*znode.MultiError, err error) {
	for len(ops) > 0 {
		if ctx.Err() != nil {
			return left, interrupted(context.Cause(ctx))
		}
		n, began := r.Fits(ops), time.Now()
		err := r.w.Multi(context.WithoutCancel(ctx), ops[:n]) // waited for, so that its outcome is known
		var refused *znode.MultiError
		switch {
		case err == nil:
			r.limit.adapt(time.Since(began), r.limits)
		case errors.As(err, &refused) && isOfZnode(refused.Err):
			left = append(left, refused)
			rest := append([]znode.Op{}, ops[:refused.Index]...)
			ops = append(rest, ops[refused.Index+1:]...)
			continue
		default:
			done, err := r.failed(ctx, ops[:n], err)
			if err != nil {
				return left, err
			}
			if !done {
				continue
			}
		}
		r.failures = failures{}
		ops = ops[n:]
	}
	return left, nil
}

// isOfZnode reports whether a delete was refused because of the znode itself.
func isOfZnode(err error) bool {
	return errors.Is(err, znode.ErrBadVersion) || errors.Is(err, znode.ErrNoNode) || errors.Is(err, znode.ErrNotEmpty)
}

// failed reports whether deletes whose transaction failed were done in spite of it. If not,
// and without an error, they can be sent again.
func (r *Remover) failed(ctx context.Context, ops []znode.Op, err error) (done bool, _ error) {
	switch {
	case errors.Is(err, zkconn.ErrThrottled):
		return false, r.failures.throttle(ctx, err)
	case errors.Is(err, zkconn.ErrUnknownOutcome):
		if done, lookErr := r.areGone(ctx, ops); done || lookErr != nil {
			return done, lookErr
		}
		if err := r.failures.lose(err); err != nil {
			return false, err
		}
		r.limits.Bytes = max(min(r.limit.Bytes, znode.MultiSize(ops, len(r.w.Address().Chroot)))/2, 1) // it may be too large
		r.limit.Bytes = r.limits.Bytes
		return false, nil
	}
	return false, err
}

// areGone reports whether none of the znodes is there. All of them or none were deleted, so if
// one is there, none was.
func (r *Remover) areGone(ctx context.Context, ops []znode.Op) (bool, error) {
	ctx = context.WithoutCancel(ctx) // a lost session ends the look
	if err := r.w.Sync(ctx); err != nil {
		return false, unknown(err)
	}
	for _, op := range ops {
		if _, there, err := r.w.Exists(ctx, op.Path); there || err != nil {
			if err != nil {
				err = unknown(err)
			}
			return false, err
		}
	}
	return true, nil
}
