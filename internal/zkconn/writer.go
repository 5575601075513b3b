package zkconn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Writer is a session that can write. It never repeats a write that may have been done.
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

// SessionTimeout returns the timeout that the server granted. If the process dies, its session
// ends after that time, and its ephemerals are removed.
func (w *Writer) SessionTimeout() time.Duration {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.conn.timeout
}

// maxRequest is the largest request that can be sent, in bytes. It is enough for a server
// with a raised jute.maxbuffer. Most servers have a lower limit, which then applies.
const maxRequest = 16 << 20

// Multi does all operations or none. The error is a *[znode.MultiError] if one
// of them was refused. It wraps [ErrUnknownOutcome] if the answer was lost. It is
// [ErrThrottled] if the server did nothing because it has too much to do.
// Otherwise it says why nothing was sent.
func (w *Writer) Multi(ctx context.Context, ops []znode.Op) error {
	size := znode.MultiSize(ops, len(w.at.Chroot))
	if size > maxRequest {
		return fmt.Errorf("nothing was sent: %d operations take %d bytes, more than the %d that one request can have", len(ops), size, maxRequest)
	}
	packet := newPacket(jute.OpMulti, size)
	for i, op := range ops {
		// Otherwise the chroot would turn "x" into a valid path.
		if err := znode.ValidatePath(op.Path); err != nil {
			return &znode.MultiError{Index: i, Op: op, Err: err}
		}
		packet = w.appendOp(packet, op)
	}
	answer, err := w.s.write(ctx, jute.AppendMultiEnd(packet), len(ops))
	if err != nil {
		return err
	}
	d := jute.NewDecoder(answer)
	results := d.MultiResults()
	if d.Err() != nil {
		return fmt.Errorf("%w (%w)", ErrUnknownOutcome, d.Err())
	}
	for i, r := range results {
		// The codes before the failed operation's are 0. Those after it only
		// say that the multi was given up.
		if r.Err != jute.OK && i < len(ops) {
			return &znode.MultiError{Index: i, Op: ops[i], Err: codeError(r.Err)}
		}
	}
	return nil
}

func (w *Writer) appendOp(b []byte, op znode.Op) []byte {
	at := w.at
	if op.Outside {
		at = Address{}
	}
	begin := func(code jute.OpCode) []byte {
		return at.appendAbs(jute.AppendMultiHeader(b, jute.MultiHeader{Op: code, Err: -1}), op.Path)
	}
	switch op.Kind {
	case znode.OpCreate:
		b = appendACL(jute.AppendBuffer(begin(jute.OpCreate), op.Data), op.ACL)
		return jute.AppendInt(b, jute.ModePersistent)
	case znode.OpSet:
		return jute.AppendInt(jute.AppendBuffer(begin(jute.OpSetData), op.Data), op.Version)
	case znode.OpDelete:
		return jute.AppendInt(begin(jute.OpDelete), op.Version)
	}
	return jute.AppendInt(begin(jute.OpCheck), op.Version)
}

func appendACL(b []byte, acl []znode.ACL) []byte {
	if acl == nil {
		acl = znode.OpenACL()
	}
	return jute.AppendACLs(b, acl)
}

// write sends a request that does this many operations, once, and returns the answer. The
// error wraps [ErrUnknownOutcome] if it may have been done, and otherwise says why it was not.
func (s *session) write(ctx context.Context, packet []byte, operations int) ([]byte, error) {
	if err := pace(ctx, s.cfg.Limiter, operations); err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	c := newCall(packet, 0)
	if err := s.send(ctx, c); err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	sent := time.Now()
	err := s.wait(ctx, c)
	s.lost(sent, temporary(err) || err == nil && c.code != jute.OK && !refusal(c.code))
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
	}
	if c.code != jute.OK && !refusal(c.code) {
		return nil, fmt.Errorf("%w (%w)", ErrUnknownOutcome, c.code)
	}
	return c.body, codeError(c.code)
}

