package ztree

import (
	"errors"
	"slices"
	"testing"

	"mrtq/internal/jute"
)

// TestCounterStopsAtItsEnd: past 2^31-1 creates the counter neither wraps nor grows, so the
// next sequential child's name exists already. No conformance run can create so many nodes.
func TestCounterStopsAtItsEnd(t *testing.T) {
	tree, err := New(true).Restored(func(yield func(Node) bool) {
		yield(Node{Path: "/q", Stat: jute.Stat{Cversion: -4}}) // 2*(2^31-2) in 32 bits
	})
	if err != nil {
		t.Fatal(err)
	}
	all := []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
	for i, want := range []string{"/q/n2147483646", "/q/n2147483647"} {
		path, _, err := tree.Create(Tx{Zxid: int64(i + 1)}, Caller{}, jute.OpCreate, jute.CreateRequest{Path: "/q/n", ACL: all, Flags: jute.ModeSequential, TTL: -1})
		if err != nil || path != want {
			t.Fatalf("create %d: %s, %v, want %s", i, path, err, want)
		}
	}
	_, _, err = tree.Create(Tx{Zxid: 3}, Caller{}, jute.OpCreate, jute.CreateRequest{Path: "/q/n", ACL: all, Flags: jute.ModeSequential, TTL: -1})
	if err != jute.NodeExists {
		t.Fatalf("third create: %v, want NodeExists", err)
	}
}

func TestRestoredErrors(t *testing.T) {
	for name, c := range map[string]struct {
		nodes []Node
		want  error
	}{
		"no parent": {[]Node{{Path: "/a/b"}}, jute.NoNode},
		"bad path":  {[]Node{{Path: "/a/"}}, jute.BadArguments},
		"twice":     {[]Node{{Path: "/a"}, {Path: "/a"}}, jute.NodeExists},
		// The end of its session would delete other sessions' nodes, or leave them without a
		// parent.
		"ephemeral parent": {[]Node{{Path: "/a", Stat: jute.Stat{EphemeralOwner: 1}}, {Path: "/a/b", Stat: jute.Stat{EphemeralOwner: 2}}}, jute.NoChildrenForEph},
	} {
		if tree, err := New(true).Restored(slices.Values(c.nodes)); tree != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
