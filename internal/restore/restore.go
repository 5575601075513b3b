// Package restore puts the znodes of a dump back into a server: one transaction after the
// other. A znode that exists with the same data stays, and other data refuses the whole
// restore before anything is written. So an interrupted restore is finished by calling it
// again.
//
// Ephemeral znodes are left out, because their sessions have ended. Sequence counters are
// advanced to where they were, so that the next sequential child sorts after those restored.
// A parent gets its ACL last, because that may forbid to write below it.
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
	// Progress is called with how many znodes and counters are done.
	Progress func(done, total int)
}

// Result is what a restore did.
type Result struct {
	Created    int       `json:"created"`
	There      int       `json:"there"`      // already there, with the same data
	Ephemerals []string  `json:"ephemerals"` // left out, because their sessions are over
	Counters   int64     `json:"counters"`   // by how much sequence counters were advanced
	Warnings   []Warning `json:"warnings"`
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
	before := &Result{} // what the tries before have done
	for failed := 0; ; {
		r := &restoring{w: w, tree: tree, opt: opt, res: &Result{
			Created: before.Created, Counters: before.Counters, There: -before.Created, // these will be found
			Ephemerals: []string{}, Warnings: []Warning{},
		}}
		steps, err := r.try(ctx)
		before = r.res
		var refused *znode.MultiError
		switch {
		case err == nil, ctx.Err() != nil:
			return r.res, err
		case errors.Is(err, zkconn.ErrThrottled), errors.As(err, &refused) && isConflict(refused.Err):
		default:
			return r.res, err
		}
		if failed++; steps > 0 {
			failed = 1
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

// create is the operation that creates a znode. A parent gets its ACL last.
func create(tree *znode.Tree, n *znode.Node) znode.Op {
	op := znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data}
	if len(tree.Children(n.Path)) == 0 && len(n.ACL) > 0 {
		op.ACL = n.ACL
	}
	return op
}

// restoring is one try.
type restoring struct {
	w           *zkconn.Writer
	tree, there *znode.Tree
	opt         Options
	res         *Result
}

// try does what is missing. steps is the number of its transactions.
func (r *restoring) try(ctx context.Context) (steps int, err error) {
	var roots []string
	for _, name := range r.tree.Children("/") {
		roots = append(roots, "/"+name)
	}
	if r.there, err = r.w.WithACLs(zkconn.AllACLs).Tree(ctx, roots...); err != nil {
		return 0, err
	}
	missing, err := r.compare()
	if err != nil {
		return 0, err
	}
	creates := map[string]int64{} // by parent
	for _, n := range missing {
		creates[znode.Parent(n.Path)]++
	}
	advances := r.counters(creates)
	done, total := 0, len(missing)
	for _, a := range advances {
		total += int(a.by)
	}
	var t transaction
	send := func() error {
		if len(t.ops) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.commit(context.WithoutCancel(ctx), t); err != nil {
			return err
		}
		steps, done = steps+1, done+t.creates+t.advances
		r.res.Created, r.res.Counters = r.res.Created+t.creates, r.res.Counters+int64(t.advances)
		t = transaction{}
		r.opt.Progress(done, total)
		return nil
	}
	room := func(ops ...znode.Op) error {
		size := znode.MultiSize(ops, len(r.w.Address().Chroot))
		if t.size > 0 && (t.size+size > 64<<10 || r.opt.Ops > 0 && len(t.ops)+len(ops) > r.opt.Ops) {
			if err := send(); err != nil {
				return err
			}
		}
		t.ops, t.size = append(t.ops, ops...), t.size+size
		return nil
	}
	for _, n := range missing {
		if err := room(create(r.tree, n)); err != nil {
			return steps, err
		}
		t.creates, t.changes = t.creates+1, append(t.changes, change{path: n.Path})
	}
	for _, a := range advances {
		path := znode.Join(a.parent, "mrtq-counter")
		for next := a.to - a.by + 1; next <= a.to; next++ {
			if err := room(znode.Create(path, []byte{}), znode.Delete(path, 0)); err != nil {
				return steps, err
			}
			t.advances, t.changes = t.advances+1, append(t.changes, change{a.parent, next})
		}
	}
	if err := send(); err != nil {
		return steps, err
	}
	return steps, r.setParentACLs(ctx)
}

// transaction is what is sent together.
type transaction struct {
	ops               []znode.Op
	size              int // bytes
	creates, advances int
	changes           []change
}

// change is what a transaction does to a znode of the dump: it creates it, or advances the counter of its children.
type change struct {
	path string
	next int64 // the next child's number is no lower then
}

// commit carries out a transaction. If its answer is lost, commit looks at the znodes that it concerns.
func (r *restoring) commit(ctx context.Context, t transaction) error {
	return r.surely(ctx, func() error { return r.w.Multi(ctx, t.ops) }, func() (bool, error) {
		paths := make([]string, len(t.changes))
		for i, c := range t.changes {
			paths[i] = c.path
		}
		nodes, err := r.w.GetAll(ctx, paths, nil)
		if err != nil || len(nodes) < len(paths) {
			return false, err
		}
		for i, n := range nodes {
			if next, _ := n.Stat.NextSequence(); int64(next) < t.changes[i].next || !znode.SameData(n.Data, r.tree.Get(n.Path).Data) {
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

// advance says how far the counter of a parent's sequential children is to be advanced, and to which next number.
type advance struct {
	parent string
	by, to int64
}

// farthest limits how far a counter is advanced. It takes some minutes.
const farthest = 1_000_000

// sequential matches the number at the end of a sequential child's name: ten digits, and a
// sign if the counter has wrapped.
var sequential = regexp.MustCompile(`(-?\d{10})$`)

// counters says how far each parent's counter must be advanced after the creates. The dump's
// Stats or names show where it was.
func (r *restoring) counters(creates map[string]int64) (advances []advance) {
	for n := range r.tree.All("/") {
		if n.Stat.EphemeralOwner != 0 || n.Path == "/" || !znode.Within(n.Path, r.opt.Below) {
			continue
		}
		was := int64(0)
		if n.Stat.Czxid != 0 {
			next, _ := n.Stat.NextSequence()
			was = int64(next)
		}
		for _, name := range r.tree.Children(n.Path) {
			if seq, err := strconv.ParseInt(sequential.FindString(name), 10, 64); err == nil && seq >= 0 && seq < math.MaxInt32 {
				was = max(was, seq+1)
			}
		}
		is := creates[n.Path]
		if got := r.there.Get(n.Path); got != nil {
			next, _ := got.Stat.NextSequence()
			is += int64(next)
		}
		switch behind := was - is; {
		case behind <= 0:
		case behind > farthest:
			r.res.Warnings = append(r.res.Warnings, Warning{n.Path, fmt.Sprintf("its sequence counter stays %d behind what it was: new sequential children will sort before those restored", behind)})
		default:
			advances = append(advances, advance{n.Path, behind, was})
		}
	}
	return advances
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
