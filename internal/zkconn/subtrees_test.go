package zkconn_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// drawTree is a tree with names that sort in unexpected ways: what is below "a"
// comes after "a-b", and both are siblings. wide is how many leaves one of its
// znodes has.
func drawTree(t *testing.T, rnd *rand.Rand, wide int) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	put := func(path string) {
		n := znode.Node{Path: path, Data: [][]byte{nil, {}, []byte("x"), []byte(strings.Repeat("long ", 1000))}[rnd.IntN(4)]}
		must(t, tree.Put(n))
	}
	names := []string{"a", "a-b", "a b", "a.b", "a0", "b", "ä", "mrtQ-0000000001", "a-b-c"}
	for range 60 {
		path := ""
		for range 1 + rnd.IntN(4) {
			path += "/" + names[rnd.IntN(len(names))]
		}
		put(path)
	}
	for i := range wide {
		put(fmt.Sprintf("/a-b/wide/n%05d", i))
		if i%50 == 0 {
			put(fmt.Sprintf("/a-b/wide/n%05d/below", i))
			put(fmt.Sprintf("/a-b/wide/n%05d-", i))
		}
	}
	return tree
}

func load(t *testing.T, w *zkconn.Writer, tree *znode.Tree) {
	t.Helper()
	var ops []znode.Op
	for n := range tree.All("/") {
		if n.Path != "/" {
			ops = append(ops, znode.Create(n.Path, n.Data))
		}
	}
	for chunk := range slices.Chunk(ops, 100) {
		multi(t, w, chunk...)
	}
}

func show(n znode.Node) string {
	return fmt.Sprintf("%s %t %.9q %v %v %q", n.Path, n.Data == nil, n.Data, n.Stat, n.ACL, n.Unreadable)
}

// TestSubtreesAndWalk: subtrees and walks have the znodes and ACLs that Get and Children
// have, in byte order of the paths. Roots can be missing, or in any order.
func TestSubtreesAndWalk(t *testing.T) {
	w, _ := setup(t, zkconn.Config{})
	tree := drawTree(t, rand.New(rand.NewPCG(3, 3)), 300)
	load(t, w, tree)
	must(t, w.SetACL(t.Context(), "/a-b/wide", []znode.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "ip", ID: "127.0.0.1"}}))
	for name, r := range map[string]*zkconn.Reader{"no ACLs": &w.Reader, "all ACLs": w.WithACLs()} {
		t.Run(name, func(t *testing.T) { compare(t, r, tree) })
	}
}

func compare(t *testing.T, r *zkconn.Reader, tree *znode.Tree) {
	ctx := t.Context()
	paths := slices.Sorted(slices.Values(tree.Paths("/")))
	want := map[string]string{}
	for _, path := range paths {
		n, err := r.Get(ctx, path)
		if err != nil || !znode.SameData(n.Data, tree.Get(path).Data) && path != "/" {
			t.Fatalf("Get of %s gives %s, %v", path, show(n), err)
		}
		want[path] = show(n)
		names, err := r.Children(ctx, path)
		if err != nil || !slices.Equal(names, tree.Children(path)) {
			t.Fatalf("Children of %s gives %.200q, %v; want %.200q", path, names, err, tree.Children(path))
		}
	}
	within := func(root string) (shown []string) {
		for _, path := range paths {
			if znode.Within(path, root) {
				shown = append(shown, want[path])
			}
		}
		return shown
	}
	roots := append(slices.Clone(paths), "/nothing", "/a/nothing", "/a-b/wide/n00000/below/x", "/zzz")
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
	i := 0
	for sub, err := range r.Subtrees(ctx, slices.Values(roots)) {
		if err != nil || sub.Root != roots[i] {
			t.Fatalf("%s instead of %s, %v", sub.Root, roots[i], err)
		}
		if got, want := shown(t, each(sub.Nodes)), within(roots[i]); !slices.Equal(got, want) || sub.Missing() != (len(want) == 0) {
			t.Fatalf("Subtree of %s: %s, want %s", roots[i], got, want)
		}
		i++
	}
	if i != len(roots) {
		t.Errorf("%d subtrees, want %d", i, len(roots))
	}
	for _, root := range []string{"/", "/a", "/a-b", "/a-b/wide", "/nothing"} {
		if got, want := shown(t, r.Walk(ctx, root)), within(root); !slices.Equal(got, want) {
			t.Fatalf("Walk of %s: %s, want %s", root, got, want)
		}
	}
	for range r.Walk(ctx, "/") { // a caller that stops is not called again
		break
	}
	for range r.Subtrees(ctx, slices.Values(roots)) {
		break
	}
}

func each(nodes []znode.Node) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		for _, n := range nodes {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func shown(t *testing.T, nodes iter.Seq2[znode.Node, error]) (all []string) {
	t.Helper()
	for n, err := range nodes {
		must(t, err)
		all = append(all, show(n))
	}
	return all
}

func embedded(t *testing.T) (*minizk.Server, *zkconn.Writer) {
	t.Helper()
	shared.NoLeak(t)
	s := value(minizk.Start(minizk.Options{}))(t)
	t.Cleanup(func() { s.Close() })
	return s, openWriter(t, zkconn.Config{Address: zkconn.Address{Servers: []string{s.Addr()}}})
}

func records(t *testing.T, w *zkconn.Writer, n int) (roots []string) {
	t.Helper()
	tree := znode.NewTree()
	for i := range n {
		path := fmt.Sprintf("/q/n%05d", i)
		roots = append(roots, path)
		must(t, tree.Put(znode.Node{Path: path, Data: []byte("x")}))
	}
	load(t, w, tree)
	return roots
}

// TestLeavesAreReadOnce: the Stat of a leaf says that it has no children, and many
// leaves are read in one request.
func TestLeavesAreReadOnce(t *testing.T) {
	shared.LargeParts(t)
	s, w := embedded(t)
	roots := records(t, w, 500)
	s.ResetCounts()
	for _, err := range w.Subtrees(t.Context(), slices.Values(roots)) {
		must(t, err)
	}
	if reads := s.Counts().Reads; reads > int64(len(roots)/16) {
		t.Errorf("%d leaves took %d requests", len(roots), reads)
	}
}

// TestSlowConsumer: while the caller is busy, only a limited amount is read
// ahead.
func TestSlowConsumer(t *testing.T) {
	_, w := embedded(t)
	roots := records(t, w, 2000)
	var pulled atomic.Int64
	counted := func(yield func(string) bool) {
		for _, root := range roots {
			pulled.Add(1)
			if !yield(root) {
				return
			}
		}
	}
	const ahead = 128
	seen := int64(0)
	for _, err := range w.Subtrees(t.Context(), counted) {
		must(t, err)
		seen++
		if p := pulled.Load(); p > seen+ahead {
			t.Fatalf("%d roots were pulled when the caller had seen %d", p, seen)
		}
		if seen > 1000 {
			break
		}
	}
}
