package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Errors of setting and releasing holds.
var (
	// ErrNoQueue says that a target has no new queue, so there is nothing to hold.
	ErrNoQueue = errors.New("there is no new queue here")
	// ErrHoldsChanged says that holds or the newest run have changed since they were
	// read.
	ErrHoldsChanged = errors.New("the holds or the newest run changed meanwhile")
)

// HoldNote is the data of a hold that mrtq hold sets. A queue is held while the hold's
// znode exists. The deployed services and newqueue don't read its data.
type HoldNote struct {
	By  string    `json:"by"`
	At  time.Time `json:"at"`
	Why string    `json:"why,omitempty"`
}

// Encode returns the note as a znode's data.
func (n HoldNote) Encode() []byte {
	b, err := json.Marshal(n)
	if err != nil {
		panic("migrate: a HoldNote is always JSON: " + err.Error())
	}
	return b
}

// ParseHoldNote reads a hold's data; ok is false if mrtq hold didn't write it.
func ParseHoldNote(data []byte) (n HoldNote, ok bool) {
	err := json.Unmarshal(data, &n)
	return n, err == nil && n.By != "" && !n.At.IsZero()
}

// Hold is one hold on a queue or a collection of a target.
type Hold struct {
	Path string `json:"path"`
	// By is the run that set it, or who set it with mrtq hold; "" if neither did.
	By    string    `json:"by"`
	Since time.Time `json:"since,omitzero"` // when it was set; zero if a dump does not say
	Why   string    `json:"why,omitempty"`

	// CoversRun reports whether it has held the queue since the newest run: it was set before
	// that run ended, or the run has not ended. If the records of the runs are damaged,
	// that is not known, and CoversRun is true.
	CoversRun bool `json:"-"`

	node *znode.Node
}

// Holds are the holds of a target at the time when they were read.
type Holds struct {
	List []Hold // on queues, then on collections
	// Damaged reports whether the record of a run is damaged or gone.
	Damaged bool
	tree    *znode.Tree
	newest  *Run
}

// holdRoots are the subtrees that are read to set or release a hold.
var holdRoots = []string{newqueue.QueueLocksPath, newqueue.CollectionLocksPath, RunsPath}

// ReadHolds reads the holds of a target. The error wraps ErrNoQueue if the target
// has nothing that could be held.
func ReadHolds(ctx context.Context, s side.Side) (*Holds, error) {
	sk := skeleton{ctx: ctx, side: s, tree: znode.NewTree()}
	for _, path := range []string{newqueue.LocksPath, newqueue.JobsPath} {
		// Only its existence counts, and a client without permission to read it sees
		// that too.
		if sk.readNode(path); errors.Is(sk.err, zkconn.ErrNoAuth) {
			sk.err = sk.tree.Put(znode.Node{Path: path})
		}
	}
	for _, root := range holdRoots {
		sk.readSubtree(root)
	}
	if sk.err != nil {
		return nil, sk.err
	}
	return HoldsIn(sk.tree)
}

// holds reads the holds of the target as of now.
func (t *Target) holds(ctx context.Context) (*Holds, error) {
	if err := t.Sync(ctx); err != nil {
		return nil, err
	}
	return ReadHolds(ctx, t.Side(nil))
}

// HoldsIn returns the holds in a tree; see [ReadHolds].
func HoldsIn(tree *znode.Tree) (*Holds, error) {
	if tree.Get(newqueue.JobsPath) == nil && tree.Get(newqueue.LocksPath) == nil {
		return nil, fmt.Errorf("%w: it has neither %s nor %s", ErrNoQueue, newqueue.JobsPath, newqueue.LocksPath)
	}
	h := &Holds{tree: tree}
	var runs []Run
	for _, name := range tree.Children(RunsPath) {
		// Status, verify and rebuild say what is damaged.
		if r, err := parseRun(tree.Get(znode.Join(RunsPath, name))); err == nil {
			runs = append(runs, r)
		} else if IsRun(name) {
			h.Damaged = true
		}
	}
	trace, _ := readTrace(tree)
	for _, r := range trace.Runs {
		h.Damaged = h.Damaged || tree.Get(znode.Join(RunsPath, r.ID)) == nil
	}
	slices.SortFunc(runs, func(a, b Run) int { return int(a.number()) - int(b.number()) })
	if len(runs) > 0 {
		h.newest = &runs[len(runs)-1]
	}
	h.List = listHolds(tree, runs)
	for i := range h.List {
		h.List[i].CoversRun = h.List[i].CoversRun || h.Damaged
	}
	return h, nil
}

// Newest returns the newest run of the target. ok is false if there is none.
func (h *Holds) Newest() (r Run, ok bool) {
	if h.newest == nil {
		return Run{}, false
	}
	return *h.newest, true
}

