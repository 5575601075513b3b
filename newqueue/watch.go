package newqueue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// ReportWhenEmptied waits until the last job of a batch leaves batch-processing,
// and then moves the batch to reporting (B5). If many callers wait for the same
// batch, exactly one gets true for fired, no matter how many jobs finish at the
// same moment (S10). The other callers get false once the batch has moved or was removed.
//
// It waits with watches and never polls. It notices if the batch was emptied
// before the call or while the connection was lost. It also waits for a batch
// that the client library is still creating, step by step. The error is [ErrNoRoot] if
// the queue's root does not exist.
func (q *Queue) ReportWhenEmptied(ctx context.Context, bid string) (fired bool, err error) {
	w := batchWatch{q: q, bid: bid}
	for {
		seen, err := w.look(ctx)
		if err != nil {
			return false, err
		}
		switch seen {
		case emptied:
			err := q.MoveBatch(ctx, bid, BatchProcessing, BatchReporting)
			var moved *StateError
			switch {
			case err == nil:
				return true, nil
			case errors.As(err, &moved):
				return false, nil
			case errors.Is(err, ErrNotFound), errors.Is(err, ErrStillProcessing), errors.Is(err, ErrConflict), errors.Is(err, ErrNotDone):
				continue
			case errors.Is(err, ErrLocked):
				locked, changed, err := q.watchThere(ctx, BatchPath(bid)+"/lock")
				if err != nil {
					return false, err
				}
				if !locked {
					continue
				}
				w.rest = changed
			default:
				return false, err
			}
		case movedOn:
			return false, nil
		}
		if err := w.wait(ctx); err != nil {
			return false, err
		}
	}
}

// batchWatch reads a batch and waits until it changes. The reads that it decides
// on also set its watches, so it misses no change. It sets the watch on the
// status again only after that has fired, because the client keeps every watch
// until it fires.
type batchWatch struct {
	q      *Queue
	bid    string
	state  BatchState      // valid until status fires
	status <-chan zk.Event // the watch on the status; nil if the status must be read
	rest   <-chan zk.Event // the watch on the node that the decision waits for; nil if there is none
}

// seen is what batchWatch found.
type seen int

const (
	waiting seen = iota // the batch is incomplete, has no jobs yet, or has unfinished jobs
	emptied
	movedOn // the batch is past processing, or removed
)

func (w *batchWatch) look(ctx context.Context) (seen, error) {
	w.rest = nil
	select {
	case <-w.status:
		w.status = nil
	default:
	}
	if w.status == nil {
		var err error
		w.state, w.status, err = w.q.watchStatus(ctx, w.bid)
		if errors.Is(err, ErrNotFound) {
			return w.lookFor(ctx, BatchPath(w.bid), "status")
		}
		if err != nil {
			return waiting, err
		}
	}
	switch w.state {
	case BatchPending, BatchHeld:
		return waiting, nil
	case BatchProcessing:
	default:
		return movedOn, nil
	}
	jobs, changed, err := w.q.watchChildren(ctx, BatchFolderPath(w.bid, FolderProcessing))
	switch {
	case errors.Is(err, ErrNotFound):
		seen, err := w.lookFor(ctx, BatchStatesPath(w.bid), string(FolderProcessing))
		if seen == movedOn && err == nil {
			return w.lookFor(ctx, BatchPath(w.bid), "states")
		}
		return seen, err
	case err != nil:
		return waiting, err
	}
	w.rest = changed
	if len(jobs) > 0 {
		return waiting, nil
	}
	return emptied, nil
}

// lookFor waits for a missing child, because the client library creates a batch
// step by step. If the parent is missing, there is nothing to wait for.
func (w *batchWatch) lookFor(ctx context.Context, parent, child string) (seen, error) {
	names, changed, err := w.q.watchChildren(ctx, parent)
	switch {
	case errors.Is(err, ErrNotFound):
		return movedOn, w.q.checkRoot(ctx)
	case err != nil:
		return waiting, err
	}
	w.rest = changed
	if slices.Contains(names, child) { // created meanwhile
		return w.look(ctx)
	}
	return waiting, nil
}

