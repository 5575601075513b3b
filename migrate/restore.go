package migrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Restored is what a restore did.
type Restored struct {
	Created    int       `json:"created"`
	There      int       `json:"there"`      // already there, with the same data
	Ephemerals []string  `json:"ephemerals"` // left out, because their sessions are over
	Counters   int64     `json:"counters"`   // by how much sequence counters were advanced
	Warnings   []Warning `json:"warnings"`
}

// ErrOtherData says that a target already has a znode of the dump, with other data or
// another ACL.
var ErrOtherData = errors.New("the target already has znodes of the dump, with other data or another ACL")

// ErrTooLarge says that a znode does not fit a packet of the server. Raise jute.maxbuffer
// on the servers, and restore with the same number.
var ErrTooLarge = errors.New("it is larger than the server takes")

// CheckPacket refuses a tree with a znode that is too large for a server. packet is the
// server's jute.maxbuffer, and chroot the length of the chroot, in bytes. The error wraps
// [ErrTooLarge].
func CheckPacket(tree *znode.Tree, packet, chroot int) error {
	for n := range tree.All("/") {
		op := znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data, ACL: aclOf(n)}
		if size := znode.MultiSize([]znode.Op{op}, chroot); size > packet-packetSlack && n.Stat.EphemeralOwner == 0 && n.Path != "/" {
			return fmt.Errorf("%s: %w: it takes %d bytes, and a jute.maxbuffer of %d leaves %d; nothing was written",
				n.Path, ErrTooLarge, size, packet, packet-packetSlack)
		}
	}
	return nil
}

// PacketBudget is the Budget of a [Migrator] for a server with that jute.maxbuffer.
func PacketBudget(packet int) int { return min(defaultBudget, packet-packetSlack) }

// Restore loads a tree into a server, below the session's chroot. A znode that already
// exists with the same data stays. If one exists with other data, nothing is written and
// the error wraps [ErrOtherData]. Sequence counters are advanced to where the dump's Stats
// or names show that they were, so that the next sequential child sorts after those
// restored. If Restore is interrupted, call it again to finish.
func (m *Migrator) Restore(ctx context.Context, w *zkconn.Writer, tree *znode.Tree) (*Restored, error) {
	m.defaults()
	created := 0 // by all tries
	for retry := m.retries(); ; {
		res := &Restored{Ephemerals: []string{}, Warnings: []Warning{}}
		r := &w.Reader
		if hasRestrictedACL(tree) {
			r = r.WithACLs(zkconn.AllACLs)
		}
		there, err := r.Tree(ctx, roots(tree)...)
		if err != nil {
			return nil, err
		}
		missing, err := res.compare(tree, there)
		if err != nil {
			return res, err
		}
		steps, err := m.restore(ctx, w, res, tree, there, missing, &created, retry.budget)
		var refused *znode.MultiError
		switch {
		case err == nil:
			res.Created = created
			return res, setParentACLs(ctx, w, tree, there)
		case errors.Is(err, zkconn.ErrUnknownOutcome), errors.Is(err, zkconn.ErrThrottled), errors.As(err, &refused) && isConflict(refused.Err):
		default:
			return res, err
		}
		if err := retry.next(ctx, steps, err); err != nil {
			return res, err
		}
		m.Say(fmt.Sprintf("looking again: %v", err))
	}
}

// roots are the tree's topmost znodes.
func roots(tree *znode.Tree) []string {
	var roots []string
	for _, name := range tree.Children("/") {
		roots = append(roots, "/"+name)
	}
	return roots
}

// compare finds what is missing, parents first.
func (res *Restored) compare(tree, there *znode.Tree) (missing []*znode.Node, err error) {
	var other []string
	for n := range tree.All("/") {
		got := there.Get(n.Path)
		switch {
		case n.Path == "/":
			if len(n.Data) > 0 {
				res.Warnings = append(res.Warnings, Warning{"/", "the root's own data is not restored"})
			}
		case n.Stat.EphemeralOwner != 0:
			res.Ephemerals = append(res.Ephemerals, n.Path)
		case got == nil:
			missing = append(missing, n)
		case znode.SameData(got.Data, n.Data) && mayHaveACL(tree, n, got.ACL):
			res.There++
		default:
			other = append(other, n.Path)
		}
	}
	if len(other) > 0 {
		more := ""
		if len(other) > 1 {
			more = fmt.Sprintf(" and %d more", len(other)-1)
		}
		return nil, fmt.Errorf("%w: %s%s; nothing was written; restore into an empty chroot, or remove them first", ErrOtherData, other[0], more)
	}
	return missing, nil
}

