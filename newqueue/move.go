package newqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
)

// attempts bounds how often a decision is made anew after another changed what
// it was based on. Every one of those changes was somebody's progress, so that
// only a broken tree gets near it.
const attempts = 50

// move is one transition under way.
type move struct {
	entity Entity
	path   string
	by     bool // a worker, with a lock
}

// retry makes attempts until one gives a result.
func (m move) retry(try func() error) error {
	for attempt := 1; ; attempt++ {
		again, err := m.refused(try(), attempt)
		if again {
			continue
		}
		if err != nil && attempt > 1 && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, ErrNotDone) {
			err = fmt.Errorf("%w: %w", ErrConflict, err) // it would have gone, had it been alone
		}
		return err
	}
}

// allowed finds the transition, or says why there is none for this caller.
func (q *Queue) allowed(m move, from, to string) (Transition, error) {
	t, ok := find(q.tables[m.entity], from, to)
	if !ok {
		if !slices.Contains(States(m.entity, q.dialect), from) {
			return t, &NodeError{m.path + "/status", fmt.Errorf("%w: its state %s is none of dialect %s", ErrValue, from, q.dialect)}
		}
		e := &StateError{Entity: m.entity, Path: m.path, From: from, To: to}
		for _, next := range leaving(q.tables[m.entity], from) {
			e.Allowed = append(e.Allowed, next.To)
		}
		return t, e
	}
	if t.Who.holdsLock() && !m.by {
		return t, ErrNotLocked
	}
	return t, nil
}

// refused says what a refusal means: again is true when the decision is to be
// made anew on a fresh look.
func (m move) refused(err error, attempt int) (again bool, result error) {
	var r *znode.MultiError
	if !errors.As(err, &r) {
		return false, err
	}
	switch {
	case r.Op.Path == m.path+"/lock" && errors.Is(err, znode.ErrNodeExists):
		return false, ErrLocked
	case r.Op.Path == m.path+"/lock" && errors.Is(err, znode.ErrNoNode):
		return false, ErrNotLocked
	case m.by && r.Op.Path == m.path+"/status":
		return false, fmt.Errorf("%w: the session lost the lock", ErrConflict)
	case attempt < attempts && isRace(err):
		return true, nil
	case errors.Is(err, znode.ErrNoNode):
		return false, &NodeError{r.Op.Path, ErrNotFound}
	case errors.Is(err, znode.ErrNodeExists):
		return false, &NodeError{r.Op.Path, ErrExists}
	}
	return false, &NodeError{r.Op.Path, r.Err}
}

// isRace reports whether a refusal can come of another's write.
func isRace(err error) bool {
	for _, e := range []error{znode.ErrNoNode, znode.ErrNodeExists, znode.ErrNotEmpty, znode.ErrBadVersion} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// statusWritten looks whether a transaction that set a status, or deleted it,
// happened. Acquisitions write a status again as it is, so that a newer
// version with the same bytes still is the one that was written.
func (q *Queue) statusWritten(path string, version int32, ops []znode.Op, gone bool) func(context.Context) (bool, error) {
	var wrote []byte
	for _, op := range ops {
		if op.Kind == znode.OpSet && op.Path == path {
			wrote = op.Data
		}
	}
	return func(ctx context.Context) (bool, error) {
		n, ok, err := q.maybe(ctx, path)
		switch {
		case err != nil:
			return false, err
		case gone:
			return !ok, nil
		case !ok:
			return false, ErrUnknownOutcome // the whole entity has gone since
		case n.version == version:
			return false, nil
		case string(n.data) == string(wrote):
			return true, nil
		case n.version == version+1:
			return false, nil // another's write was the next
		}
		return false, ErrUnknownOutcome
	}
}
