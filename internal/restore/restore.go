// Package restore puts the znodes of a dump back into a server: one transaction after the
// other. A znode that exists with the same data stays, and other data refuses the whole
// restore before anything is written. So an interrupted restore is finished by calling it
// again. A parent of which the dump knows only the path may have any data.
//
// The root's own data are left out, and so are ephemeral znodes, because their sessions have ended. Nobody can set the counter of a
// parent's sequential children, so a restore reports those that are behind. A parent gets its ACL last,
// because that may forbid to write below it.
//
// What the server would refuse is found before anything is written, by trials (trial.go).
package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// Options are the options of a restore.
type Options struct {
	// Below is the topmost znode to restore. Those above it are created if they are missing,
	// and otherwise left as they are.
	Below string
	Ops   int // most operations in a transaction; 0 means no limit
	// Progress is called with how many znodes are created.
	Progress func(done, total int)
}

// Result is what a restore did.
type Result struct {
	Chroot     string    `json:"-"` // if it was created
	Created    int       `json:"created"`
	There      int       `json:"there"`      // already there, with the same data
	Ephemerals []string  `json:"ephemerals"` // left out, because their sessions are over
	Counters   []Counter `json:"counters"`   // the sequence counters that are behind the dump's
}

// Counter is the counter of a parent's sequential children, if it is behind that of the dump. New
// children then get names that children of the dump had.
type Counter struct {
	Path   string `json:"path"`
	Found  int64  `json:"found"`  // the number of the next child
	Wanted int64  `json:"wanted"` // what it was when the dump was made
}

// ErrOtherData says that a target has a znode of the dump, with other data or another ACL. Nothing
// was written, unless another client created it meanwhile.
var ErrOtherData = errors.New("the target already has znodes of the dump, with other data or another ACL")

// ErrRefused says that the target can't hold a znode of the dump. Nothing was written.
var ErrRefused = errors.New("the target can't hold the dump")

func refused(paths []string, why, instead string) error {
	return fmt.Errorf("%w: %s%s: %s; nothing was written; %s", ErrRefused, paths[0], andMore(len(paths)-1), why, instead)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// maxAttempts is how often in a row a write may lose its answer before the restore gives up.
const maxAttempts = 6

type operation struct {
	w           *zkconn.Writer
	tree, there *znode.Tree
	opt         Options
	res         *Result
	chroot      []znode.Op // create what is missing of it
}

// Restore creates the znodes of a tree that are missing, below the session's chroot, which is created
// if it is missing. The error wraps [ErrOtherData] or [ErrRefused], or comes from the server, perhaps because another client has
// written meanwhile.
func Restore(ctx context.Context, tree *znode.Tree, dst *zkconn.Writer, opt Options) (*Result, error) {
	r := &operation{w: dst, tree: tree, opt: opt, res: &Result{Ephemerals: []string{}, Counters: []Counter{}}}
	for p := dst.Address().Chroot; p != "" && p != "/"; p = znode.Parent(p) {
		_, there, err := dst.WithChroot("/").Exists(ctx, p)
		if err != nil || there {
			break // if it may not be read, the trials tell
		}
		r.chroot = append([]znode.Op{{Kind: znode.OpCreate, Path: p, Outside: true}}, r.chroot...)
	}
	var roots []string
	for _, name := range tree.Children("/") {
		roots = append(roots, "/"+name)
	}
	var err error
	if r.there, err = dst.WithACLs().Tree(ctx, roots...); err != nil {
		return r.res, err
	}
	missing, err := r.compare()
	if err != nil {
		return r.res, err
	}
	most, err := r.tryOut(ctx, missing)
	if err != nil {
		return r.res, err
	}
	made, err := dst.MakeChroot(ctx)
	if err != nil {
		return r.res, err
	}
	if len(made) > 0 {
		r.res.Chroot = made[len(made)-1]
	}
	for _, ops := range r.transactions(missing, most) {
		if ctx.Err() != nil {
			return r.res, context.Cause(ctx)
		}
		err := r.commit(context.WithoutCancel(ctx), ops)
		if errors.Is(err, jute.QuotaExceeded) {
			err = fmt.Errorf("%w: %d of %d missing znodes are created, and a quota of a znode above this one is used up; %s", err, r.res.Created, len(missing), raiseQuota)
		}
		if err != nil {
			return r.res, err
		}
		r.res.Created += len(ops)
		opt.Progress(r.res.Created, len(missing))
	}
	return r.res, r.setParentACLs(ctx)
}

// commit creates znodes together. If the answer is lost, it looks whether they are there, with the same data: that is
// enough, whoever created them.
func (r *operation) commit(ctx context.Context, ops []znode.Op) (err error) {
	var paths []string
	for _, op := range ops {
		paths = append(paths, op.Path)
	}
	for range maxAttempts {
		if err = r.w.Multi(ctx, ops); !errors.Is(err, zkconn.ErrUnknownOutcome) {
			return err
		}
		if err := r.w.Sync(ctx); err != nil {
			return err
		}
		nodes, err := r.w.GetAll(ctx, paths)
		if err != nil {
			return err
		}
		if len(nodes) < len(ops) {
			continue
		}
		for i, n := range nodes {
			if !znode.SameData(n.Data, ops[i].Data) {
				return fmt.Errorf("%w: %s, which another client created meanwhile", ErrOtherData, n.Path)
			}
		}
		return nil
	}
	return fmt.Errorf("%d times in a row: %w", maxAttempts, err)
}

// maxBytes is how large a transaction becomes, unless a single znode is larger.
const maxBytes = 64 << 10

// create is the operation that creates a znode. A parent gets its ACL last.
func (r *operation) create(n *znode.Node) znode.Op {
	op := znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data}
	if len(r.tree.Children(n.Path)) == 0 {
		op.ACL = n.ACL
	}
	return op
}

