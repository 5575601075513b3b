// Package goqueue is mrtq's own implementation of the new queue, newqueue/client, as the acceptance suite
// calls it.
//
//	goqueue.go  the library, and its sessions
//	do.go       what each request calls
package goqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/accept/library"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// Options say how the library connects, and what breaks it in tests of the tests.
type Options struct {
	Session zkconn.Config
	Conn    func(client.Conn) client.Conn // nil leaves connections as they are
	Queue   []client.Option
}

// Library is newqueue/client as a [library.Library].
type Library struct {
	opt Options
}

// New returns the library for a server.
func New(opt Options) *Library {
	return &Library{opt}
}

// Capabilities returns what the library can: everything.
func (l *Library) Capabilities() library.Capabilities {
	return library.Capabilities{Name: "mrtq/newqueue/client", Dialects: newqueue.Dialects, Clock: true, Strict: true}
}

// Open opens a session.
func (l *Library) Open(ctx context.Context, root string, d newqueue.Dialect) (library.Session, error) {
	conn, err := session.Open(ctx, l.opt.Session)
	if err != nil {
		return nil, lost(err)
	}
	s := &actor{conn: conn, items: map[string]item{}, reports: map[string]client.Report{}}
	var c client.Conn = unsorted{conn}
	if l.opt.Conn != nil {
		c = l.opt.Conn(c)
	}
	opts := []client.Option{client.WithRoot(root), client.WithClock(func() time.Time { return s.now }), client.WithACL(session.ACL(l.opt.Session))}
	s.q = client.Open(c, d, append(opts, l.opt.Queue...)...)
	return s, nil
}

type actor struct {
	conn    *zk.Conn
	q       *client.Queue
	now     time.Time
	items   map[string]item          // by path
	reports map[string]client.Report // the last of each batch, by path
}

func (a *actor) ID() int64 { return a.conn.SessionID() }

// End closes the session. The server would do this after the timeout.
func (a *actor) End() error {
	a.conn.Close()
	return nil
}

func (a *actor) Do(ctx context.Context, r library.Request) (library.Answer, error) {
	a.now = r.Now
	var answer library.Answer
	if err := a.do(ctx, r, &answer); err != nil {
		return library.Answer{}, lost(err)
	}
	return answer, nil
}

var kinds = []struct {
	err  error
	kind library.RefusalKind
}{
	{client.ErrLocked, library.Locked},
	{client.ErrNotLocked, library.NotLocked},
	{client.ErrHeld, library.Held},
	{client.ErrNoneAvailable, library.None},
	{client.ErrExists, library.Exists},
	{newqueue.ErrPriority, library.Priority},
	{newqueue.ErrValue, library.Value},
	{client.ErrConflict, library.Conflict},
}

var guards = map[states.Guard]library.RefusalKind{
	"":                  library.State,
	states.OnceStepped:  library.NotResumable,
	states.OnceEmptied:  library.Processing,
	states.OnceFinished: library.Processing,
	states.WithoutJobs:  library.HasJobs,
	states.InProcessing: library.NotProcessing,
}

// lost turns an error of the client into a refusal, or into one that wraps [library.ErrLost].
func lost(err error) error {
	if session.Lost(err) || errors.Is(err, client.ErrUnknownOutcome) || errors.As(err, new(*zkconn.ConnectError)) {
		return fmt.Errorf("%w: %w", library.ErrLost, err)
	}
	if state := (*client.StateError)(nil); errors.As(err, &state) && !errors.Is(err, client.ErrNoneAvailable) {
		return &library.Refusal{Kind: cmp.Or(guards[state.Guard], library.Other), From: state.From, To: state.To, Allowed: state.Allowed, Text: err.Error()}
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return &library.Refusal{Kind: k.kind, Text: err.Error()}
		}
	}
	return &library.Refusal{Kind: library.Other, Text: err.Error()}
}

// unsorted lists children in reverse order. ZooKeeper does not promise an order, and
// this detects code that relies on one.
type unsorted struct{ client.Conn }

func (u unsorted) Children(path string) ([]string, *zk.Stat, error) {
	names, stat, err := u.Conn.Children(path)
	return lastFirst(names), stat, err
}

func (u unsorted) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, changed, err := u.Conn.ChildrenW(path)
	return lastFirst(names), stat, changed, err
}

func lastFirst(names []string) []string {
	slices.Sort(names)
	slices.Reverse(names)
	return names
}
