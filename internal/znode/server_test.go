package znode_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// A real server does with random transactions what Tree.Multi does: the same
// ones fail, of the same operation, and the same nodes are left with the same
// counters.
func TestMultiAsServer(t *testing.T) {
	w := open(t)
	round, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		root := fmt.Sprintf("/multi%d", round)
		tree, order := znode.NewTree(), zxids{}
		multis := append([][]znode.Op{{znode.Create(root, nil)}}, drawMultis(rt, root)...)
		for i, ops := range multis {
			want, got := tree.Multi(ops, someTime), w.Multi(t.Context(), ops)
			if outcome(want) != outcome(got) {
				rt.Fatalf("multi %d, %v: the tree says %v, the server %v", i, ops, want, got)
			}
			if want != nil {
				failed++
			}
		}
		real, err := w.Tree(t.Context(), zkconn.TreeOptions{Roots: []string{root}})
		if err != nil {
			rt.Fatal(err)
		}
		if d := znode.Diff(tree, real, root); d != nil {
			rt.Fatalf("the server's nodes differ: %v", d)
		}
		for n := range tree.All(root) {
			r := real.Get(n.Path).Stat
			if want, got := counters(n.Stat), counters(r); want != got {
				rt.Fatalf("%s: the server has %+v, the tree %+v", n.Path, got, want)
			}
			for _, z := range [][2]int64{{n.Stat.Czxid, r.Czxid}, {n.Stat.Mzxid, r.Mzxid}, {n.Stat.Pzxid, r.Pzxid}} {
				if err := order.add(z[0], z[1]); err != nil {
					rt.Fatalf("%s: %v", n.Path, err)
				}
			}
		}
	})
	if failed == 0 {
		t.Error("no transaction failed: nothing was shown about those")
	}
}

// outcome is a multi's result without the words: which operation failed of what.
func outcome(err error) string {
	var me *znode.MultiError
	if !errors.As(err, &me) {
		return fmt.Sprint(err)
	}
	for _, s := range []error{znode.ErrNoNode, znode.ErrNodeExists, znode.ErrNotEmpty, znode.ErrBadVersion} {
		if errors.Is(err, s) {
			return fmt.Sprintf("operation %d: %v", me.Index, s)
		}
	}
	return fmt.Sprintf("operation %d: unexpected %v", me.Index, me.Err)
}

// counters is what of a Stat doesn't depend on the server's clock and history.
func counters(s znode.Stat) znode.Stat {
	return znode.Stat{Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion, DataLength: s.DataLength, NumChildren: s.NumChildren}
}

// zxids maps a tree's transaction ids to a server's, which must come in the
// same order.
type zxids map[int64]int64

func (z zxids) add(tree, server int64) error {
	z[tree] = max(z[tree], server)
	for t, s := range maps.All(z) {
		if (t < tree) != (s < server) || (t == tree) != (s == server) {
			return fmt.Errorf("transaction %d of the tree is %#x on the server, but %d is %#x", tree, server, t, s)
		}
	}
	return nil
}

// The server, too, refuses to create or delete the root and to give an
// ephemeral node children.
func TestSpecialParentsAsServer(t *testing.T) {
	w := open(t)
	for _, op := range []znode.Op{znode.Create("/", nil), znode.Delete("/", -1)} {
		err := w.Multi(t.Context(), []znode.Op{op})
		if tree := znode.NewTree().Multi([]znode.Op{op}, someTime); tree == nil || err == nil {
			t.Errorf("%v: the tree says %v, the server %v", op, tree, err)
		}
	}
	path, err := w.CreateEphemeral(t.Context(), "/eph-", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Multi(t.Context(), []znode.Op{znode.Create(path+"/x", nil)}); !errors.Is(err, znode.ErrEphemeralParent) {
		t.Errorf("below an ephemeral node: %v", err)
	}
}

// 04-migration, "One job, one transaction": any create advances the counter, 8
// explicit ones make the next sequential child number 8, and deletes don't move it.
func TestNextSequenceAsServer(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	step := func(what string, want int32, ops ...znode.Op) {
		t.Helper()
		if len(ops) > 0 {
			if err := w.Multi(ctx, ops); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		n, err := w.Get(ctx, "/seq")
		if err != nil {
			t.Fatal(err)
		}
		if next, left := n.Stat.NextSequence(); next != want || left != 1<<31-int64(want) {
			t.Errorf("%s: the forecast is %d (%d left), want %d", what, next, left, want)
		}
	}
	step("new", 0, znode.Create("/seq", nil))
	var creates []znode.Op
	for i := range 8 {
		creates = append(creates, znode.Create(fmt.Sprintf("/seq/c%d", i), nil))
	}
	step("8 explicit creates", 8, creates...)
	step("deletes", 8, znode.Delete("/seq/c0", -1), znode.Delete("/seq/c7", -1))
	sequential := func(want string) {
		t.Helper()
		path, err := w.CreateEphemeral(ctx, "/seq/s-", nil)
		if err != nil {
			t.Fatal(err)
		}
		if path != want {
			t.Errorf("the server made %s, want %s", path, want)
		}
	}
	sequential("/seq/s-0000000008")
	step("a sequential create", 9)
	step("grandchildren", 9, znode.Create("/seq/c1/x", nil), znode.Delete("/seq/c1/x", -1))
	step("data", 9, znode.Set("/seq", []byte("x"), -1))
	step("create and delete at once", 10, znode.Create("/seq/y", nil), znode.Delete("/seq/y", -1))
	sequential("/seq/s-0000000010")
	if err := w.Multi(ctx, []znode.Op{znode.Create("/seq/z", nil), znode.Check("/nowhere", -1)}); err == nil {
		t.Error("a check of nothing succeeded")
	}
	step("a create that failed", 11)
}