// wait returns when a watch has fired. The caller then reads again, no matter
// which event it was.
func (w *batchWatch) wait(ctx context.Context) error {
	select {
	case <-w.status:
		w.status = nil
	case <-w.rest:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// watched is what a request read, and a channel that fires when it changes.
type watched[T any] struct {
	v       T
	changed <-chan zk.Event
}

// watchStatus reads a batch's state, and watches it.
func (q *Queue) watchStatus(ctx context.Context, bid string) (BatchState, <-chan zk.Event, error) {
	path := BatchPath(bid) + "/status"
	w, err := read(ctx, path, func() (w watched[[]byte], err error) {
		w.v, _, w.changed, err = q.conn.GetW(q.path(path))
		return w, err
	})
	if err != nil {
		return "", nil, err
	}
	s, err := ParseBatchStatus(q.dialect, w.v)
	if err != nil {
		return "", nil, &NodeError{path, err}
	}
	return s.State, w.changed, nil
}

// watchChildren lists a folder, and watches the list. The error wraps [ErrNotFound]
// if the folder does not exist.
func (q *Queue) watchChildren(ctx context.Context, path string) ([]string, <-chan zk.Event, error) {
	w, err := read(ctx, path, func() (w watched[[]string], err error) {
		w.v, _, w.changed, err = q.conn.ChildrenW(q.path(path))
		return w, err
	})
	return w.v, w.changed, err
}

// watchThere reports whether a node exists, and watches it.
func (q *Queue) watchThere(ctx context.Context, path string) (bool, <-chan zk.Event, error) {
	w, err := read(ctx, path, func() (w watched[bool], err error) {
		w.v, _, w.changed, err = q.conn.ExistsW(q.path(path))
		return w, err
	})
	return w.v, w.changed, err
}

// WatchBatches moves every batch to reporting when its last job is done, also
// batches that are created later. It runs until ctx ends or the connection
// fails, so the error is never nil. If onReporting is not nil, WatchBatches calls
// it for each batch that it moved, one at a time. Any number of watchers may run:
// see [Queue.ReportWhenEmptied].
func (q *Queue) WatchBatches(ctx context.Context, onReporting func(bid string)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel(nil)
	var telling sync.Mutex
	watched := map[string]bool{}
	for {
		ids, changed, err := q.watchFolder(ctx, BatchesPath)
		if err != nil {
			return err
		}
		slices.Sort(ids)
		maps.DeleteFunc(watched, func(bid string, _ bool) bool { // its id never comes back
			_, there := slices.BinarySearch(ids, bid)
			return !there
		})
		for _, bid := range ids {
			if watched[bid] {
				continue
			}
			watched[bid] = true
			running.Go(func() {
				fired, err := q.ReportWhenEmptied(ctx, bid)
				var unreadable *NodeError
				switch {
				case fired && onReporting != nil:
					telling.Lock()
					defer telling.Unlock()
					onReporting(bid)
				case errors.As(err, &unreadable):
					q.log.WarnContext(ctx, "batch not watched", "batch", bid, "error", err)
				case err != nil:
					cancel(err)
				}
			})
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watchFolder lists a folder, and returns a channel that fires when the list
// changes or the folder is created.
func (q *Queue) watchFolder(ctx context.Context, path string) ([]string, <-chan zk.Event, error) {
	for {
		names, changed, err := q.watchChildren(ctx, path)
		if !errors.Is(err, ErrNotFound) {
			return names, changed, err
		}
		there, created, err := q.watchThere(ctx, path)
		if err == nil && !there {
			err = q.checkRoot(ctx)
		}
		if err != nil || !there {
			return nil, created, err
		}
	}
}