// listHolds returns the holds in a tree, on queues and then on collections. The runs
// must be in order.
func listHolds(tree *znode.Tree, runs []Run) (holds []Hold) {
	var paths []string
	for _, q := range newqueue.QueueHolds {
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	for _, name := range tree.Children(newqueue.CollectionLocksPath) {
		paths = append(paths, znode.Join(newqueue.CollectionLocksPath, name))
	}
	for _, path := range paths {
		if n := tree.Get(path); n != nil {
			hold := newHold(n, runs)
			hold.CoversRun = hold.CoversRun || covers(runs, n)
			holds = append(holds, hold)
		}
	}
	return holds
}

// covers reports whether a hold covers the newest of the runs; see [Hold.CoversRun].
func covers(runs []Run, n *znode.Node) bool {
	if len(runs) == 0 {
		return false
	}
	r := runs[len(runs)-1]
	return r.State != RunRolledBack && (!r.ended() || n.Stat.Czxid <= r.stat.Mzxid)
}

// Set returns the operations that put a hold on each path that has none. A hold gets the
// newest run's ACL, so a client that may write to that run may also lift the hold.
func (h *Holds) Set(paths []string, note HoldNote) []znode.Op {
	var acl []znode.ACL
	if h.newest != nil {
		acl = h.newest.ACL
	}
	var ops []znode.Op
	added := map[string]bool{}
	add := func(path string, data []byte) {
		if h.tree.Get(path) == nil && !added[path] {
			added[path] = true
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: data, ACL: acl})
		}
	}
	for _, path := range paths {
		folder := znode.Parent(path)
		add(znode.Parent(folder), none)
		add(folder, note.Encode()) // the note says who created the folder
		add(path, note.Encode())
	}
	return ops
}

// lift returns the operations that remove holds. The error wraps ErrHoldsChanged if one
// was set again since it was read. It also does if there is a newer run since then, or if
// the newest run has written something.
func (h *Holds) lift(lifted []Hold, as *Holds) ([]znode.Op, error) {
	was, is := as.newest, h.newest
	switch {
	case (was == nil) != (is == nil), was != nil && (was.ID != is.ID || was.stat != is.stat):
		return nil, fmt.Errorf("%w: a migration or a rollback wrote to the target; verify it again", ErrHoldsChanged)
	}
	var ops []znode.Op
	for _, l := range lifted {
		n := h.tree.Get(l.Path)
		switch {
		case n == nil: // it is already released
		case n.Stat.Czxid != l.node.Stat.Czxid || n.Stat.Version != l.node.Stat.Version:
			return nil, fmt.Errorf("%w: %s was set again; find out who set it", ErrHoldsChanged, l.Path)
		default:
			ops = append(ops, znode.Delete(l.Path, n.Stat.Version))
		}
	}
	if len(ops) > 0 && is != nil {
		ops = append(ops, znode.Check(is.path(), is.stat.Version))
	}
	return ops, nil
}

// holdTries is how often a transaction is tried if other clients write first each time, or
// its answer is lost.
const holdTries = 5

// SetHolds puts a hold on each path that has none, in one transaction. It returns the
// holds that it set and those that were already there.
func (t *Target) SetHolds(ctx context.Context, paths []string, note HoldNote) (set, there []Hold, err error) {
	for range holdTries {
		var h *Holds
		if h, err = t.holds(ctx); err != nil {
			return nil, nil, err
		}
		ops := h.Set(paths, note)
		if len(ops) == 0 {
			for _, hold := range h.List {
				switch {
				case !slices.Contains(paths, hold.Path):
				case string(hold.node.Data) == string(note.Encode()):
					set = append(set, hold)
				default:
					there = append(there, hold)
				}
			}
			return set, there, nil
		}
		if err = t.Multi(ctx, ops); err != nil && !lookAgainAfter(err) {
			return nil, nil, err
		}
	}
	return nil, nil, err
}

// LiftHolds removes holds in one transaction. as is what was read when the caller chose
// them. A hold that is already gone is not an error. See [ErrHoldsChanged].
func (t *Target) LiftHolds(ctx context.Context, lifted []Hold, as *Holds) (err error) {
	for range holdTries {
		var h *Holds
		if h, err = t.holds(ctx); err != nil {
			return err
		}
		ops, refused := h.lift(lifted, as)
		if refused != nil || len(ops) == 0 {
			return refused
		}
		if err = t.Multi(ctx, ops); err != nil && !lookAgainAfter(err) {
			return err
		}
	}
	return err
}

// lookAgainAfter reports whether to read again and retry after an error: the answer was
// lost, or another client wrote first.
func lookAgainAfter(err error) bool {
	var refused *znode.MultiError
	return errors.Is(err, zkconn.ErrUnknownOutcome) || errors.As(err, &refused) && isConflict(refused.Err)
}

// HoldPaths returns the paths of the holds on queues and collections.
func HoldPaths(queues []newqueue.QueueHold, collections []string) ([]string, error) {
	var paths []string
	for _, q := range queues {
		if !slices.Contains(newqueue.QueueHolds, q) {
			return nil, fmt.Errorf("queue %q: want %s, %s or %s", q, newqueue.HoldIngest, newqueue.HoldAccessSmall, newqueue.HoldAccessLarge)
		}
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	for _, c := range collections {
		path := znode.Join(newqueue.CollectionLocksPath, c)
		if c == "" || strings.Contains(c, "/") || znode.ValidatePath(path) != nil {
			return nil, fmt.Errorf("collection %q: this can't be the name of a znode", c)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// setByAdministrator reports whether a znode is a hold that mrtq hold set, or a folder that
// it created for one. Such a znode belongs to no run, even if a run held the queue
// before.
func setByAdministrator(n *znode.Node) bool {
	if n == nil {
		return false
	}
	switch {
	case n.Path == newqueue.QueueLocksPath, n.Path == newqueue.CollectionLocksPath:
	case znode.Parent(n.Path) == newqueue.QueueLocksPath, znode.Parent(n.Path) == newqueue.CollectionLocksPath:
	default:
		return false
	}
	_, ok := ParseHoldNote(n.Data)
	return ok && n.Stat.Version == 0
}
