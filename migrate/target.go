package migrate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Target is where the new tree is, or is to be: a server or a file.
type Target interface {
	// Tree reads what a migration is concerned with.
	Tree(ctx context.Context) (*znode.Tree, error)
	// Get reads one node; the error wraps [znode.ErrNoNode] if it isn't there.
	Get(ctx context.Context, path string) (znode.Node, error)
	// Start begins a transaction and returns; successive ones take effect in
	// order. The channel gives the error of [zkconn.Writer.Multi].
	Start(ctx context.Context, ops []znode.Op) <-chan error
	// Lead waits until this is the only migrator at work; say is told why it
	// waits. The path is that of the node which says so, "" if there is none.
	// acl is given to the znodes that have to be made for it.
	Lead(ctx context.Context, owner string, acl []znode.ACL, say func(string)) (path string, err error)
	// Resign ends what Lead began.
	Resign()
	// ChrootLen is how many bytes the target's chroot adds to every path.
	ChrootLen() int
}

// Live is a target on a server.
type Live struct {
	*zkconn.Writer
	leader string
}

// NewLive is the target that a session writes to.
func NewLive(w *zkconn.Writer) *Live { return &Live{Writer: w} }

// Tree reads the new layout and the migration's own nodes.
func (l *Live) Tree(ctx context.Context) (*znode.Tree, error) { return ReadTarget(ctx, &l.Reader, nil) }

// Get reads one node as of now: no older than anything that any client was told
// before the call, whichever server of an ensemble answers.
func (l *Live) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := l.Sync(ctx); err != nil {
		return znode.Node{}, err
	}
	return l.Writer.Get(ctx, path)
}

// ReadTarget reads what a migration is concerned with of a target on a server.
func ReadTarget(ctx context.Context, r *zkconn.Reader, progress func(int)) (*znode.Tree, error) {
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	return r.Tree(ctx, zkconn.TreeOptions{Roots: targetRoots, Progress: progress})
}

// ReadLegacy reads the legacy queues of a source on a server, with the ACLs of
// the queue nodes.
func ReadLegacy(ctx context.Context, r *zkconn.Reader, queues Queues, progress func(int)) (*znode.Tree, error) {
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	tree, err := r.Tree(ctx, zkconn.TreeOptions{Roots: queues.Roots(), Progress: progress})
	if err != nil {
		return nil, err
	}
	found := false
	for _, root := range queues.Roots() {
		n := tree.Get(root)
		if n == nil {
			continue
		}
		found = true
		acl, err := r.ACL(ctx, root)
		if err != nil && !errors.Is(err, zkconn.ErrNoAuth) {
			return nil, err
		}
		n.ACL = acl
	}
	if found {
		return tree, nil
	}
	// Nothing of a legacy queue: what is there helps to see why.
	names, err := r.Children(ctx, "/")
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return nil, err
	}
	for _, name := range names {
		if err := tree.Put(znode.Node{Path: "/" + name}); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// File is a target that is the new tree as a dump.
type File struct {
	tree *znode.Tree
	now  func() time.Time
}

// NewFile is a file target that begins as the given tree, which it takes over.
// It is in memory: the caller writes the tree that [File.Tree] gives.
func NewFile(tree *znode.Tree, now func() time.Time) *File {
	tree.SetDefaultStats(0)
	return &File{tree: tree, now: now}
}

// Tree is a copy of the tree as it is now.
func (f *File) Tree(context.Context) (*znode.Tree, error) { return f.tree.Clone(), nil }

// Get reads one node.
func (f *File) Get(_ context.Context, path string) (znode.Node, error) {
	if n := f.tree.Get(path); n != nil {
		return *n, nil
	}
	return znode.Node{}, fmt.Errorf("get %s: %w", path, znode.ErrNoNode)
}

// Start applies the operations at once.
func (f *File) Start(_ context.Context, ops []znode.Op) <-chan error {
	done := make(chan error, 1)
	done <- f.tree.Multi(ops, f.now())
	return done
}

// Lead returns at once: a file has one writer.
func (f *File) Lead(context.Context, string, []znode.ACL, func(string)) (string, error) {
	return "", nil
}

// ChrootLen is 0.
func (f *File) ChrootLen() int { return 0 }

// Resign does nothing.
func (f *File) Resign() {}

// ChrootLen is the length of the session's chroot.
func (l *Live) ChrootLen() int { return len(l.Address().Chroot) }

// Lead joins the election of migrators: the lowest ephemeral sequential node
// leads, the others stand by (04-migration, "One writer").
func (l *Live) Lead(ctx context.Context, owner string, acl []znode.ACL, say func(string)) (string, error) {
	for _, path := range []string{MigrationPath, ElectionPath} {
		err := l.Multi(ctx, []znode.Op{{Kind: znode.OpCreate, Path: path, Data: none, ACL: acl}})
		if err != nil && !errors.Is(err, znode.ErrNodeExists) {
			return "", fmt.Errorf("join the election: %w", err)
		}
	}
	me, err := l.CreateEphemeral(ctx, ElectionPath+"/n-", []byte(owner))
	if err != nil {
		return "", fmt.Errorf("join the election: %w", err)
	}
	l.leader = me
	for {
		ahead, err := l.ahead(ctx, me)
		if err != nil {
			return "", err
		}
		if ahead == "" {
			return me, nil
		}
		n, err := l.Get(ctx, ahead)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return "", err
		}
		say(fmt.Sprintf("another migrator is at work (%s); standing by until it ends", n.Data))
		if err := l.WaitGone(ctx, ahead); err != nil {
			return "", err
		}
	}
}

// ahead is the node just before me in the election, "" if I lead.
func (l *Live) ahead(ctx context.Context, me string) (string, error) {
	names, err := l.Children(ctx, ElectionPath)
	if err != nil {
		return "", err
	}
	best, there := "", false
	for _, name := range names {
		path := znode.Join(ElectionPath, name)
		there = there || path == me
		if path < me && path > best {
			best = path
		}
	}
	if !there {
		return "", fmt.Errorf("%w: this session's place in the election is gone", zkconn.ErrLost)
	}
	return best, nil
}

// Resign leaves the election. What can't be told to the server now, the end of
// the session tells it.
func (l *Live) Resign() {
	if l.leader == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	<-l.Start(ctx, []znode.Op{znode.Delete(l.leader, -1)})
	l.leader = ""
}

// OwnerName tells a person which process this is.
func OwnerName(now time.Time) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s pid %d since %s", host, os.Getpid(), now.UTC().Format(time.RFC3339Nano))
}
