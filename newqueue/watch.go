package newqueue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"
)

// ReportIfEmptied moves a processing batch to reporting (B5) if none of its
// jobs is still to be done. Errors: [ErrStillProcessing] when one is,
// *[StateError] when the batch isn't processing (another watcher was quicker),
// [ErrLocked].
func (q *Queue) ReportIfEmptied(ctx context.Context, bid string) error {
	_, _, err := q.moveBatch(ctx, bid, batchMove{target: func(s batchSnap) (BatchState, error) {
		if s.status.State != BatchProcessing {
			return "", q.refuse(EntityBatch, BatchPath(bid), string(s.status.State), reporting)
		}
		return BatchReporting, nil
	}})
	if err != nil {
		return &opError{"report", BatchPath(bid), err}
	}
	return nil
}

// ReportWhenEmptied waits until the last job of a batch leaves
// batch-processing and then moves the batch to reporting (B5). fired is true
// in exactly one of all callers that wait for the same batch, however many
// jobs finish at the same moment (S10); the others return false once the batch
// has moved on, or is gone. It waits by watches and polls nothing; a batch that
// was emptied before the call, or while the connection was lost, is seen.
func (q *Queue) ReportWhenEmptied(ctx context.Context, bid string) (fired bool, err error) {
	for {
		changed, state, err := q.watchBatch(ctx, bid)
		switch {
		case errors.Is(err, ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		}
		switch state {
		case emptied:
			err := q.ReportIfEmptied(ctx, bid)
			var moved *StateError
			switch {
			case err == nil:
				return true, nil
			case errors.As(err, &moved), errors.Is(err, ErrNotFound):
				return false, nil
			case errors.Is(err, ErrStillProcessing), errors.Is(err, ErrConflict), errors.Is(err, ErrNotDone):
				continue
			case errors.Is(err, ErrLocked):
				changed, err = q.watchGone(ctx, BatchPath(bid)+"/lock")
				if err != nil {
					return false, err
				}
			default:
				return false, err
			}
		case movedOn:
			return false, nil
		}
		select {
		case <-changed: // whatever it says: look again
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// emptiness is what a look at a batch says.
type emptiness int

const (
	waiting emptiness = iota // it has no jobs yet, or jobs to be done
	emptied
	movedOn // it is past processing
)

// watchBatch looks at a batch, and returns what tells that it looks different
// now. The watch is set by the same read, so that nothing falls between.
func (q *Queue) watchBatch(ctx context.Context, bid string) (<-chan zk.Event, emptiness, error) {
	path := BatchPath(bid) + "/status"
	type found struct {
		data    []byte
		names   []string
		changed <-chan zk.Event
	}
	f, err := read(ctx, path, func() (f found, err error) {
		f.data, _, f.changed, err = q.conn.GetW(q.path(path))
		return f, err
	})
	if err != nil {
		return nil, waiting, err
	}
	s, err := ParseBatchStatus(q.dialect, f.data)
	if err != nil {
		return nil, waiting, &NodeError{path, err}
	}
	switch s.State {
	case BatchPending, BatchHeld:
		return f.changed, waiting, nil
	case BatchProcessing:
	default:
		return nil, movedOn, nil
	}
	folder := BatchFolderPath(bid, FolderProcessing)
	f, err = read(ctx, folder, func() (f found, err error) {
		f.names, _, f.changed, err = q.conn.ChildrenW(q.path(folder))
		return f, err
	})
	if err != nil {
		return nil, waiting, err
	}
	if len(f.names) > 0 {
		return f.changed, waiting, nil
	}
	return f.changed, emptied, nil
}

// watchGone returns what tells that a node has gone; it has fired if it wasn't
// there.
func (q *Queue) watchGone(ctx context.Context, path string) (<-chan zk.Event, error) {
	type found struct {
		ok      bool
		changed <-chan zk.Event
	}
	f, err := read(ctx, path, func() (f found, err error) {
		f.ok, _, f.changed, err = q.conn.ExistsW(q.path(path))
		return f, err
	})
	if err != nil || f.ok {
		return f.changed, err
	}
	fired := make(chan zk.Event)
	close(fired)
	return fired, nil
}

// WatchBatches moves every batch to reporting when it is emptied, those that
// are there and those to come, until ctx ends or the connection fails; the
// error is never nil. onReporting, if not nil, is told of each batch that this
// watcher moved, one at a time. Any number of watchers may run: see
// [Queue.ReportWhenEmptied].
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
		maps.DeleteFunc(watched, func(bid string, _ bool) bool { // gone for good
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

// watchFolder lists a folder and returns what tells that the list has changed,
// or that the folder has come into being.
func (q *Queue) watchFolder(ctx context.Context, path string) ([]string, <-chan zk.Event, error) {
	type found struct {
		names   []string
		ok      bool
		changed <-chan zk.Event
	}
	for {
		f, err := read(ctx, path, func() (f found, err error) {
			f.names, _, f.changed, err = q.conn.ChildrenW(q.path(path))
			return f, err
		})
		if !errors.Is(err, ErrNotFound) {
			return f.names, f.changed, err
		}
		f, err = read(ctx, path, func() (f found, err error) {
			f.ok, _, f.changed, err = q.conn.ExistsW(q.path(path))
			return f, err
		})
		if err != nil || !f.ok {
			return nil, f.changed, err
		}
	}
}
