package zkconn

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/part"
	"mrtq/internal/znode"
)

// Reader is a session that cannot write. Paths are inside the chroot of its address. It is
// safe for concurrent use. If the connection breaks, it repeats its reads on the next one.
//
// Names of children are in byte order, and ZooKeeper's own /zookeeper is left out. The
// data of znodes that were read together may share memory: don't change it, and copy what
// you keep of a few znodes among many.
type Reader struct {
	s     *session
	at    Address // paths are inside its chroot
	marks bool    // see MarkUnreadable
	acls  bool    // see WithACLs
}

// OpenReader connects, authenticates and returns a session that cannot write.
// The error is a *[ConnectError] if no session could be opened. Close it.
func OpenReader(ctx context.Context, cfg Config) (*Reader, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return newReader(s), nil
}

func newReader(s *session) *Reader {
	return &Reader{s: s, at: s.cfg.Address}
}

func (r *Reader) with(f func(*Reader)) *Reader {
	other := *r
	f(&other)
	return &other
}

// WithChroot returns a Reader that uses the same session, with paths below another chroot: a path on the server, "/"
// for none.
func (r *Reader) WithChroot(chroot string) *Reader {
	if chroot == "/" {
		chroot = ""
	}
	return r.with(func(r *Reader) { r.at = Address{Chroot: chroot} })
}

// MarkUnreadable returns a Reader on the same session. A znode that may not be read is no
// error for its Get, GetAll, Subtrees, Walk and Tree. They return its Stat and mark it as
// unreadable.
func (r *Reader) MarkUnreadable() *Reader { return r.with(func(r *Reader) { r.marks = true }) }

// WithACLs returns a Reader on the same session. Its Get, GetAll, Subtrees, Walk and Tree also read
// the ACLs of the znodes. Each costs one more request.
func (r *Reader) WithACLs() *Reader { return r.with(func(r *Reader) { r.acls = true }) }

// Close ends the session and with it its ephemeral nodes. Calls under way
// return.
func (r *Reader) Close() { r.s.close() }

// Address returns the session's address, with the chroot that paths are below.
func (r *Reader) Address() Address {
	return Address{Servers: r.s.cfg.Address.Servers, Chroot: r.at.Chroot}
}

// LastZxid is the newest transaction that an answer has named. If it is the same before and after some reads, nothing changed
// while they were made.
func (r *Reader) LastZxid() int64 { return r.s.seen.Load() }

// Sync makes sure that later reads are no older than any answer that any client
// got before the call.
func (r *Reader) Sync(ctx context.Context) error {
	return r.WithChroot("/").ask(ctx, readRequest{jute.OpSync, []string{"/"}, func(_ int, _ *jute.Decoder, err error) error { return err }})
}

// Exists reads a node's Stat. ok is false if the node doesn't exist.
func (r *Reader) Exists(ctx context.Context, path string) (stat znode.Stat, ok bool, err error) {
	err = r.ask(ctx, readRequest{jute.OpExists, []string{path}, func(_ int, d *jute.Decoder, err error) error {
		if errors.Is(err, znode.ErrNoNode) {
			return nil
		}
		stat, ok = d.Stat(), err == nil
		return err
	}})
	return stat, ok && err == nil, err
}

// Get reads a node. The error wraps [znode.ErrNoNode] if the node doesn't exist.
func (r *Reader) Get(ctx context.Context, path string) (znode.Node, error) {
	nodes, err := r.getAll(ctx, []string{path})
	if err != nil {
		return znode.Node{}, err
	}
	if nodes[0].Path == "" {
		return znode.Node{}, &pathError{op: says[jute.OpGetData], path: path, err: znode.ErrNoNode}
	}
	return nodes[0], nil
}

// GetAll reads many nodes with few requests. It leaves out missing nodes and keeps the order of
// the others.
func (r *Reader) GetAll(ctx context.Context, paths []string) ([]znode.Node, error) {
	nodes, err := r.getAll(ctx, paths)
	return slices.DeleteFunc(nodes, func(n znode.Node) bool { return n.Path == "" }), err
}

// nodesPerRead is how many nodes are in memory at once.
const nodesPerRead part.Size = 1000

