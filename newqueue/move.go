package newqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// attempts is how often a decision is made because another client changed what it
// depends on. Each time, that client has succeeded, so only a broken tree reaches
// this limit.
const attempts = 50

// snap holds what was read about an item before a decision. A *jobSnap, *batchSnap
// and *accessSnap has more.
type snap struct {
	*item   // of a worker: what it acquired
	entity  Entity
	worker  bool     // whether a worker makes the transition, who holds the lock
	from    string   // the state that was read
	subtree []string // path and all below it but the lock, for a deletion
}

// subject is what a transition changes.
type subject interface {
	base() *snap
	// read reads the item, and returns its state. A worker's decision depends on
	// the status that it acquired, every other caller's on the current one.
	read(ctx context.Context) (state string, err error)
	// prepare reads what else the decision on this transition needs.
	prepare(ctx context.Context, t states.Transition) error
	// decide turns the transition into the operations of one transaction. It does
	// no I/O.
	decide(t states.Transition) ([]znode.Op, error)
}

func (s *snap) base() *snap { return s }

// want is the transition that a caller wants.
type want struct {
	from, to string       // an empty from allows every state
	who      states.Actor // whose transition it must be; Automatic finds it without to
	choose   func() (to string, err error)
}

// move makes a transition of an item. what names the operation in an error.
func (q *Queue) move(ctx context.Context, what string, s subject, w want) error {
	if err := s.base().retry(func() error { return q.tryMove(ctx, s, w) }); err != nil {
		return &opError{what, s.base().path, err}
	}
	return nil
}

func (q *Queue) tryMove(ctx context.Context, sub subject, w want) error {
	s := sub.base()
	s.subtree = nil // an earlier attempt may have found another transition
	state, err := sub.read(ctx)
	if err != nil {
		return err
	}
	s.from = state
	t, err := q.allowed(s, w)
	if err != nil {
		return err
	}
	if s.worker {
		if err := q.owns(ctx, s.lock); err != nil {
			return err
		}
	}
	if t.Nodes == states.NodesGo {
		nodes, err := q.subtree(ctx, s.path)
		if err != nil {
			return err
		}
		s.subtree = slices.DeleteFunc(nodes, func(p string) bool { return p == s.path+"/lock" })
	}
	if err := sub.prepare(ctx, t); err != nil {
		return err
	}
	ops, err := sub.decide(t)
	if err != nil {
		return err
	}
	done := q.removed(ops[len(ops)-1].Path)
	if t.Nodes == states.NodesStay {
		done = q.written(s.path+"/status", s.version, ops)
	}
	if s.worker {
		done = q.lockReleased(s.lock, done)
	}
	if err := q.commit(ctx, write{ops: ops, done: done}); err != nil {
		return err
	}
	if s.worker {
		s.lock = lock{}
		s.version++
	}
	return nil
}

// retry tries until an attempt gives a result.
func (s *snap) retry(try func() error) error {
	for attempt := 1; ; attempt++ {
		again, err := s.refused(try(), attempt)
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
func (q *Queue) allowed(s *snap, w want) (t states.Transition, err error) {
	table, state := q.machines[s.entity], s.from
	if w.from != "" && state != w.from {
		return t, q.illegal(s, w.to, true)
	}
	if w.choose != nil {
		if w.to, err = w.choose(); err != nil {
			return t, err
		}
	}
	t, ok := table.Find(state, w.to)
	if w.who == states.Automatic {
		t, ok = table.Automatic(state)
	}
	switch {
	case !ok:
		return t, q.illegal(s, w.to, false)
	case w.who != "" && w.who != t.Who:
		return t, q.illegal(s, w.to, true)
	case t.Who.HoldsLock() && !s.worker:
		return t, ErrNotLocked
	}
	return t, nil
}

// illegal is the error for a transition that the table does not have, or not for
// this caller: then it lists only the other states.
func (q *Queue) illegal(s *snap, to string, others bool) error {
	from := s.from
	if !slices.Contains(states.States(s.entity, string(q.dialect)), from) {
		return &NodeError{s.path + "/status", fmt.Errorf("%w: dialect %s has no state %s", ErrValue, q.dialect, from)}
	}
	e := &StateError{Entity: s.entity, Path: s.path, From: from, To: to}
	for _, t := range q.machines[s.entity].From(from) {
		if !others || t.To != to {
			e.Allowed = append(e.Allowed, t.To)
		}
	}
	return e
}

// refused turns the server's refusal into an error of this package. again is true
// if the caller must read and decide again.
func (s *snap) refused(err error, attempt int) (again bool, result error) {
	var r *znode.MultiError
	if !errors.As(err, &r) {
		return false, err
	}
	switch {
	case r.Op.Path == s.path+"/lock" && errors.Is(err, zk.ErrNodeExists):
		return false, ErrLocked
	case s.worker && r.Op.Path == s.path+"/lock" && errors.Is(err, zk.ErrNoNode):
		return false, ErrNotLocked
	case s.worker && r.Op.Path == s.path+"/status":
		return false, fmt.Errorf("%w: the session lost the lock", ErrConflict)
	case attempt < attempts && isRace(err):
		return true, nil
	case errors.Is(err, zk.ErrNoNode):
		return false, &NodeError{r.Op.Path, ErrNotFound}
	case errors.Is(err, zk.ErrNodeExists):
		return false, &NodeError{r.Op.Path, ErrExists}
	}
	return false, &NodeError{r.Op.Path, r.Err}
}

// isRace reports whether another client's write can be the cause of a refusal.
func isRace(err error) bool {
	var r *znode.MultiError
	return errors.As(err, &r) && slices.ContainsFunc([]error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion},
		func(race error) bool { return errors.Is(err, race) })
}

// ops are the operations of every transition: the lock, and the next status unless
// the item is removed. They release a worker's lock. For every other caller they
// prove that no worker holds it: creating a lock that exists fails, and so does
// the whole transaction.
func (s *snap) ops(t states.Transition, status Object) ([]znode.Op, error) {
	ops := lockOps(t.Who, s.path)
	if t.Nodes != states.NodesStay {
		return append(ops, znode.Check(s.path+"/status", s.version)), nil
	}
	data, err := status.Marshal()
	return append(ops, znode.Set(s.path+"/status", data, s.version)), err
}

func lockOps(who states.Actor, entity string) []znode.Op {
	lock := entity + "/lock"
	if who.HoldsLock() {
		return []znode.Op{znode.Delete(lock, -1)}
	}
	return []znode.Op{znode.Create(lock, empty), znode.Delete(lock, -1)}
}

// deleteAll deletes a subtree, children first. paths lists parents first.
func deleteAll(paths []string) []znode.Op {
	ops := make([]znode.Op, 0, len(paths))
	for _, p := range slices.Backward(paths) {
		ops = append(ops, znode.Delete(p, -1))
	}
	return ops
}

// outcome finds out whether a write happened, after its answer was lost. It may
// return [ErrUnknownOutcome].
type outcome func(context.Context) (bool, error)

// removed finds out whether a write happened that removed a node.
func (q *Queue) removed(path string) outcome {
	return func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, path)
		return !ok, err
	}
}

// written finds out whether a transaction happened that set a node.
// An acquisition writes the status again, unchanged. So a status with a newer
// version and the same bytes is still the one that was written: no two statuses
// have the same time to the nanosecond. In dialect mrt-zk two can, because its
// times have only seconds.
func (q *Queue) written(path string, version int32, ops []znode.Op) outcome {
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
