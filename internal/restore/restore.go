// Package restore puts the znodes of a dump back into a server: one transaction after the
// other. A znode that exists with the same data stays, and other data refuses the whole
// restore before anything is written. So an interrupted restore is finished by calling it
// again.
//
// Ephemeral znodes are left out, because their sessions have ended. Nobody can set the counter of a
// parent's sequential children, so a restore reports those that are behind. A parent gets its ACL last,
// because that may forbid to write below it.
package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Options are the options of a restore.
type Options struct {
	// Below is the topmost znode to restore. Those above it are created if they are missing,
	// and otherwise left as they are.
	Below string
	Ops   int // most operations in a transaction; 0 means no limit
	Say   func(string)
	// Progress is called with how many znodes are created.
	Progress func(done, total int)
}

// Result is what a restore did.
type Result struct {
	Created    int       `json:"created"`
	There      int       `json:"there"`      // already there, with the same data
	Ephemerals []string  `json:"ephemerals"` // left out, because their sessions are over
	Counters   []Counter `json:"counters"`   // the sequence counters that are behind the dump's
	Warnings   []Warning `json:"warnings"`
}

// Counter is the counter of a parent's sequential children, if it is behind that of the dump.
type Counter struct {
	Path    string `json:"path"`
	Found   int64  `json:"found"`   // the number of the next child
	Wanted  int64  `json:"wanted"`  // what it was when the dump was made
	Message string `json:"message"` // what follows from it
}

// Warning is what an operator should know about one znode.
type Warning struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// ErrOtherData says that a target has a znode of the dump, with other data or another ACL. Nothing
// was written.
var ErrOtherData = errors.New("the target already has znodes of the dump, with other data or another ACL")

// most is how often in a row a transaction may fail because of other clients, before the restore
// gives up. pause is the time between, and grows.
const (
	most  = 6
	pause = 500 * time.Millisecond
)

// Restore creates the znodes of a tree that are missing, below the session's chroot, which
// must exist. The error wraps [ErrOtherData], or comes from the server.
func Restore(ctx context.Context, w *zkconn.Writer, tree *znode.Tree, opt Options) (*Result, error) {
	created := 0 // by the tries before
	for failed := 0; ; {
		r := &restoring{w: w, tree: tree, opt: opt, res: &Result{
			Created: created, There: -created, // these will be found
			Ephemerals: []string{}, Counters: []Counter{}, Warnings: []Warning{},
		}}
		err := r.try(ctx)
		var refused *znode.MultiError
		switch {
		case err == nil, ctx.Err() != nil:
			return r.res, err
		case errors.Is(err, zkconn.ErrThrottled), errors.As(err, &refused) && isConflict(refused.Err):
		default:
			return r.res, err
		}
		if failed++; r.res.Created > created {
			failed, created = 1, r.res.Created
		}
		if failed == most {
			return r.res, fmt.Errorf("%d times in a row: %w", most, err)
		}
		opt.Say(fmt.Sprintf("looking again: %v", err))
		select {
		case <-time.After(pause << failed):
		case <-ctx.Done():
			return r.res, context.Cause(ctx)
		}
	}
}

// isConflict reports whether an operation was refused because of what another client did.
func isConflict(err error) bool {
	return errors.Is(err, znode.ErrNodeExists) || errors.Is(err, znode.ErrNoNode) || errors.Is(err, znode.ErrBadVersion)
}

// restoring is one try.
type restoring struct {
	w           *zkconn.Writer
	tree, there *znode.Tree
	opt         Options
	res         *Result
}

// try does what is missing.
func (r *restoring) try(ctx context.Context) (err error) {
	var roots []string
	for _, name := range r.tree.Children("/") {
		roots = append(roots, "/"+name)
	}
	if r.there, err = r.w.WithACLs(zkconn.AllACLs).Tree(ctx, roots...); err != nil {
		return err
	}
	missing, err := r.compare()
	if err != nil {
		return err
	}
	r.compareCounters(missing)
	done := 0
	for _, t := range transactions(r.tree, missing, r.opt.Ops, len(r.w.Address().Chroot)) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.commit(context.WithoutCancel(ctx), t); err != nil {
			return err
		}
		done += len(t.paths)
		r.res.Created += len(t.paths)
		r.opt.Progress(done, len(missing))
	}
	return r.setParentACLs(ctx)
}

// transaction creates znodes together.
type transaction struct {
	paths []string
	ops   []znode.Op
}

// mostBytes is how large a transaction becomes, unless a single znode is larger.
const mostBytes = 64 << 10

// transactions create znodes in this order, with at most so many operations each; 0 means no limit. chroot is the
// length of the session's chroot.
func transactions(tree *znode.Tree, nodes []*znode.Node, ops, chroot int) (all []transaction) {
	var t transaction
	size := 0
	for _, n := range nodes {
		op := create(tree, n)
		more := znode.MultiSize([]znode.Op{op}, chroot)
		if size > 0 && (size+more > mostBytes || ops > 0 && len(t.ops) == ops) {
			all, t, size = append(all, t), transaction{}, 0
		}
		t.paths, t.ops, size = append(t.paths, n.Path), append(t.ops, op), size+more
	}
	if size > 0 {
		all = append(all, t)
	}
	return all
}