// GetEach reads very many nodes as [Reader.GetAll] does, some at a time, so that they are not
// all in memory, and calls each with one after the other.
func (r *Reader) GetEach(ctx context.Context, paths []string, each func(znode.Node)) error {
	for some := range slices.Chunk(paths, nodesPerRead.N()) {
		nodes, err := r.GetAll(ctx, some)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			each(n)
		}
	}
	return nil
}

// getAll returns a node for each path. The path of a missing node is "".
func (r *Reader) getAll(ctx context.Context, paths []string) ([]znode.Node, error) {
	nodes := make([]znode.Node, len(paths))
	err := r.ask(ctx, readRequest{jute.OpGetData, paths, func(i int, d *jute.Decoder, err error) error {
		if err != nil {
			nodes[i], err = r.unanswered(ctx, paths[i], err)
			return err
		}
		nodes[i] = znode.Node{Path: paths[i], Data: d.Buffer("data"), Stat: d.Stat()}
		return nil
	}})
	if err != nil || !r.acls {
		return nodes, err
	}
	var with []string // the paths of nodes whose ACLs are also read, and their indexes
	var which []int
	for i, n := range nodes {
		if n.Path != "" && n.Unreadable == "" {
			with, which = append(with, n.Path), append(which, i)
		}
	}
	return nodes, r.ask(ctx, readRequest{jute.OpGetACL, with, func(k int, d *jute.Decoder, err error) error {
		n := &nodes[which[k]]
		if err != nil {
			*n, err = r.unanswered(ctx, n.Path, err)
			return err
		}
		n.ACL = d.ACLs()
		return nil
	}})
}

// unanswered returns what an error about a node means: no node if it doesn't exist, and
// perhaps an unreadable one if it may not be read. Otherwise it returns the error.
func (r *Reader) unanswered(ctx context.Context, path string, err error) (znode.Node, error) {
	switch {
	case errors.Is(err, znode.ErrNoNode):
		return znode.Node{}, nil
	case !r.marks || !errors.Is(err, ErrNoAuth):
		return znode.Node{}, err
	}
	stat, ok, err := r.Exists(ctx, path)
	if err != nil || !ok {
		return znode.Node{}, err
	}
	return znode.Node{Path: path, Stat: stat, Unreadable: ErrNoAuth.Error()}, nil
}

// Children lists the names of a node's children. The error wraps [znode.ErrNoNode] if the
// node doesn't exist. The caller owns the slice.
func (r *Reader) Children(ctx context.Context, path string) (names []string, err error) {
	err = r.ask(ctx, readRequest{jute.OpGetChildren, []string{path}, func(_ int, d *jute.Decoder, err error) error {
		names = r.named(path, d.Strings("children"))
		return err
	}})
	return names, err
}

// ChildrenAll is [Reader.Children] for many nodes. A list is nil if its node doesn't exist.
func (r *Reader) ChildrenAll(ctx context.Context, paths []string) ([][]string, error) {
	lists := make([][]string, len(paths))
	err := r.ask(ctx, readRequest{jute.OpGetChildren, paths, func(i int, d *jute.Decoder, err error) error {
		switch {
		case errors.Is(err, znode.ErrNoNode):
			lists[i] = nil
		case err != nil:
			return err
		default:
			lists[i] = r.named(paths[i], d.Strings("children"))
		}
		return nil
	}})
	return lists, err
}

// ACL reads a node's access control list. The error wraps [znode.ErrNoNode] if the node
// doesn't exist.
func (r *Reader) ACL(ctx context.Context, path string) (acl []znode.ACL, err error) {
	err = r.ask(ctx, readRequest{jute.OpGetACL, []string{path}, func(_ int, d *jute.Decoder, err error) error {
		acl = d.ACLs()
		return err
	}})
	return acl, err
}

// named are the names of path's children in order, without ZooKeeper's own, which only a server's root has.
func (r *Reader) named(path string, names []string) []string {
	if path == "/" && r.at.Chroot == "" && !r.s.cfg.Bare {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "zookeeper" })
	}
	slices.Sort(names)
	return names
}
