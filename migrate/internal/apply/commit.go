package apply

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/migration"
)

// maxFailed is how many transactions in a row may fail for a reason that may pass.
const maxFailed = 6

// firstPause is how long a migrator leaves a server alone that throttles. It waits twice as
// long after each further refusal in a row.
var firstPause = time.Second

type failures struct{ throttled, lost int }

// throttle waits after the server's answer that it throttles. The error says why the same can't be
// tried again.
func (f *failures) throttle(ctx context.Context, answer error) error {
	if f.throttled++; f.throttled == maxFailed {
		return fmt.Errorf("%d transactions in a row: %v; run the same command again when the server has less to do, or with fewer operations a second", maxFailed, answer)
	}
	return pause(ctx, firstPause<<(f.throttled-1))
}

// lose is throttle for a connection that was lost, without a pause.
func (f *failures) lose(err error) error {
	if f.lost++; f.lost == maxFailed {
		return fmt.Errorf("%w: the connection was lost at %d transactions in a row: %w", ErrDropped, maxFailed, err)
	}
	return nil
}

// errNotDone says that the answer of a transaction was lost, and that it was not done.
var errNotDone = errors.New("the transaction was not done")

// commit carries out ops, with the run's next record. It also checks the guards. If the
// answer is lost, commit looks whether the transaction was done.
//
// The error wraps [zkconn.ErrThrottled] or errNotDone, after a pause, if the same can be
// tried again; [ErrTakenOver], [ErrDropped] or [ErrInterrupted]; or it is a
// [*znode.MultiError].
func (c *Chain) commit(ctx context.Context, ops []znode.Op, next migration.Run) error {
	if err := ctx.Err(); err != nil {
		return interrupted(context.Cause(ctx))
	}
	next.Version = c.run.Stat.Version + 1
	data := ledger.EncodeRun(next)
	path := ledger.RunPath(next.ID)
	all := slices.Concat(c.guards, ops)
	if c.run.Stat.Version < 0 {
		all = append(all, c.create(path, data)) // ops create its parent
	} else {
		// First, so that the server's answer tells a run that was taken over from a target
		// that has changed: it names the first operation that it refuses.
		all = slices.Insert(all, 0, znode.Set(path, data, c.run.Stat.Version))
	}
	// A transaction that was sent is waited for, so that its outcome is known.
	err := c.w.Multi(context.WithoutCancel(ctx), all)
	switch {
	case err == nil:
	case errors.Is(err, zkconn.ErrThrottled):
		return cmp.Or(c.failures.throttle(ctx, err), err)
	case errors.Is(err, zkconn.ErrUnknownOutcome):
		done, lookErr := c.wasDone(ctx, path, data)
		if lookErr != nil {
			return lookErr
		}
		if !done {
			return cmp.Or(c.failures.lose(err), errNotDone)
		}
	default:
		return refusedBy(path, err)
	}
	next.Stat.Version = next.Version
	c.run, c.failures = next, failures{}
	c.steps++
	return nil
}

func refusedBy(path string, err error) error {
	var refused *znode.MultiError
	if errors.As(err, &refused) && refused.Op.Path == path && IsRace(refused) {
		return fmt.Errorf("%w: %w", ErrTakenOver, err)
	}
	return err
}

// IsRace reports whether an operation was refused because another client has written, or removed, its znode since it was read.
func IsRace(refused *znode.MultiError) bool {
	return refused != nil && (errors.Is(refused.Err, znode.ErrBadVersion) || errors.Is(refused.Err, znode.ErrNoNode) || errors.Is(refused.Err, znode.ErrNodeExists))
}

func (c *Chain) wasDone(ctx context.Context, path string, data []byte) (bool, error) {
	// Nobody else can find out, so a cancelled context does not end the look. A lost
	// session does.
	ctx = context.WithoutCancel(ctx)
	if err := c.w.Sync(ctx); err != nil {
		return false, unknown(err)
	}
	n, err := c.w.Get(ctx, path)
	switch {
	case errors.Is(err, znode.ErrNoNode) && c.run.Stat.Version < 0:
		return false, nil
	case err != nil:
		return false, unknown(err)
	case n.Stat.Version == c.run.Stat.Version:
		return false, nil
	case bytes.Equal(n.Data, data):
		return true, nil
	}
	return false, fmt.Errorf("%w: its record has changed", ErrTakenOver)
}

// unknown says that it is not known whether the last transaction was done. The next
// migrator finds out, because it reads the target.
func unknown(err error) error {
	return fmt.Errorf("whether the last transaction was done is not known; run the same command again: %w", err)
}

// pause waits. The error wraps [ErrInterrupted].
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return interrupted(context.Cause(ctx))
	}
}

func interrupted(err error) error {
	return fmt.Errorf("%w between two transactions; run the same command again: %w", ErrInterrupted, err)
}
