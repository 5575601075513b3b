package newqueue

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Conn is what a queue needs of a ZooKeeper session; a *[zk.Conn] has it.
type Conn interface {
	Get(path string) ([]byte, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Multi(ops ...any) ([]zk.MultiResponse, error)
	Sync(path string) (string, error)
	SessionID() int64
}

var _ Conn = (*zk.Conn)(nil)

// Queue is the queue as one session sees it. It keeps nothing but the session:
// all state is in ZooKeeper, and any number of queues may be open on one tree.
// It is safe for concurrent use, as the connection is; open one queue a
// session, for queues know of each other's locks only through their sessions.
//
// Every operation takes a context. When it ends during a write, the write goes
// on without the caller, and the error is [ErrUnknownOutcome]; a lock that such
// a write takes is given back.
type Queue struct {
	conn    Conn
	dialect Dialect
	root    string // chroot: "" or "/a/b"
	now     func() time.Time
	log     *slog.Logger
	tables  map[Entity][]Transition
	acl     []zk.ACL
	// reserved holds the paths of which a goroutine is taking the lock just now.
	reserved sync.Map
}

// Option changes how a queue is opened.
type Option func(*Queue)

// WithRoot puts the queue below an existing znode, as a connect string's
// chroot does for other clients. Paths in errors stay those inside it.
func WithRoot(path string) Option {
	return func(q *Queue) { q.root = strings.TrimSuffix(path, "/") }
}

// WithClock gives the time that is written into statuses; the default is
// [time.Now].
func WithClock(now func() time.Time) Option { return func(q *Queue) { q.now = now } }

// WithLogger tells of what was skipped, such as a queue entry that can't be
// read; the default is silence.
func WithLogger(l *slog.Logger) Option { return func(q *Queue) { q.log = l } }

// WithACL gives the access control list of every znode that is made; the
// default is open to all, as the client library makes them.
func WithACL(acl []zk.ACL) Option { return func(q *Queue) { q.acl = acl } }

// WithTransitions replaces an entity's table. It is for tests that prove that
// a wrong table is found out.
func WithTransitions(e Entity, table []Transition) Option {
	return func(q *Queue) { q.tables[e] = table }
}

// Open returns the queue that lives behind a session. It writes nothing: see
// [Queue.Init]. The session stays the caller's to close.
func Open(conn Conn, d Dialect, opts ...Option) *Queue {
	q := &Queue{
		conn: conn, dialect: d, now: time.Now, log: slog.New(slog.DiscardHandler),
		tables: map[Entity][]Transition{}, acl: zk.WorldACL(zk.PermAll),
	}
	for e, table := range tables[d] {
		q.tables[e] = table
	}
	for _, o := range opts {
		o(q)
	}
	return q
}

// Dialect is the spelling that the queue reads and writes.
func (q *Queue) Dialect() Dialect { return q.dialect }

// Init makes the folders that are there before any batch or job
// ([Dialect.StartNodes]) where they are missing. Only the client library needs
// them beforehand; this one makes folders when it needs them.
func (q *Queue) Init(ctx context.Context) error {
	for _, path := range q.dialect.StartNodes() {
		_, ok, err := q.stat(ctx, path)
		if err == nil && !ok {
			err = q.commit(ctx, write{ops: []znode.Op{znode.Create(path, empty)}, done: func(ctx context.Context) (bool, error) {
				_, ok, err := q.stat(ctx, path)
				return ok, err
			}})
		}
		var refused *znode.MultiError
		if errors.As(err, &refused) && errors.Is(err, znode.ErrNodeExists) {
			continue // another was quicker
		}
		if err != nil {
			return &opError{"make", path, err}
		}
	}
	return nil
}

// empty is the data of entries, folders and locks: empty and not null, which
// some of the client library's tools can't read.
var empty = []byte{}

// path is where a znode of the queue is for the session.
func (q *Queue) path(p string) string { return q.root + p }

// readAttempts bounds how often a read is repeated after its connection was
// lost: with the pause below, long enough for a client to find another server.
const (
	readAttempts = 20
	readPause    = 100 * time.Millisecond
)

// call runs one request of the client, which knows no context. When ctx ends
// first, the request goes on unheeded, and late, if not nil, is told of its
// answer.
func call[T any](ctx context.Context, f func() (T, error), late func(T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		if late != nil {
			go func() {
				a := <-done
				late(a.v, a.err)
			}()
		}
		var none T
		return none, context.Cause(ctx)
	}
}

// read runs a request that may be repeated.
func read[T any](ctx context.Context, path string, f func() (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		v, err := call(ctx, f, nil)
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, zk.ErrNoNode):
			return v, &NodeError{path, ErrNotFound}
		case ctx.Err() != nil, attempt == readAttempts, !unanswered(err), errors.Is(err, zk.ErrClosing):
			return v, &opError{"read", path, err}
		}
		select {
		case <-time.After(readPause):
		case <-ctx.Done():
		}
	}
}

// unanswered reports whether err leaves open if the server carried the request
// out: it is anything but a server's answer, for the client also passes on
// what went wrong with the connection as the system says it.
func unanswered(err error) bool {
	for _, e := range answers {
		if errors.Is(err, e) {
			return false
		}
	}
	return true
}

// answers are a server's refusals, and the client's own of requests that can't
// be sent.
var answers = []error{
	zk.ErrAPIError, zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals,
	zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrNothing,
	zk.ErrBadArguments, zk.ErrInvalidPath, zk.ErrShortBuffer,
}

// node is a znode as it was read.
type node struct {
	data    []byte
	version int32
}

// get reads a znode; the error wraps [ErrNotFound] when it is not there.
func (q *Queue) get(ctx context.Context, path string) (node, error) {
	return read(ctx, path, func() (node, error) {
		data, stat, err := q.conn.Get(q.path(path))
		if err != nil {
			return node{}, err
		}
		return node{data, stat.Version}, nil
	})
}

// maybe reads a znode that may be missing.
func (q *Queue) maybe(ctx context.Context, path string) (n node, ok bool, err error) {
	n, err = q.get(ctx, path)
	if errors.Is(err, ErrNotFound) {
		return node{}, false, nil
	}
	return n, err == nil, err
}

// stat reads a znode's Stat; ok is false when it is not there.
func (q *Queue) stat(ctx context.Context, path string) (*zk.Stat, bool, error) {
	type found struct {
		stat *zk.Stat
		ok   bool
	}
	f, err := read(ctx, path, func() (found, error) {
		ok, stat, err := q.conn.Exists(q.path(path))
		return found{stat, ok}, err
	})
	return f.stat, f.ok, err
}

// children lists a folder; a folder that isn't there is empty.
func (q *Queue) children(ctx context.Context, path string) ([]string, error) {
	list, err := read(ctx, path, func() ([]string, error) {
		list, _, err := q.conn.Children(q.path(path))
		return list, err
	})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// subtree lists every node at or below path, each after its parent; nil when
// path isn't there.
func (q *Queue) subtree(ctx context.Context, path string) ([]string, error) {
	_, ok, err := q.stat(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	all := []string{path}
	for i := 0; i < len(all); i++ {
		names, err := q.children(ctx, all[i])
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, znode.Join(all[i], name))
		}
	}
	return all, nil
}