// lost notes whether the answer to a write was lost, or does not say whether it was done. A caller may look and repeat a write for as
// long as that is so. So the session ends if that lasts for as long as Config.GiveUpAfter.
func (s *session) lost(sent time.Time, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !lost {
		s.firstLost = time.Time{}
		return
	}
	if s.firstLost.IsZero() || sent.Sub(s.lastLost) > s.cfg.GiveUpAfter {
		s.firstLost = sent
	}
	if s.lastLost = sent; time.Since(s.firstLost) >= s.cfg.GiveUpAfter {
		s.end(fmt.Errorf("%w: for %s no answer said whether a write was done", ErrSessionLost, s.cfg.GiveUpAfter))
	}
}

// one sends a request that does one operation. It repeats the request only if the server
// throttled it and so did nothing.
func (w *Writer) one(ctx context.Context, packet []byte) (answer []byte, err error) {
	err = w.s.untilAnswered(ctx, func() error {
		answer, err = w.s.write(ctx, packet, 1)
		return err
	})
	return answer, err
}

func (w *Writer) create(ctx context.Context, abs string, data []byte, mode int32, acl []znode.ACL) (string, error) {
	packet := jute.AppendBuffer(jute.AppendString(newPacket(jute.OpCreate, len(abs)+len(data)+64), abs), data)
	answer, err := w.one(ctx, jute.AppendInt(appendACL(packet, acl), mode))
	if err != nil {
		return "", err
	}
	d := jute.NewDecoder(answer)
	path := d.String("path")
	if d.Err() != nil {
		return "", fmt.Errorf("%w (%w)", ErrUnknownOutcome, d.Err())
	}
	return path, nil
}

// CreateEphemeral creates an ephemeral sequential node and returns its path. If
// the answer is lost, it looks for a node of this session with the prefix, so
// a session must have only one. A nil ACL is open to all.
func (w *Writer) CreateEphemeral(ctx context.Context, prefix string, data []byte, acl []znode.ACL) (string, error) {
	if err := znode.ValidatePath(prefix + "0"); err != nil {
		return "", err
	}
	for {
		path, err := w.create(ctx, w.at.Chroot+prefix, data, jute.ModeEphemeralSequential, acl)
		if errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil {
			if path, err = w.ephemeral(ctx, prefix); err == nil && path == "" {
				continue // it was not created
			}
			return path, err
		}
		if err != nil {
			return "", &pathError{op: "create", path: prefix, err: err}
		}
		return strings.TrimPrefix(path, w.at.Chroot), nil
	}
}

func (w *Writer) ephemeral(ctx context.Context, prefix string) (string, error) {
	if err := w.Sync(ctx); err != nil {
		return "", err
	}
	parent := znode.Parent(prefix)
	names, err := w.Children(ctx, parent)
	for _, name := range names {
		path := znode.Join(parent, name)
		if !strings.HasPrefix(path, prefix) {
			continue
		}
		stat, there, err := w.Exists(ctx, path)
		if err != nil {
			return "", err
		}
		if there && stat.EphemeralOwner == w.s.id {
			return path, nil
		}
	}
	return "", err
}

// SetACL replaces a node's access control list, regardless of its version.
func (w *Writer) SetACL(ctx context.Context, path string, acl []znode.ACL) error {
	if err := znode.ValidatePath(path); err != nil {
		return err
	}
	packet := appendACL(w.at.appendAbs(newPacket(jute.OpSetACL, len(path)+64), path), acl)
	if _, err := w.one(ctx, jute.AppendInt(packet, -1)); err != nil {
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
	for p := w.at.Chroot; p != "/"; p = znode.Parent(p) {
		missing = append(missing, p)
	}
	for _, p := range slices.Backward(missing) {
		_, err := w.create(ctx, p, []byte{}, jute.ModePersistent, nil)
		for errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil {
			_, err = w.create(ctx, p, []byte{}, jute.ModePersistent, nil) // the server knows whether it was done
		}
		switch {
		case err == nil:
			made = append(made, p)
		case errors.Is(err, znode.ErrNodeExists):
		case errors.Is(err, ErrNoAuth) && p != w.at.Chroot:
			// The node may exist, although the client may not create it. If it
			// doesn't, creating the next one fails.
		default:
			return made, &pathError{op: "create the chroot", path: p, err: err}
		}
	}
	return made, nil
}
