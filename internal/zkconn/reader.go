package zkconn

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Reader is a session that cannot write. Paths are inside the chroot of its address. It is
// safe for concurrent use. Concurrent calls are pipelined, with as many requests under way
// as the session's pace allows ([pace.Reads]).
type Reader struct {
	s     *session
	at    Address // paths are inside its chroot
	marks bool    // see MarkUnreadable
}

// OpenReader connects, authenticates and returns a session that cannot write.
// The error is a *[ConnectError] if no session could be opened. Close it.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) {
	if cfg.MaxRequest == 0 {
		cfg.MaxRequest = maxQuestion
	}
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return newReader(s), nil
}

// maxQuestion is large enough for a read with the longest path.
const maxQuestion = 1 << 20

func newReader(s *session) *Reader { return &Reader{s: s, at: s.cfg.Address} }

// Outside returns a Reader that uses the same session, but without its chroot. Its paths
// are the server's.
func (r *Reader) Outside() *Reader { return &Reader{s: r.s} }

// Close ends the session and with it its ephemeral nodes. Calls under way
// return.
func (r *Reader) Close() { r.s.close() }

// MarkUnreadable returns the same session. Its Look and Tree mark a znode that
// may not be read as unreadable, and continue.
func (r *Reader) MarkUnreadable() *Reader { return &Reader{s: r.s, at: r.at, marks: true} }

// Address is the session's address.
func (r *Reader) Address() Address { return r.s.cfg.Address }

// Sync makes sure that later reads are no older than any answer that any client
// got before the call.
func (r *Reader) Sync(ctx context.Context) error {
	return r.read(ctx, "sync", "/", func(abs string) error {
		_, err := r.s.conn.Sync("/")
		return err
	})
}

// Get reads a node without its ACL. The error wraps [znode.ErrNoNode] if the
// node doesn't exist. The caller owns the node.
func (r *Reader) Get(ctx context.Context, path string) (znode.Node, error) {
	a, err := r.ask(ctx, asksNode, path)
	if err != nil {
		return znode.Node{}, err
	}
	return znode.Node{Path: path, Data: a.data, Stat: a.stat}, nil
}

// Look is Get, with the ACL if acl is true. With [Reader.MarkUnreadable], a
// node that may not be read is not an error: Look returns its Stat.
func (r *Reader) Look(ctx context.Context, path string, acl bool) (znode.Node, error) {
	n, err := r.Get(ctx, path)
	if err == nil && acl {
		n.ACL, err = r.ACL(ctx, path)
	}
	if !r.marks || !errors.Is(err, ErrNoAuth) {
		return n, err
	}
	stat, ok, err := r.Exists(ctx, path)
	if err == nil && !ok {
		err = &pathError{op: "get", path: path, err: znode.ErrNoNode}
	}
	return znode.Node{Path: path, Stat: stat, Unreadable: ErrNoAuth.Error()}, err
}

// System reports whether path is ZooKeeper's own subtree: configuration and
// quotas of the server, not of the application.
func (r *Reader) System(path string) bool { return r.at.abs(path) == "/zookeeper" }

// Exists reads a node's Stat. ok is false if the node doesn't exist.
func (r *Reader) Exists(ctx context.Context, path string) (stat znode.Stat, ok bool, err error) {
	var found bool
	var st *zk.Stat
	err = r.read(ctx, "exists", path, func(abs string) (err error) {
		found, st, err = r.s.conn.Exists(abs)
		return err
	})
	if err != nil || !found {
		return znode.Stat{}, false, err
	}
	return fromStat(st), true, nil
}

// Children lists a node's children in the server's order. The error wraps
// [znode.ErrNoNode] if the node doesn't exist.
func (r *Reader) Children(ctx context.Context, path string) ([]string, error) {
	a, err := r.ask(ctx, asksChildren, path)
	return a.names, err
}

// ACL reads a node's access control list.
func (r *Reader) ACL(ctx context.Context, path string) ([]znode.ACL, error) {
	a, err := r.ask(ctx, asksACL, path)
	return a.acl, err
}

// read waits for its turn, and repeats f until it gets an answer.
func (r *Reader) read(ctx context.Context, op, path string, f func(abs string) error) error {
	if err := znode.ValidatePath(path); err != nil {
		return err
	}
	abs := r.at.abs(path)
	err := r.s.reads.Pass(ctx, func() error {
		return r.s.repeat(ctx, func() error { return f(abs) })
	})
	if err != nil {
		return &pathError{op: op, path: path, err: apiError(err)}
	}
	return nil
}

func fromStat(s *zk.Stat) znode.Stat {
	return znode.Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Ctime: s.Ctime, Mtime: s.Mtime,
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		EphemeralOwner: s.EphemeralOwner, DataLength: s.DataLength,
		NumChildren: s.NumChildren, Pzxid: s.Pzxid,
	}
}