func (r *operation) transactions(nodes []*znode.Node, most int) (all [][]znode.Op) {
	var ops []znode.Op
	size := 0
	for _, n := range nodes {
		op := r.create(n)
		more := op.Size(len(r.w.Address().Chroot))
		if len(ops) > 0 && (size+more > most || len(ops) == r.opt.Ops) {
			all, ops, size = append(all, ops), nil, 0
		}
		ops, size = append(ops, op), size+more
	}
	if len(ops) > 0 {
		all = append(all, ops)
	}
	return all
}

func (r *operation) compare() (missing []*znode.Node, err error) {
	var other, ephemeral, system []string
	creates := map[string]int64{} // by parent
	for n := range r.tree.All("/") {
		got := r.there.Get(n.Path)
		switch {
		case r.w.Address().Chroot == "" && znode.Within(n.Path, ztree.SystemRoot):
			system = append(system, n.Path)
		case n.Path != "/" && n.Stat.EphemeralOwner == 0 && got != nil && got.Stat.EphemeralOwner != 0:
			ephemeral = append(ephemeral, n.Path)
		case n.Path == "/", got != nil && (n.MadeUp() || !znode.Within(n.Path, r.opt.Below)):
		case n.Stat.EphemeralOwner != 0:
			r.res.Ephemerals = append(r.res.Ephemerals, n.Path)
		case got == nil:
			missing = append(missing, n)
			creates[znode.Parent(n.Path)]++
		case znode.SameData(got.Data, n.Data) && r.mayHave(n, got.ACL):
			r.res.There++
		default:
			other = append(other, n.Path)
		}
	}
	switch {
	case len(system) > 0:
		return nil, refused(system, "ZooKeeper has its own znodes there, and the dump is that of a chroot", "restore it into a chroot")
	case len(ephemeral) > 0:
		return nil, refused(ephemeral, "the target has an ephemeral znode there, which ends with its session and can have no children", "wait until that session has ended, or remove the znode first")
	case len(other) > 0:
		return nil, fmt.Errorf("%w: %s%s; nothing was written; restore into an empty chroot, or remove them first", ErrOtherData, other[0], andMore(len(other)-1))
	}
	for n := range r.tree.All(r.opt.Below) {
		if n.Stat.EphemeralOwner != 0 || n.MadeUp() {
			continue
		}
		wanted, _ := n.Stat.NextSequence()
		c := Counter{Path: n.Path, Found: creates[n.Path], Wanted: int64(wanted)}
		if got := r.there.Get(n.Path); got != nil {
			next, _ := got.Stat.NextSequence()
			c.Found += int64(next)
		}
		if c.Found < c.Wanted {
			r.res.Counters = append(r.res.Counters, c)
		}
	}
	return missing, nil
}

// mayHave reports whether an existing znode may have this ACL: the dump's or, for a
// parent, the open ACL that an interrupted restore left.
func (r *operation) mayHave(n *znode.Node, acl []znode.ACL) bool {
	return sameACL(n.ACL, acl) || znode.IsOpenACL(acl) && len(r.tree.Children(n.Path)) > 0
}

func sameACL(a, b []znode.ACL) bool {
	return znode.IsOpenACL(a) && znode.IsOpenACL(b) || slices.Equal(a, b)
}

// setParentACLs gives parents their ACLs, from the bottom up, after everything below them was
// created.
func (r *operation) setParentACLs(ctx context.Context) error {
	for _, path := range slices.Backward(r.tree.Paths(r.opt.Below)) {
		n := r.tree.Get(path)
		if znode.IsOpenACL(n.ACL) || len(r.tree.Children(path)) == 0 || path == "/" {
			continue
		}
		if got := r.there.Get(path); got != nil && sameACL(n.ACL, got.ACL) {
			continue
		}
		err := r.w.SetACL(ctx, path, n.ACL)
		for again := 1; again < maxAttempts && errors.Is(err, zkconn.ErrUnknownOutcome); again++ {
			err = r.w.SetACL(ctx, path, n.ACL) // it may have been done, and this does the same
		}
		if err != nil {
			return err
		}
	}
	return nil
}
