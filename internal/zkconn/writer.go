package zkconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Writer is a session that can write. It never repeats a write by itself.
type Writer struct{ Reader }

// OpenWriter connects, authenticates and returns a session that can write. The
// chroot of the address must exist: see [Writer.MakeChroot]. Close it.
func OpenWriter(ctx context.Context, cfg Config) (*Writer, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Writer{*newReader(s)}, nil
}

// SessionTimeout is the timeout that the session asked for. The server may have granted
// another one. If the process dies, its session and ephemerals are gone after that time.
func (w *Writer) SessionTimeout() time.Duration { return w.s.cfg.SessionTimeout }

// Multi does all operations or none. The error is a *[znode.MultiError] if one
// of them was refused. It wraps [ErrUnknownOutcome] if the answer was lost.
// Otherwise it says why nothing was sent.
func (w *Writer) Multi(ctx context.Context, ops []znode.Op) error {
	return <-w.Start(ctx, ops)
}

// Start sends the operations when the session's limit allows it. It returns when they are
// written, when they can't be sent, or when ctx ends. The channel gives [Writer.Multi]'s error.
//
// The server processes one connection's requests in order. So successive Starts take effect in
// their order, with any number of them under way at once. If the connection is lost, the first
// Starts under way may have been done and the others not. A later Start is still sent. If they
// must all be done in a row, let each one check what the previous one wrote.
func (w *Writer) Start(ctx context.Context, ops []znode.Op) <-chan error {
	done := make(chan error, 1)
	requests, err := w.requests(ops)
	if err != nil {
		done <- err
		return done
	}
	s := w.s
	if err := s.cfg.Limit.Wait(ctx, len(ops)); err != nil {
		done <- &unsentError{err}
		return done
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		done <- &unsentError{context.Cause(ctx)}
		return done
	case <-s.over:
		done <- &unsentError{s.fatal}
		return done
	}
	t, answered := s.takeTurn(), make(chan answer, 1)
	if err := s.enter(ctx, func() { answered <- s.multi(ctx, t, requests) }); err != nil {
		t.pass()
		done <- &unsentError{err}
		return done
	}
	waiting := func() {
		a, err := await(ctx, s, answered)
		if err != nil {
			a.err = err
		}
		done <- a.verdict(ops)
	}
	if err := s.enter(context.WithoutCancel(ctx), waiting); err != nil {
		waiting() // the session is over, so stop waiting
		return done
	}
	select {
	case <-t.passed:
	case <-ctx.Done():
	case <-s.over:
	}
	return done
}

// ticket is the turn to write a multi. It passes when the multi is written, or can't be
// written any more. If the caller gives up before that, the ticket does not pass yet.
// Otherwise the next multi could overtake this one in the library.
type ticket struct {
	once   sync.Once
	passed chan struct{}
	turn   <-chan struct{}
}

func (t *ticket) pass() {
	t.once.Do(func() {
		<-t.turn
		close(t.passed)
	})
}

func (s *session) takeTurn() *ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = &ticket{passed: make(chan struct{}), turn: s.turn}
	return s.sending
}

// multiWritten is called when a multi is written: the one that has the turn, or one of a
// [Session], where multis need no turn.
func (s *session) multiWritten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending != nil {
		s.sending.pass()
	}
}

// answer is the library's answer to a multi.
type answer struct {
	results []zk.MultiResponse
	err     error
}

// multi blocks in the library until there is an answer, or until none can come.
func (s *session) multi(ctx context.Context, t *ticket, requests []any) answer {
	defer t.pass()
	for {
		results, err := s.conn.Multi(requests...)
		if err != zk.ErrNoServer {
			return answer{results, err}
		}
		// It was not sent, so it still has its turn.
		s.pause(ctx)
		select {
		case <-s.over:
			return answer{err: &unsentError{s.fatal}}
		case <-ctx.Done():
			return answer{err: &unsentError{context.Cause(ctx)}}
		default:
		}
	}
}

// verdict says what an answer means for the operations.
func (a answer) verdict(ops []znode.Op) error {
	if a.err == nil {
		return nil
	}
	for i, r := range a.results {
		// The codes before the failed operation's are 0. Those after it only
		// say that the multi was given up.
		if r.Error != nil && i < len(ops) {
			return &znode.MultiError{Index: i, Op: ops[i], Err: apiError(r.Error)}
		}
	}
	var not *unsentError
	switch {
	case errors.As(a.err, &not):
		return a.err
	case throttled(a.err):
		return ErrThrottled
	case unanswered(a.err):
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, a.err)
	}
	return apiError(a.err)
}

