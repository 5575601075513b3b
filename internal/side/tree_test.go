package side_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

func TestTree(t *testing.T) {
	tree := znode.NewTree()
	for _, path := range []string{"/q/a/x", "/q/a-b", "/q/b"} {
		if err := tree.Put(znode.Node{Path: path, Data: []byte(path)}); err != nil {
			t.Fatal(err)
		}
	}
	s, ctx := side.Tree(tree), context.Background()
	if n, err := s.Get(ctx, "/q/b"); err != nil || string(n.Data) != "/q/b" {
		t.Errorf("Get gives %v, %v", n, err)
	}
	if _, err := s.Get(ctx, "/q/c"); !errors.Is(err, znode.ErrNoNode) {
		t.Errorf("Get of a missing znode: %v", err)
	}
	if names, err := s.Children(ctx, "/q"); err != nil || !slices.Equal(names, []string{"a", "a-b", "b"}) {
		t.Errorf("Children gives %v, %v", names, err)
	}
	if _, err := s.Children(ctx, "/q/c"); !errors.Is(err, znode.ErrNoNode) {
		t.Errorf("Children of a missing znode: %v", err)
	}
	var got []string
	for sub, err := range s.Subtrees(ctx, slices.Values([]string{"/q/b", "/q/c", "/q/a"})) {
		if err != nil {
			t.Fatal(err)
		}
		if sub.Missing() {
			got = append(got, sub.Root+" is missing")
		}
		for _, n := range sub.Nodes {
			got = append(got, n.Path)
		}
	}
	if want := []string{"/q/b", "/q/c is missing", "/q/a", "/q/a/x"}; !slices.Equal(got, want) {
		t.Errorf("Subtrees gives %v, want %v", got, want)
	}
}

func TestTreeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for _, err := range side.Tree(znode.NewTree()).Subtrees(ctx, slices.Values([]string{"/"})) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("Subtrees ends with %v", last)
	}
}