// restore creates what is missing and advances the counters.
func (m *Migrator) restore(ctx context.Context, w *zkconn.Writer, res *Restored, tree, there *znode.Tree, missing []*znode.Node, created *int, budget int) (steps int, err error) {
	creates := map[string]int64{} // by parent
	for _, n := range missing {
		creates[znode.Parent(n.Path)]++
	}
	counters := res.counters(tree, there, creates)
	total := len(missing)
	for _, b := range counters {
		total += int(b.by)
	}
	units := func(yield func(unit) bool) {
		for _, n := range missing {
			op := znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data}
			if len(tree.Children(n.Path)) == 0 {
				op.ACL = aclOf(n) // a parent gets its ACL last, see restrict
			}
			if !yield(unit{ops: []znode.Op{op}, count: 1}) {
				return
			}
		}
		for _, b := range counters {
			for range b.by {
				u := advanceUnit(b.parent)
				u.count = 1
				if !yield(u) {
					return
				}
			}
		}
	}
	start := func(ctx context.Context, t unit) <-chan error { return online{w}.Start(ctx, t.ops) }
	items, report := 0, phases(ctx)
	_, err = m.pipeline(ctx, pack(units, budget, m.MaxOps, len(w.Address().Chroot)), start, func(t unit) {
		steps++
		items += t.count
		*created += netCreates(t.ops)
		m.Progress(items, total)
		report(Restoring, items, total)
	})
	return steps, err
}

func aclOf(n *znode.Node) []znode.ACL {
	if len(n.ACL) == 0 {
		return nil
	}
	return n.ACL
}

// sequential matches the number at the end of a sequential child's name: ten digits, and a
// sign if the counter has wrapped.
var sequential = regexp.MustCompile(`(-?\d{10})$`)

// counters says how far each parent's counter must be advanced.
func (res *Restored) counters(tree, there *znode.Tree, creates map[string]int64) []counterAdvance {
	var advances []counterAdvance
	for n := range tree.All("/") {
		if n.Stat.EphemeralOwner != 0 || n.Path == "/" {
			continue
		}
		was := int64(0)
		if n.Stat.Czxid != 0 {
			next, _ := n.Stat.NextSequence()
			was = int64(next)
		}
		for _, name := range tree.Children(n.Path) {
			if match := sequential.FindString(name); match != "" {
				seq, err := strconv.ParseInt(match, 10, 64)
				if err == nil && seq >= 0 && seq < math.MaxInt32 {
					was = max(was, seq+1)
				}
			}
		}
		is := creates[n.Path]
		if got := there.Get(n.Path); got != nil {
			next, _ := got.Stat.NextSequence()
			is += int64(next)
		}
		switch behind := was - is; {
		case behind <= 0:
		case behind > maxAdvance:
			res.Warnings = append(res.Warnings, Warning{n.Path, fmt.Sprintf("its sequence counter stays %d behind what it was: new sequential children will sort before those restored", behind)})
		default:
			res.Counters += behind
			advances = append(advances, counterAdvance{n.Path, behind})
		}
	}
	return advances
}

// netCreates is how many znodes the operations leave. A counter is advanced by creating a
// znode and deleting it.
func netCreates(ops []znode.Op) int {
	n := 0
	for _, op := range ops {
		switch op.Kind {
		case znode.OpCreate:
			n++
		case znode.OpDelete:
			n--
		}
	}
	return n
}

// hasRestrictedACL reports whether any znode of the tree has an ACL that isn't open.
func hasRestrictedACL(tree *znode.Tree) bool {
	for n := range tree.All("/") {
		if !znode.IsOpenACL(n.ACL) {
			return true
		}
	}
	return false
}

// mayHaveACL reports whether an existing znode may have this ACL: the dump's or, for a
// parent, the open ACL that an interrupted restore left.
func mayHaveACL(tree *znode.Tree, n *znode.Node, acl []znode.ACL) bool {
	if sameACL(n.ACL, acl) {
		return true
	}
	return znode.IsOpenACL(acl) && len(tree.Children(n.Path)) > 0
}

func sameACL(a, b []znode.ACL) bool {
	return znode.IsOpenACL(a) && znode.IsOpenACL(b) || slices.Equal(a, b)
}

// setParentACLs gives parents their ACLs, from the bottom up, after everything below them was
// created. A parent's ACL may forbid the restore to write below it.
func setParentACLs(ctx context.Context, w *zkconn.Writer, tree, there *znode.Tree) error {
	paths := tree.Paths("/")
	slices.Reverse(paths)
	for _, path := range paths {
		n := tree.Get(path)
		if znode.IsOpenACL(n.ACL) || len(tree.Children(path)) == 0 || path == "/" {
			continue
		}
		if got := there.Get(path); got != nil && sameACL(n.ACL, got.ACL) {
			continue
		}
		if err := w.SetACL(ctx, path, n.ACL); err != nil {
			return err
		}
	}
	return nil
}
