package zkconn

import (
	"context"
	"errors"
	"fmt"

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
	return &Writer{Reader{s}}, nil
}

// Multi carries the operations out, all or none. The error is a
// *[znode.MultiError] when the server refused one of them, wraps
// [ErrUnknownOutcome] when the answer was lost, and otherwise says why nothing
// was sent. Concurrent calls from one goroutine after another keep their order
// on the server; see [Writer.Start].
func (w *Writer) Multi(ctx context.Context, ops []znode.Op) error {
	return <-w.Start(ctx, ops)
}

// Start sends the operations and returns as soon as they are on the wire; the
// channel then gives [Writer.Multi]'s error. The server carries out what one
// connection sends in order, so successive Starts take effect in their order,
// any number of them under way at once. After a lost connection some may have
// been carried out and later ones not.
func (w *Writer) Start(ctx context.Context, ops []znode.Op) <-chan error {
	w.s.starting.Lock()
	defer w.s.starting.Unlock()
	sent := w.s.expectMulti()
	done, finished := make(chan error, 1), make(chan struct{})
	go func() {
		done <- w.multi(ctx, ops)
		close(finished)
	}()
	select {
	case <-sent:
	case <-finished:
	}
	return done
}

func (w *Writer) multi(ctx context.Context, ops []znode.Op) error {
	requests := make([]any, len(ops))
	for i, op := range ops {
		requests[i] = w.request(op)
	}
	var results []zk.MultiResponse
	var raw error
	err := w.s.call(ctx, func() error {
		results, raw = w.s.conn.Multi(requests...)
		return raw
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoServer):
		return fmt.Errorf("nothing was sent: %w", err)
	case errors.Is(err, zk.ErrShortBuffer):
		return fmt.Errorf("nothing was sent: %d operations take more than %d bytes", len(ops), maxRequest)
	case unanswered(err):
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	}
	for i, r := range results {
		// Codes before the culprit's are 0; those after it say only that the
		// multi was given up.
		if r.Error != nil && i < len(ops) {
			return &znode.MultiError{Index: i, Op: ops[i], Err: apiError(r.Error)}
		}
	}
	return apiError(err)
}

func (w *Writer) request(op znode.Op) any {
	path := w.s.cfg.Address.abs(op.Path)
	switch op.Kind {
	case znode.OpCreate:
		return &zk.CreateRequest{Path: path, Data: op.Data, Acl: toACL(op.ACL)}
	case znode.OpSet:
		return &zk.SetDataRequest{Path: path, Data: op.Data, Version: op.Version}
	case znode.OpDelete:
		return &zk.DeleteRequest{Path: path, Version: op.Version}
	}
	return &zk.CheckVersionRequest{Path: path, Version: op.Version}
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

// CreateEphemeral makes an ephemeral sequential node and returns its path. A
// lost answer leaves a node that dies with this session at the latest.
func (w *Writer) CreateEphemeral(ctx context.Context, prefix string, data []byte) (string, error) {
	var path string
	err := w.s.call(ctx, func() (err error) {
		path, err = w.s.conn.Create(w.s.cfg.Address.abs(prefix), data, zk.FlagEphemeral|zk.FlagSequence, toACL(nil))
		return err
	})
	if err != nil {
		if unanswered(err) {
			err = fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
		}
		return "", &pathError{op: "create", path: prefix, err: apiError(err)}
	}
	return path[len(w.s.cfg.Address.Chroot):], nil
}

// WaitGone waits until the node at path is not there.
func (w *Writer) WaitGone(ctx context.Context, path string) error {
	for {
		var ok bool
		var gone <-chan zk.Event
		err := w.read(ctx, "watch", path, func(abs string) (err error) {
			ok, _, gone, err = w.s.conn.ExistsW(abs)
			return err
		})
		if err != nil || !ok {
			return err
		}
		select {
		case <-gone: // or changed: look again
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.s.over:
			return w.s.fatal
		}
	}
}

// SetACL replaces a node's access control list, whatever its version.
func (w *Writer) SetACL(ctx context.Context, path string, acl []znode.ACL) error {
	err := w.s.call(ctx, func() error {
		_, err := w.s.conn.SetACL(w.s.cfg.Address.abs(path), toACL(acl), -1)
		return err
	})
	if err == nil {
		return nil
	}
	if unanswered(err) {
		err = fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	}
	return &pathError{op: "set the ACL of", path: path, err: apiError(err)}
}

// MakeChroot makes the missing nodes of the address's chroot and returns those
// that it made, topmost first.
func (w *Writer) MakeChroot(ctx context.Context) ([]string, error) {
	var made []string
	var missing []string
	for p := w.s.cfg.Address.Chroot; p != "" && p != "/"; p = znode.Parent(p) {
		missing = append([]string{p}, missing...)
	}
	for _, p := range missing {
		err := w.s.call(ctx, func() error {
			_, err := w.s.conn.Create(p, []byte{}, 0, toACL(nil))
			return err
		})
		switch {
		case err == nil:
			made = append(made, p)
		case errors.Is(err, zk.ErrNodeExists):
		case errors.Is(err, zk.ErrNoAuth):
			// A parent may be closed to us and the chroot be there all the same.
			if ok, _, eerr := w.s.conn.Exists(w.s.cfg.Address.Chroot); eerr == nil && ok {
				return made, nil
			}
			return made, &pathError{op: "create the chroot", path: p, err: apiError(err)}
		default:
			return made, &pathError{op: "create the chroot", path: p, err: apiError(err)}
		}
	}
	return made, nil
}
