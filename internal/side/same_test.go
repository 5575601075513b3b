package side_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/side"
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
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
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
	tree.SetDefaultStats(0)
	return tree
}

// shows is a znode as text, for a comparison. It may leave out what a side doesn't
// have.
type shows func(znode.Node) string

// everything shows all that callers see of a znode.
func everything(n znode.Node) string {
	return fmt.Sprintf("%s %t %q %v %v %q", n.Path, n.Data == nil, n.Data, n.Stat, n.ACL, n.Unreadable)
}

// same compares a side with a tree in memory: each znode, each list of children,
// subtrees in several orders, and walks.
func same(t *testing.T, got side.Side, tree *znode.Tree, show shows) {
	t.Helper()
	ctx, want := t.Context(), side.Tree(tree)
	paths := append(tree.Paths("/"), "/nothing", "/a/nothing", "/a-b/wide/n00000/below/x", "/zzz")
	for _, path := range paths {
		n, err := got.Get(ctx, path)
		m, werr := want.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) != (werr != nil) || err == nil && show(n) != show(m) {
			t.Fatalf("Get of %s gives %s, %v; want %s, %v", path, show(n), err, show(m), werr)
		}
		names, err := got.Children(ctx, path)
		wanted, werr := want.Children(ctx, path)
		if errors.Is(err, znode.ErrNoNode) != (werr != nil) || !slices.Equal(names, wanted) {
			t.Fatalf("Children of %s gives %.200q, %v; want %.200q, %v", path, names, err, wanted, werr)
		}
	}
	backwards := slices.Clone(paths)
	slices.Reverse(backwards)
	byChance := slices.Clone(paths)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(byChance), func(i, j int) { byChance[i], byChance[j] = byChance[j], byChance[i] })
	for _, roots := range [][]string{paths, backwards, byChance, nil} {
		a, b := subtrees(t, got, roots, show), subtrees(t, want, roots, show)
		if !slices.Equal(a, b) {
			i := 0
			for i < len(a) && i < len(b) && a[i] == b[i] {
				i++
			}
			t.Fatalf("Subtrees differs at %d of %d and %d:\n%.300s\n%.300s", i, len(a), len(b), at(a, i), at(b, i))
		}
	}
	for _, path := range []string{"/", "/a", "/a-b", "/a-b/wide", "/nothing"} {
		a, b := nodes(t, got.Walk(ctx, path), show), nodes(t, want.Walk(ctx, path), show)
		if !slices.Equal(a, b) {
			i := 0
			for i < len(a) && i < len(b) && a[i] == b[i] {
				i++
			}
			t.Fatalf("Walk of %s differs at %d of %d and %d:\n%.300s\n%.300s", path, i, len(a), len(b), at(a, i), at(b, i))
		}
	}
	for range got.Walk(ctx, "/") { // a caller that stops the walk is not called again
		break
	}
	for range got.Subtrees(ctx, slices.Values(paths)) {
		break
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "the end"
}

func subtrees(t *testing.T, s side.Side, roots []string, show shows) []string {
	t.Helper()
	var all []string
	for sub, err := range s.Subtrees(t.Context(), slices.Values(roots)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("root %s %t", sub.Root, sub.Missing()))
		for _, n := range sub.Nodes {
			all = append(all, show(n))
		}
	}
	return all
}

func nodes(t *testing.T, walk iter.Seq2[znode.Node, error], show shows) []string {
	t.Helper()
	var all []string
	for n, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, show(n))
	}
	return all
}

// ends checks that a side ends with its context.
func ends(t *testing.T, s side.Side) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	_, err := s.Get(ctx, "/a")
	errs = append(errs, err)
	_, err = s.Children(ctx, "/a")
	errs = append(errs, err)
	for _, err = range s.Subtrees(ctx, slices.Values([]string{"/a", "/b"})) {
	}
	errs = append(errs, err)
	for _, err = range s.Walk(ctx, "/") {
	}
	for _, err := range append(errs, err) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("an interrupted call ended with %v", err)
		}
	}
}

// dumpOf returns a tree's dump.
func dumpOf(t *testing.T, tree *znode.Tree) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := znode.WriteDump(&b, tree); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
