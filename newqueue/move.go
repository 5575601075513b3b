package newqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// attempts is how often a decision is made because another client changed what it
// depends on. Each time, that client has succeeded, so only a broken tree reaches
// this limit.
const attempts = 50

// move is one transition under way.
type move struct {
	entity Entity
	path   string
	by     bool // whether a worker makes it, who holds the lock
}

// retry tries until an attempt gives a result.
func (m move) retry(try func() error) error {
	for attempt := 1; ; attempt++ {
		again, err := m.refused(try(), attempt)
		if again {
			continue
		}
		if err != nil && attempt > 1 && attempt < attempts && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, ErrNotDone) {
			err = fmt.Errorf("%w: %w", ErrConflict, err) // without the other client it would have succeeded
		}
		return err
	}
}

// allowed finds the transition, or says why this caller has none.
func (q *Queue) allowed(m move, from, to string) (states.Transition, error) {
	t, ok := q.machines[m.entity].Find(from, to)
	if !ok {
		if err := q.knownState(m.entity, m.path, from); err != nil {
			return t, err
		}
		e := &StateError{Entity: m.entity, Path: m.path, From: from, To: to}
		for _, next := range q.machines[m.entity].From(from) {
			e.Allowed = append(e.Allowed, next.To)
		}
		return t, e
	}
	if t.Who.HoldsLock() && !m.by {
		return t, ErrNotLocked
	}
	return t, nil
}

// knownState refuses a state that the dialect doesn't have.
func (q *Queue) knownState(e Entity, path, s string) error {
	if slices.Contains(states.States(e, string(q.dialect)), s) {
		return nil
	}
	return &NodeError{path + "/status", fmt.Errorf("%w: dialect %[3]s has no state %[2]s", ErrValue, s, q.dialect)}
}

// refused turns the server's refusal into an error of this package. again is true
// if the caller must read and decide again.
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

// isRace reports whether another client's write can be the cause of a refusal.
func isRace(err error) bool {
	for _, e := range []error{znode.ErrNoNode, znode.ErrNodeExists, znode.ErrNotEmpty, znode.ErrBadVersion} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// written finds out whether a transaction happened that set or deleted a node.
// An acquisition writes the status again, unchanged. So a status with a newer
// version and the same bytes is still the one that was written: no two statuses
// have the same time to the nanosecond. In dialect mrt-zk two can, because its
// times have only seconds.
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
			return false, ErrUnknownOutcome // the whole entity was removed since
		case n.version == version:
			return false, nil
		}
		same := string(n.data) == string(wrote)
		switch {
		case n.version == version+1:
			return same, nil // if not the same, another client wrote it
		case same && q.dialect != MrtZK:
			return true, nil
		}
		return false, ErrUnknownOutcome
	}
}

// cleaning is a cleaning pass: the ids that it cleaned up, and the errors that did not
// stop it.
type cleaning struct {
	q    *Queue
	ids  []string
	errs []error
}

// add notes what became of an entity. It leaves one for the next pass that a worker
// holds, that something still needs, that has moved meanwhile, or that is gone.
func (c *cleaning) add(ctx context.Context, id, path string, err error) {
	var moved *StateError
	switch {
	case err == nil:
		c.ids = append(c.ids, id)
	case errors.Is(err, errSkip), errors.Is(err, ErrLocked), errors.Is(err, ErrNotReported), errors.Is(err, ErrStillProcessing), errors.As(err, &moved):
	case errors.Is(err, ErrNotFound) && !c.q.there(ctx, path):
	default:
		c.errs = append(c.errs, err)
	}
}

func (c *cleaning) result() ([]string, error) { return c.ids, errors.Join(c.errs...) }