// create is the operation that creates a znode. A parent gets its ACL last.
func create(tree *znode.Tree, n *znode.Node) znode.Op {
	op := znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data}
	if len(tree.Children(n.Path)) == 0 && len(n.ACL) > 0 {
		op.ACL = n.ACL
	}
	return op
}

// commit carries out a transaction. If its answer is lost, commit looks at the znodes.
func (r *restoring) commit(ctx context.Context, t transaction) error {
	return r.surely(ctx, func() error { return r.w.Multi(ctx, t.ops) }, func() (bool, error) {
		nodes, err := r.w.GetAll(ctx, t.paths, nil)
		if err != nil || len(nodes) < len(t.paths) {
			return false, err
		}
		for _, n := range nodes {
			if !znode.SameData(n.Data, r.tree.Get(n.Path).Data) {
				return false, nil
			}
		}
		return true, nil
	})
}

// surely writes. If the answer is lost, it looks whether the write was done, and otherwise writes again, a few times.
func (r *restoring) surely(ctx context.Context, write func() error, done func() (bool, error)) (err error) {
	for range most {
		if err = write(); !errors.Is(err, zkconn.ErrUnknownOutcome) {
			return err
		}
		if err := r.w.Sync(ctx); err != nil {
			return err
		}
		if is, err := done(); err != nil || is {
			return err
		}
	}
	return fmt.Errorf("%d times in a row: %w", most, err)
}

// compare finds what is missing, parents first.
func (r *restoring) compare() (missing []*znode.Node, err error) {
	var other []string
	for n := range r.tree.All("/") {
		got := r.there.Get(n.Path)
		switch {
		case n.Path == "/":
			if len(n.Data) > 0 {
				r.res.Warnings = append(r.res.Warnings, Warning{"/", "the root's own data is not restored"})
			}
		case got != nil && !znode.Within(n.Path, r.opt.Below):
		case n.Stat.EphemeralOwner != 0:
			r.res.Ephemerals = append(r.res.Ephemerals, n.Path)
		case got == nil:
			missing = append(missing, n)
		case znode.SameData(got.Data, n.Data) && r.mayHave(n, got.ACL):
			r.res.There++
		default:
			other = append(other, n.Path)
		}
	}
	if len(other) == 0 {
		return missing, nil
	}
	more := ""
	if len(other) > 1 {
		more = fmt.Sprintf(" and %d more", len(other)-1)
	}
	return nil, fmt.Errorf("%w: %s%s; nothing was written; restore into an empty chroot, or remove them first", ErrOtherData, other[0], more)
}

// mayHave reports whether an existing znode may have this ACL: the dump's or, for a
// parent, the open ACL that an interrupted restore left.
func (r *restoring) mayHave(n *znode.Node, acl []znode.ACL) bool {
	return sameACL(n.ACL, acl) || znode.IsOpenACL(acl) && len(r.tree.Children(n.Path)) > 0
}

func sameACL(a, b []znode.ACL) bool {
	return znode.IsOpenACL(a) && znode.IsOpenACL(b) || slices.Equal(a, b)
}

// sequential matches the number at the end of a sequential child's name: ten digits, and a
// sign if the counter has wrapped.
var sequential = regexp.MustCompile(`(-?\d{10})$`)

// compareCounters finds the sequence counters that will be behind when what is missing is created. The dump's
// Stats or names show where they were.
func (r *restoring) compareCounters(missing []*znode.Node) {
	creates := map[string]int64{} // by parent
	for _, n := range missing {
		creates[znode.Parent(n.Path)]++
	}
	for n := range r.tree.All("/") {
		if n.Stat.EphemeralOwner != 0 || n.Path == "/" || !znode.Within(n.Path, r.opt.Below) {
			continue
		}
		c := Counter{Path: n.Path, Found: creates[n.Path]}
		if got := r.there.Get(n.Path); got != nil {
			next, _ := got.Stat.NextSequence()
			c.Found += int64(next)
		}
		if n.Stat.Czxid != 0 {
			next, _ := n.Stat.NextSequence()
			c.Wanted = int64(next)
		}
		free := int64(0) // no child of the dump has this number or a higher one
		for _, name := range r.tree.Children(n.Path) {
			if seq, err := strconv.ParseInt(sequential.FindString(name), 10, 64); err == nil && seq >= 0 && seq < math.MaxInt32 {
				free = max(free, seq+1)
			}
		}
		if c.Wanted = max(c.Wanted, free); c.Found >= c.Wanted {
			continue
		}
		c.Message = "new sequential children get names that deleted ones had"
		if c.Found < free {
			c.Message = "new sequential children sort before the restored ones, and can't be created while their names are taken"
		}
		r.res.Counters = append(r.res.Counters, c)
	}
}

// setParentACLs gives parents their ACLs, from the bottom up, after everything below them was
// created.
func (r *restoring) setParentACLs(ctx context.Context) error {
	for _, path := range slices.Backward(r.tree.Paths("/")) {
		n := r.tree.Get(path)
		if znode.IsOpenACL(n.ACL) || len(r.tree.Children(path)) == 0 || path == "/" || !znode.Within(path, r.opt.Below) {
			continue
		}
		if got := r.there.Get(path); got != nil && sameACL(n.ACL, got.ACL) {
			continue
		}
		err := r.surely(ctx, func() error { return r.w.SetACL(ctx, path, n.ACL) }, func() (bool, error) {
			acl, err := r.w.ACL(ctx, path)
			return err == nil && sameACL(n.ACL, acl), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
