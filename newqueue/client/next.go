package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// NextJob waits until it can lock a job in a state, and returns that job, as
// [Queue.AcquireJob] does and in its order. A watch tells it of a new job at once. It
// notices within five seconds that a lock or a hold on the ingest queue is released,
// because it looks again then.
//
// Any number of workers may wait. No two get the same job; if several wait for one
// job, which of them gets it is not defined. A job that can't be read is skipped:
// [Queue.AcquireJob] and [Queue.Jobs] name it.
//
// NextJob also waits while the connection is lost. If ctx ends, the error wraps its
// cause. Other errors: [ErrNotFound], [newqueue.ErrValue] and [ErrUnknownOutcome] as for
// [Queue.AcquireJob], and [zk.ErrConnectionClosed] after the caller has closed the
// session.
func (q *Queue) NextJob(ctx context.Context, s newqueue.JobState) (*Job, error) {
	return q.jobLine(s).next(ctx)
}

// NextBatch waits until it can lock a batch in a state, and returns that batch, as
// [Queue.AcquireBatch] does. A watch tells it of a new batch at once, and it notices
// within five seconds that a batch has come into the state. Otherwise it is like
// [Queue.NextJob].
func (q *Queue) NextBatch(ctx context.Context, s newqueue.BatchState) (*Batch, error) {
	return q.batchLine(s).next(ctx)
}

// NextRequest waits until it can lock a request of a queue in a state, and returns
// that request, as [Queue.AcquireRequest] does. Otherwise it is like [Queue.NextBatch].
func (q *Queue) NextRequest(ctx context.Context, queue newqueue.AccessQueue, s newqueue.AccessState) (*Request, error) {
	return q.requestLine(queue, s).next(ctx)
}

func (l workQueue[T]) next(ctx context.Context) (found T, err error) {
	if err := l.check(); err != nil {
		return found, err
	}
	err = l.q.await(ctx, l.folder, func() (bool, error) {
		found, err = first(l.pass(ctx))
		if errors.Is(err, ErrNoneAvailable) || errors.Is(err, ErrHeld) {
			return false, nil
		}
		return err == nil, err
	})
	return found, err
}

// ReportWhenEmptied waits until the last job of a batch leaves batch-processing,
// and then moves the batch to reporting (B5). If many callers wait for the same
// batch, exactly one gets true for fired, no matter how many jobs finish at the
// same moment (S10). The other callers get false once the batch has moved or was removed.
// After [ErrUnknownOutcome] it may be that the caller moved it, and nobody gets true.
//
// A watch tells it at once that a job leaves. It notices if the batch was emptied
// before the call or while the connection was lost. It also waits for a batch
// that the client library is still creating, step by step, and looks every five
// seconds whether it is ready. The error wraps [ErrNotFound] if the queue's root does not exist.
func (q *Queue) ReportWhenEmptied(ctx context.Context, bid string) (fired bool, err error) {
	err = q.await(ctx, newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), func() (bool, error) {
		err := q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting)
		var other *StateError
		switch {
		case err == nil:
			fired = true
			return true, nil
		case errors.As(err, &other):
			// It has unfinished jobs. Or it is pending or held, and has no jobs yet. Otherwise another watcher moved it first.
			return other.Guard == "" && other.From != string(newqueue.BatchPending) && other.From != string(newqueue.BatchHeld), nil
		case errors.Is(err, ErrNotFound): // it was removed, or is being created
			_, there, err := q.stat(ctx, newqueue.BatchPath(bid))
			return !there, cmp.Or(err, q.checkRoot(ctx))
		case errors.Is(err, ErrLocked), errors.Is(err, ErrConflict):
			return false, nil
		}
		return false, err
	})
	return fired, err
}

// recheck is how long await waits at most before it looks again. Its watch tells it of what
// comes into a folder and what leaves it, but not that a lock or a hold is released.
const recheck = 5 * time.Second

// await calls look until it is done or fails. Between two calls it waits until the
// children of a folder change, until recheck has passed, or until ctx ends. It goes on
// waiting while the client has no connection. It has one watch at most: the client keeps each until it fires.
func (q *Queue) await(ctx context.Context, folder string, look func() (done bool, err error)) error {
	var changed <-chan zk.Event
	for {
		var err error
		if changed == nil {
			changed, err = q.watchFolder(ctx, folder)
		}
		done := false
		if err == nil {
			done, err = look()
		}
		if done || err != nil && !connectionLost(err) {
			return err
		}
		select {
		case <-changed:
			changed = nil
		case <-time.After(q.recheck):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// connectionLost reports whether a request failed, and changed nothing, because the
// client has no connection now, and is about to connect again. A client that was closed
// answers every request with zk.ErrConnectionClosed, so that is not among these errors:
// it would be another one if the client had tried to connect.
func connectionLost(err error) bool {
	return !errors.Is(err, ErrUnknownOutcome) && slices.ContainsFunc([]error{zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved},
		func(lost error) bool { return errors.Is(err, lost) })
}

func (q *Queue) watchFolder(ctx context.Context, folder string) (<-chan zk.Event, error) {
	return read(ctx, folder, func() (<-chan zk.Event, error) {
		for {
			_, _, changed, err := q.conn.ChildrenW(q.path(folder))
			if !errors.Is(err, zk.ErrNoNode) {
				return changed, err
			}
			there, _, created, err := q.conn.ExistsW(q.path(folder))
			if err != nil || !there {
				return created, err
			}
		}
	})
}