// requests converts the operations for the library. It checks paths, because
// the chroot would turn "x" into a valid path.
func (w *Writer) requests(ops []znode.Op) ([]any, error) {
	if n := znode.MultiSize(ops, len(w.s.cfg.Address.Chroot)); n > w.s.cfg.MaxRequest {
		return nil, fmt.Errorf("nothing was sent: %d operations take %d bytes, more than the %d that one request can have", len(ops), n, w.s.cfg.MaxRequest)
	}
	out := make([]any, len(ops))
	var acls lastACL
	for i, op := range ops {
		if err := znode.ValidatePath(op.Path); err != nil {
			return nil, &znode.MultiError{Index: i, Op: op, Err: err}
		}
		out[i] = w.request(op, &acls)
	}
	return out, nil
}

func (w *Writer) request(op znode.Op, acls *lastACL) any {
	path := w.s.cfg.Address.abs(op.Path)
	switch op.Kind {
	case znode.OpCreate:
		return &zk.CreateRequest{Path: path, Data: op.Data, Acl: acls.of(op.ACL)}
	case znode.OpSet:
		return &zk.SetDataRequest{Path: path, Data: op.Data, Version: op.Version}
	case znode.OpDelete:
		return &zk.DeleteRequest{Path: path, Version: op.Version}
	}
	return &zk.CheckVersionRequest{Path: path, Version: op.Version}
}

// lastACL converts ACLs for the library. It keeps the last one, because most operations
// have the same ACL as the one before.
type lastACL struct {
	from []znode.ACL
	to   []zk.ACL
}

func (l *lastACL) of(acl []znode.ACL) []zk.ACL {
	if l.to == nil || !slices.Equal(acl, l.from) || (acl == nil) != (l.from == nil) {
		l.from, l.to = acl, toACL(acl)
	}
	return l.to
}

func toACL(acl []znode.ACL) []zk.ACL {
	if acl == nil {
		acl = znode.OpenACL()
	}
	out := make([]zk.ACL, len(acl))
	for i, a := range acl {
		out[i] = zk.ACL{Perms: a.Perms, Scheme: a.Scheme, ID: a.ID}
	}
	return out
}

// CreateEphemeral creates an ephemeral sequential node and returns its path. If
// the answer is lost, the node may exist until the session ends. A nil ACL is
// open to all.
func (w *Writer) CreateEphemeral(ctx context.Context, prefix string, data []byte, acl []znode.ACL) (string, error) {
	if err := znode.ValidatePath(prefix + "0"); err != nil {
		return "", err
	}
	var path string
	err := w.s.write(ctx, func() (err error) {
		path, err = w.s.conn.Create(w.s.cfg.Address.abs(prefix), data, zk.FlagEphemeral|zk.FlagSequence, toACL(acl))
		return err
	})
	if err != nil {
		return "", &pathError{op: "create", path: prefix, err: err}
	}
	return path[len(w.s.cfg.Address.Chroot):], nil
}

// WaitGone waits until the node at path doesn't exist.
func (w *Writer) WaitGone(ctx context.Context, path string) error {
	for {
		_, there, watch, err := w.ExistsW(ctx, path)
		if err != nil || !there {
			return err
		}
		// It was deleted or changed: check again.
		if err := watch.wait(ctx, w.s); err != nil {
			return &pathError{op: "watch", path: path, err: err}
		}
	}
}

// SetACL replaces a node's access control list, regardless of its version.
func (w *Writer) SetACL(ctx context.Context, path string, acl []znode.ACL) error {
	if err := znode.ValidatePath(path); err != nil {
		return err
	}
	err := w.s.write(ctx, func() error {
		_, err := w.s.conn.SetACL(w.s.cfg.Address.abs(path), toACL(acl), -1)
		return err
	})
	if err != nil {
		return &pathError{op: "set the ACL of", path: path, err: err}
	}
	return nil
}

// MakeChroot creates the missing nodes of the address's chroot. It returns the
// created ones, topmost first, as paths on the server. If the chroot exists, it
// writes nothing.
func (w *Writer) MakeChroot(ctx context.Context) ([]string, error) {
	if _, there, err := w.Exists(ctx, "/"); err != nil || there {
		return nil, err
	}
	var made, missing []string
	for p := w.s.cfg.Address.Chroot; p != "/"; p = znode.Parent(p) {
		missing = append(missing, p)
	}
	for _, p := range slices.Backward(missing) {
		err := w.s.write(ctx, func() error {
			_, err := w.s.conn.Create(p, []byte{}, 0, toACL(nil))
			return err
		})
		switch {
		case err == nil:
			made = append(made, p)
		case errors.Is(err, znode.ErrNodeExists):
		case errors.Is(err, ErrNoAuth) && p != w.s.cfg.Address.Chroot:
			// The node may exist, although the client may not create it. If it
			// doesn't, creating the next one fails.
		default:
			return made, &pathError{op: "create the chroot", path: p, err: err}
		}
	}
	return made, nil
}
