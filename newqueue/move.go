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
		if err != nil && attempt > 1 && attempt < attempts && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, ErrNotDone) {
			err = fmt.Errorf("%w: %w", ErrConflict, err) // it would have gone, had it been alone
		}
		return err
	}
}

// allowed finds the transition, or says why there is none for this caller.
func (q *Queue) allowed(m move, from, to string) (Transition, error) {
	t, ok := find(q.tables[m.entity], from, to)
	if !ok {
		if err := q.knownState(m.entity, m.path, from); err != nil {
			return t, err
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

// knownState refuses a state that the dialect doesn't have.
func (q *Queue) knownState(e Entity, path, s string) error {
	if slices.Contains(States(e, q.dialect), s) {
		return nil
	}
	return &NodeError{path + "/status", fmt.Errorf("%w: its state %s is none of dialect %s", ErrValue, s, q.dialect)}
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
	case m.by && r.Op.Path == m.path+"/lock" && errors.Is(err, znode.ErrNoNode):
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

// written looks whether a transaction that set a node, or deleted it, happened.
// Acquisitions write a status again as it is, so that a newer version with the
// same bytes is still the one that was written: no two clocks agree to the
// nanosecond. To the second, which is all that dialect mrt-zk has, they do.
func (q *Queue) written(path string, version int32, ops []znode.Op, gone bool) func(context.Context) (bool, error) {
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
		}
		same := string(n.data) == string(wrote)
		switch {
		case n.version == version+1:
			return same, nil // or another's write was the next
		case same && q.dialect != MrtZK:
			return true, nil
		}
		return false, ErrUnknownOutcome
	}
}
