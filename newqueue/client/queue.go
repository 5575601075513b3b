package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Conn has the methods of a ZooKeeper session that a queue needs. A *[zk.Conn]
// has them. Several reads are sent at the same time.
type Conn interface {
	Get(path string) ([]byte, *zk.Stat, error)
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Multi(ops ...any) ([]zk.MultiResponse, error)
	Sync(path string) (string, error)
	SessionID() int64
}

var _ Conn = (*zk.Conn)(nil)

// Queue is the queue as one session sees it. All state is in ZooKeeper, so any
// number of queues may be open on one tree. A Queue is safe for concurrent use.
// Open only one for each session, because queues tell their locks apart by
// their sessions.
//
// The methods, by who calls them:
//
//	WHO            BATCHES            JOBS         ACCESS REQUESTS
//	submitter      CreateBatch                     CreateRequest
//	worker         NextBatch          NextJob      NextRequest
//	               AcquireBatch       AcquireJob   AcquireRequest
//	                                  AcquireJobs
//	                                  CreateJob
//	administrator  MoveBatch          MoveJob      MoveRequest
//	               FailBatch          ResumeJob
//	               DeleteBatch        DeleteJob    DeleteRequest
//	                                  SetPriority
//	cleaning pass  CleanupBatches     CleanupJobs  CleanupRequests
//	               RepairBatches
//	watcher        ReportWhenEmptied
//	reader         Batch              Job
//
// A worker continues with the methods of the [Item] that it acquired, and with those that only
// a [Batch] or a [Job] has. The transition that it makes there also releases its lock. While an
// administrator holds a queue, a worker acquires nothing of it ([ErrHeld]), and
// everything else goes on. All other callers need no lock, and get [ErrLocked] while a worker holds it; only
// SetPriority works then, too. Anyone may call Lock, Unlock and IsLocked, for the
// locks and holds under /locks, and Init and Dialect.
//
// Every operation takes a context. It ends what waits: for work, or for a connection. A
// request that was sent is finished. After a lost connection, each request is tried twenty times, a tenth of a second apart, and
// each try waits for an answer from a server.
type Queue struct {
	conn     Conn
	dialect  newqueue.Dialect
	root     string // chroot: "" or "/a/b"
	now      func() time.Time
	machines map[states.Entity]states.Table // the dialect's tables
	acl      []zk.ACL
	// ignoreHolds: see [IgnoreHolds].
	ignoreHolds bool
	// reserved has the paths of the locks that a goroutine is just acquiring or releasing.
	reserved sync.Map
	recheck  time.Duration // see await
}

// Option changes how a queue is opened.
type Option func(*Queue)

// WithRoot opens a queue below a znode, like the chroot of a connect string. Paths
// in errors are relative to it. Only [Queue.Init] creates the znode, so that a
// mistyped path does not become a second, empty queue. Operations that look for
// work, list, wait or create fail with an error that names it while it does not exist.
func WithRoot(path string) Option {
	return func(q *Queue) {
		if q.root = strings.Trim(path, "/"); q.root != "" {
			q.root = "/" + q.root
		}
	}
}

// WithClock sets the clock for the times in statuses. The default is
// [time.Now].
func WithClock(now func() time.Time) Option { return func(q *Queue) { q.now = now } }

// WithACL sets the access control list of every znode that the queue creates. By
// default anyone may do anything, as in the client library.
func WithACL(acl []zk.ACL) Option { return func(q *Queue) { q.acl = acl } }

// WithTable replaces the transitions of an entity, for tests that must notice a
// queue which does not obey the published design. A queue with another table than its
// dialect's ([states.Transitions]) breaks the layout for all others.
func WithTable(e states.Entity, t states.Table) Option {
	return func(q *Queue) { q.machines[e] = t }
}

// IgnoreHolds lets a queue acquire jobs, batches and requests although an
// administrator holds their queue. It is for administrators' tools, and for a
// service like the deployed inventory service, which ignores holds.
func IgnoreHolds() Option { return func(q *Queue) { q.ignoreHolds = true } }

// Open returns the queue of a session. It writes nothing: see [Queue.Init]. The
// caller closes the session. Open panics if d is none of [newqueue.Dialects], because that is
// a mistake in the program. [newqueue.ParseDialect] checks a name that comes from outside.
func Open(conn Conn, d newqueue.Dialect, opts ...Option) *Queue {
	if _, err := newqueue.ParseDialect(string(d)); err != nil {
		panic("client.Open: " + err.Error())
	}
	q := &Queue{
		conn: conn, dialect: d, now: time.Now,
		machines: map[states.Entity]states.Table{}, acl: zk.WorldACL(zk.PermAll),
		recheck: recheck,
	}
	for _, e := range states.Entities {
		q.machines[e] = states.Transitions(e, string(d))
	}
	for _, o := range opts {
		o(q)
	}
	return q
}

func (q *Queue) clock() time.Time { return q.now().Round(0) }

// Dialect returns the dialect that the queue reads and writes.
func (q *Queue) Dialect() newqueue.Dialect { return q.dialect }

