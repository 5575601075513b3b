package life_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// An act in one gap is the same as in the next one, if the request between them and the act touch nothing of each
// other's. So an act is tried only in those gaps whose next request it can be told from, and after the command.

type recording struct {
	dialect  newqueue.Dialect
	night    night
	requests []request
	moments  []*moment // before each change, and at the end
	changes  []touched // what each change touched
	changeAt []int     // the index of its request
	// ended are the worlds that were lived to the end, by their fingerprints.
	ended map[[32]byte]bool
}

type request struct {
	minizk.Op
	step int // how many changes come before it
}

// touched are the paths of znodes that were changed, created or deleted, and of those whose children were, with a
// slash at the end.
type touched map[string]bool

func (t touched) meets(other touched) bool {
	for path := range t {
		if other[path] {
			return true
		}
	}
	return false
}

func recorded(t *testing.T, d newqueue.Dialect, n night) *recording {
	r := &recording{dialect: d, night: n, ended: map[[32]byte]bool{}}
	story, failed := world(t, d, n, nil, func(e *explored) {
		n.before(e)
		o := e.operator()
		defer o.close()
		e.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if o.sends(op) {
				op.Paths = slices.Clone(op.Paths)
				r.requests = append(r.requests, request{op, len(r.changes)})
			}
			return false
		}})
		gate := make(chan struct{})
		hold := e.zk.Inject(minizk.Fault{On: o.sends, Do: minizk.Hold(gate)})
		done := make(chan outcome, 1)
		go func() { done <- e.command(e.ctx, o, n.command) }()
		before := e.moment()
		for over := false; !over; {
			met := hold.Matched()
			if !e.await(func() bool { return hold.Matched() > met || len(done) > 0 }) {
				e.failf("a command hangs", "%s", n.command)
			}
			over = len(done) > 0
			now := e.moment()
			if diff := differ(before.tree, now.tree); len(diff) > 0 {
				last := len(r.requests) - 1
				if !over {
					last -= hold.Matched() - met
				}
				r.moments, r.changes, r.changeAt = append(r.moments, before), append(r.changes, diff), append(r.changeAt, last)
				for i := last + 1; i < len(r.requests); i++ {
					r.requests[i].step = len(r.changes)
				}
			}
			before = now
			hold.Remove()
			next := make(chan struct{})
			hold = e.zk.Inject(minizk.Fault{On: o.sends, Do: minizk.Hold(next)})
			close(gate)
			gate = next
		}
		if out := <-done; out.error != nil && !known(out.error) {
			e.failf("a command failed", "%v", out.error)
		}
		r.moments = append(r.moments, before)
	})
	if failed != "" {
		for _, line := range story {
			t.Log(line)
		}
		t.Fatalf("%s, recorded: %s", n.name, failed)
	}
	return r
}

func differ(from, to *znode.Tree) touched {
	t := touched{}
	for n := range to.All("/") {
		switch was := from.Get(n.Path); {
		case n.Path == "/":
		case was == nil || was.Stat.Czxid != n.Stat.Czxid:
			t[n.Path], t[childrenOf(znode.Parent(n.Path))] = true, true
		case was.Stat.Version != n.Stat.Version:
			t[n.Path] = true
		}
	}
	for n := range from.All("/") {
		if to.Get(n.Path) == nil {
			t[n.Path], t[childrenOf(znode.Parent(n.Path))] = true, true
		}
	}
	return t
}

func childrenOf(path string) string { return znode.Join(path, "") }

// reads are what an operation depends on. With stats, also what a Stat says of children.
func reads(op minizk.Op, stats bool) touched {
	t := touched{}
	switch op.Code {
	case jute.OpSync:
	case jute.OpMulti, jute.OpCreate, jute.OpDelete, jute.OpSetData:
		for _, path := range append([]string{op.Path}, op.Paths...) {
			if path != "" && path != "/" {
				t[path], t[childrenOf(path)], t[znode.Parent(path)] = true, true, true
			}
		}
	case jute.OpGetChildren, jute.OpGetChildren2:
		t[op.Path], t[childrenOf(op.Path)] = true, true
	default:
		t[op.Path] = true
		if stats {
			t[childrenOf(op.Path)] = true
		}
	}
	return t
}

type footprint struct{ reads, writes touched }

// footprint lets an act happen before a change of the recording; nil if it changes nothing.
func (r *recording) footprint(t *testing.T, step int, d *deed) *footprint {
	fp := &footprint{reads: touched{}}
	story, failed := world(t, r.dialect, r.night, r.moments[step], func(e *explored) {
		watch := e.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			maps.Copy(fp.reads, reads(op, false))
			return false
		}})
		before := e.moment()
		e.act(d, nil)
		synctest.Wait()
		watch.Remove()
		after := e.moment()
		if fp.writes = differ(before.tree, after.tree); len(fp.writes) == 0 {
			fp = nil
		}
	})
	if failed != "" {
		for _, line := range story {
			t.Log(line)
		}
		t.Errorf("%s, %s, alone: %s", r.night.name, d.name, failed)
		return nil
	}
	return fp
}

// fingerprint tells worlds from each other: their trees, and what everybody knows. Two with the same one end the same. Of
// the numbers of transactions only the order counts.
func (e *explored) fingerprint() [32]byte {
	tree, h := e.tree(), sha256.New()
	var zxids []int64
	for n := range tree.All("/") {
		zxids = append(zxids, n.Stat.Czxid, n.Stat.Pzxid)
	}
	slices.Sort(zxids)
	zxids = slices.Compact(zxids)
	names := folderNames(tree)
	for n := range tree.All("/") {
		czxid, _ := slices.BinarySearch(zxids, n.Stat.Czxid)
		pzxid, _ := slices.BinarySearch(zxids, n.Stat.Pzxid)
		fmt.Fprintln(h, names.Replace(n.Path), names.Replace(string(n.Data)), n.Stat.Version, n.Stat.Cversion, n.Stat.EphemeralOwner != 0, czxid, pzxid)
	}
	fmt.Fprintln(h, names.Replace(fmt.Sprint(e.truth)), e.home, e.world.Executions(), e.words, e.busy, e.repeated, e.cleared, e.deposed, e.turn != nil)
	return [32]byte(h.Sum(nil))
}

// conflict reports whether a request can be told from an act: what one writes, the other reads or writes.
func (r *recording) conflict(k int, fp *footprint) bool {
	if reads(r.requests[k].Op, true).meets(fp.writes) {
		return true
	}
	i := slices.Index(r.changeAt, k)
	return i >= 0 && (r.changes[i].meets(fp.reads) || r.changes[i].meets(fp.writes))
}

// folderNames replaces the names of the folders for kept bytes, whose ends differ from world to world.
func folderNames(tree *znode.Tree) *strings.Replacer {
	var pairs []string
	for _, chroot := range []string{"", elsewhereAt} {
		for i, name := range folders(tree, chroot) {
			pairs = append(pairs, name, fmt.Sprint("folder ", i, " of ", chroot))
		}
	}
	return strings.NewReplacer(pairs...)
}
