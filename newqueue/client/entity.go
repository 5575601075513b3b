package client

import (
	"context"
	"errors"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// entity is what a job, a batch and a request have in common: a znode with a status,
// and the worker's lock on it.
type entity struct {
	q       *Queue
	kind    newqueue.Entity
	path    string
	version int32 // of the status
	lock    lock  // zero when not acquired
}

// member is a *[Job], *[Batch] or *[Request].
type member interface {
	base() *entity
	// state is the one that was read last.
	state() string
	// properties are the znodes below it. The first is the status.
	properties() []property
	// decide reads what a transition depends on, and returns what it writes.
	decide(ctx context.Context, t states.Transition, a act) (plan, error)
}

func (e *entity) base() *entity { return e }

// property is a znode below an entity, and how its data becomes a field.
type property struct {
	name     string
	parse    func(data []byte) error
	optional bool // an entity may lack it
	object   bool // a JSON object: see [newqueue.Dialect.NoObject]
}

// into parses data into a field.
func into[T any](field *T, parse func([]byte) (T, error)) func([]byte) error {
	return func(data []byte) (err error) {
		*field, err = parse(data)
		return err
	}
}

// intoIn parses data of a dialect into a field.
func intoIn[T any](d newqueue.Dialect, field *T, parse func(newqueue.Dialect, []byte) (T, error)) func([]byte) error {
	return into(field, func(data []byte) (T, error) { return parse(d, data) })
}

// nodes reads znodes below the entity at the same time. It leaves out those that do
// not exist.
func (e *entity) nodes(ctx context.Context, names ...string) (map[string]*node, error) {
	nodes := make([]*node, len(names))
	err := each(ctx, len(names), func(ctx context.Context, i int) error {
		n, ok, err := e.q.maybe(ctx, e.path+"/"+names[i])
		if ok {
			nodes[i] = &n
		}
		return err
	})
	found := map[string]*node{}
	for i, name := range names {
		found[name] = nodes[i]
	}
	return found, err
}

// load reads properties at the same time. The error is a *[NodeError]. It wraps
// [ErrNotFound] if one is missing.
func (e *entity) load(ctx context.Context, properties []property) error {
	var names []string
	for _, p := range properties {
		names = append(names, p.name)
	}
	nodes, err := e.nodes(ctx, names...)
	if err != nil {
		return err
	}
	for _, p := range properties {
		switch n := nodes[p.name]; {
		case n != nil:
			if err := e.parse(p, *n); err != nil {
				return err
			}
		case !p.optional:
			return &NodeError{e.path + "/" + p.name, ErrNotFound}
		}
	}
	return nil
}

func (e *entity) parse(p property, n node) error {
	if p.name == "status" {
		e.version = n.version
	}
	if p.object && e.q.dialect.NoObject(n.data) {
		return nil
	}
	if err := p.parse(n.data); err != nil {
		return &NodeError{e.path + "/" + p.name, err}
	}
	return nil
}

// one reads a member.
func one[T member](ctx context.Context, m T) (T, error) {
	e := m.base()
	if err := e.load(ctx, m.properties()); err != nil {
		var none T
		return none, e.q.orNoRoot(ctx, err)
	}
	return m, nil
}

// statusOf is only the status of a member.
func statusOf(m member) []property { return m.properties()[:1] }

// all reads the members of a list at the same time, but not those that are removed
// meanwhile. The error joins those of all members that can't be read.
func all[T member](ctx context.Context, entries []entry, at func(id string) T) ([]T, error) {
	list := make([]T, len(entries))
	errs := make([]error, len(entries))
	there := make([]bool, len(entries))
	_ = each(ctx, len(entries), func(ctx context.Context, i int) error {
		if errs[i] = entries[i].err; errs[i] != nil {
			return nil
		}
		m := at(entries[i].id)
		err := m.base().load(ctx, m.properties())
		if errors.Is(err, ErrNotFound) && !m.base().q.there(ctx, m.base().path) {
			return nil // removed meanwhile
		}
		list[i], errs[i], there[i] = m, err, err == nil
		return nil
	})
	read := list[:0]
	for i, m := range list {
		if there[i] {
			read = append(read, m)
		}
	}
	return read, errors.Join(errs...)
}

func (q *Queue) there(ctx context.Context, path string) bool {
	_, ok, err := q.stat(ctx, path)
	return ok || err != nil
}

// entry is one member of a list.
type entry struct {
	id  string
	err error // why it can't be read
}

// list lists a folder. A missing folder is empty.
func (q *Queue) list(ctx context.Context, folder string) ([]entry, error) {
	names, err := q.children(ctx, folder)
	entries := make([]entry, len(names))
	for i, name := range names {
		entries[i].id = name
	}
	return entries, err
}

// lock is an ephemeral lock that this session acquired.
type lock struct {
	path    string
	session int64
	made    int64 // the zxid that created it; every later lock has another
}

// Path returns the znode of the batch, job or request.
func (e *entity) Path() string { return e.path }

// Locked reports whether it was acquired, and neither unlocked nor moved since.
// It does not notice that the session has ended: the next operation does.
func (e *entity) Locked() bool { return e.lock != lock{} }

// Unlock releases the lock and changes nothing else, so that another worker can
// acquire the same. The error wraps [ErrNotLocked] if the lock was already lost.
// After any other error the caller still holds the lock, and may try again.
func (e *entity) Unlock(ctx context.Context) error {
	err := e.q.unlock(ctx, e.lock, e.path, e.version)
	if err == nil || errors.Is(err, ErrNotLocked) {
		e.lock = lock{}
	}
	return err
}

// drop releases the lock, because the caller does not get the entity. The caller's
// context may have ended, and without drop the lock would stay as long as the
// session.
func (e *entity) drop(ctx context.Context) {
	e.q.dropLock(ctx, e.lock, e.path, e.version)
	e.lock = lock{}
}

// holds reports whether this session still holds a lock.
func (q *Queue) holds(ctx context.Context, l lock) (bool, error) {
	if l.session == 0 || q.conn.SessionID() != l.session {
		return false, nil // it ended with the session, or will
	}
	stat, ok, err := q.stat(ctx, l.path)
	return ok && stat.EphemeralOwner == l.session, err
}

// owns returns [ErrNotLocked] unless this session holds the lock.
func (q *Queue) owns(ctx context.Context, l lock) error {
	ok, err := q.holds(ctx, l)
	if err == nil && !ok {
		err = ErrNotLocked
	}
	return err
}

// unlock releases a lock without a transition. As in acquire, the version
// proves that no other worker holds the lock.
func (q *Queue) unlock(ctx context.Context, l lock, path string, version int32) error {
	err := q.owns(ctx, l)
	if err == nil {
		err = q.commit(ctx, write{
			ops: []znode.Op{znode.Check(path+"/status", version), znode.Delete(l.path, -1)},
			happened: func(ctx context.Context) (bool, error) {
				ok, err := q.holds(ctx, l)
				return !ok, err
			},
		})
	}
	if isRace(err) {
		err = ErrNotLocked
	}
	if err != nil {
		return &opError{"unlock", path, err}
	}
	return nil
}

// dropLock releases a lock that no caller keeps.
func (q *Queue) dropLock(ctx context.Context, l lock, path string, version int32) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	_ = q.unlock(ctx, l, path, version) // otherwise it stays until the session ends
}

// dropTime is how long it may take to release a lock that no caller keeps.
const dropTime = 2 * time.Second

// lockReleased is evidence of a transition that releases a lock. As long
// as the session lives, nothing else removes its lock. So the transition happened
// if the lock is removed, no matter what other clients have done since. If the session has
// ended, only the status may show it.
func (q *Queue) lockReleased(l lock, status evidence) evidence {
	return func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, l.path)
		switch {
		case err != nil:
			return false, err
		case ok && stat.Czxid == l.made:
			return false, nil
		case q.conn.SessionID() == l.session:
			return true, nil
		}
		return status(ctx)
	}
}