// Init creates the [newqueue.Dialect.StartNodes] that are missing, and the znode given to
// [WithRoot] with its parents. This package needs only the latter, because it
// creates folders when it needs them. The client library does not.
func (q *Queue) Init(ctx context.Context) error {
	outside, root := Open(q.conn, q.dialect, WithACL(q.acl)), q.root+"/"
	for i, c := range root {
		if i > 0 && c == '/' {
			if err := outside.create(ctx, root[:i]); err != nil {
				return err
			}
		}
	}
	for _, path := range q.dialect.StartNodes() {
		if err := q.create(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) create(ctx context.Context, path string) error {
	_, ok, err := q.stat(ctx, path)
	if err == nil && !ok {
		err = q.commit(ctx, write{ops: []znode.Op{znode.Create(path, empty)}, happened: q.there(path)})
	}
	if err != nil && !errors.Is(err, zk.ErrNodeExists) { // another client created it first
		return &opError{"create", path, err}
	}
	return nil
}

// checkRoot returns an error that wraps [ErrNotFound] if the queue's root does not
// exist.
func (q *Queue) checkRoot(ctx context.Context) error {
	if q.root == "" {
		return nil
	}
	_, ok, err := q.stat(ctx, "")
	if err == nil && !ok {
		err = q.noRoot()
	}
	return err
}

func (q *Queue) noRoot() error {
	return &opError{"find the root", q.root, fmt.Errorf("%w: correct the path given to WithRoot, or let Queue.Init create it", ErrNotFound)}
}

// empty is the data of entries, folders and locks. It is not null because some
// tools of the client library can't read null.
var empty = []byte{}

func (q *Queue) path(p string) string { return q.root + p }

// maxConcurrent is how many requests are on their way at the same time at most.
const maxConcurrent part.Size = 100

// each calls do for 0 to n-1 at the same time, so that their requests take one round
// trip: the client sends a request without waiting for the answers to those before it.
// The error is the first in the order of the numbers.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, maxConcurrent.N())
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	running.Wait()
	return cmp.Or(errs...)
}

func together(ctx context.Context, reads ...func(context.Context) error) error {
	return each(len(reads), func(i int) error { return reads[i](ctx) })
}

func read[T any](ctx context.Context, path string, f func() (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		v, err := f()
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, zk.ErrNoNode):
			return v, &NodeError{path, ErrNotFound}
		case !unanswered(err) || !again(ctx, attempt):
			return v, &opError{"read", path, err}
		}
	}
}

// again waits before a request is repeated. It reports false if the request was tried often enough, or
// the caller waits no more. Two seconds are long enough for a client to find another server.
func again(ctx context.Context, attempt int) bool {
	if attempt == 20 {
		return false
	}
	select {
	case <-time.After(100 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// unanswered reports whether err leaves open if the server carried out the
// request. Every error does that is not in answers, because the client also
// passes on the operating system's errors of the connection.
func unanswered(err error) bool {
	return !slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) })
}

// answers are the errors after which the request was certainly not carried out:
// the server refused it, or the client refused to send it.
var answers = []error{
	zk.ErrAPIError, zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals,
	zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrNothing,
	zk.ErrBadArguments, zk.ErrInvalidPath,
}

type node struct {
	data    []byte
	version int32
	mzxid   int64
}

func (q *Queue) maybe(ctx context.Context, path string) (n node, ok bool, err error) {
	n, err = read(ctx, path, func() (node, error) {
		data, stat, err := q.conn.Get(q.path(path))
		if err != nil {
			return node{}, err
		}
		return node{data, stat.Version, stat.Mzxid}, nil
	})
	if errors.Is(err, ErrNotFound) {
		return node{}, false, nil
	}
	return n, err == nil, err
}

func (q *Queue) stat(ctx context.Context, path string) (stat *zk.Stat, ok bool, err error) {
	stat, err = read(ctx, path, func() (s *zk.Stat, err error) {
		ok, s, err = q.conn.Exists(q.path(path))
		return s, err
	})
	return stat, ok, err
}

// ls lists a folder, sorted. The error wraps [ErrNotFound] if it does not exist.
func (q *Queue) ls(ctx context.Context, path string) ([]string, error) {
	names, err := read(ctx, path, func() ([]string, error) {
		names, _, err := q.conn.Children(q.path(path))
		return names, err
	})
	slices.Sort(names)
	return names, err
}

// children lists a folder, sorted. A missing folder is empty.
func (q *Queue) children(ctx context.Context, path string) ([]string, error) {
	names, err := q.ls(ctx, path)
	if errors.Is(err, ErrNotFound) {
		return nil, q.checkRoot(ctx)
	}
	return names, err
}

func (q *Queue) folders(ctx context.Context, paths []string) ([][]string, error) {
	lists := make([][]string, len(paths))
	err := each(len(paths), func(i int) (err error) {
		lists[i], err = q.children(ctx, paths[i])
		return err
	})
	return lists, err
}

// subtree lists every node at or below path, each after its parent. It is nil
// if path does not exist.
func (q *Queue) subtree(ctx context.Context, path string) ([]string, error) {
	_, ok, err := q.stat(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	all := []string{path}
	for level := all; len(level) > 0; {
		lists, err := q.folders(ctx, level)
		if err != nil {
			return nil, err
		}
		var below []string
		for i, names := range lists {
			for _, name := range names {
				below = append(below, znode.Join(level[i], name))
			}
		}
		level = below
		all = append(all, level...)
	}
	return all, nil
}
