package ztree

import (
	"slices"
	"testing"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func loaded(t *testing.T, nodes ...znode.Node) *Database {
	t.Helper()
	tree := znode.NewTree()
	for _, n := range nodes {
		if err := tree.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	return New(tree, false)
}

// TestCounterStopsAtItsEnd: past 2^31-1 creates the counter neither wraps nor grows, so the
// next sequential child's name exists already. No conformance run can create so many nodes.
func TestCounterStopsAtItsEnd(t *testing.T) {
	tree := loaded(t, znode.Node{Path: "/q", Stat: znode.Stat{Cversion: -4}}) // 2*(2^31-2) in 32 bits
	create := &jute.Request{Op: jute.OpCreate, Path: "/q/n", ACL: znode.OpenACL(), Flags: jute.ModeSequential}
	for i, want := range []string{"/q/n2147483646", "/q/n2147483647"} {
		res, err := tree.Do(Tx{Zxid: int64(i + 1)}, Caller{}, create)
		if err != nil || res.Path != want {
			t.Fatalf("create %d: %s, %v, want %s", i, res.Path, err, want)
		}
	}
	if _, err := tree.Do(Tx{Zxid: 3}, Caller{}, create); err != jute.NodeExists {
		t.Fatalf("third create: %v, want NodeExists", err)
	}
}

// TestLoad: in any order, with and without Stats, a dump gives the same tree.
func TestLoad(t *testing.T) {
	stat := znode.Stat{Czxid: 3, Mzxid: 4, Pzxid: 9, Ctime: 5, Mtime: 6, Version: 7, Cversion: 9, Aversion: 8, DataLength: 99, NumChildren: 5}
	nodes := []znode.Node{
		{Path: "/", Data: []byte("root")},
		{Path: "/a", Data: nil, Stat: stat},
		{Path: "/a-", Data: []byte{}, ACL: []znode.ACL{{Perms: 1, Scheme: "digest", ID: "u:h"}}},
		{Path: "/a/b", Data: []byte{}},
		{Path: "/a/b/c", Data: []byte{}},
		{Path: "/lock", Data: []byte{}, Stat: znode.Stat{Czxid: 2, EphemeralOwner: 77}},
		{Path: "/secret", Stat: znode.Stat{Czxid: 2, DataLength: 12, NumChildren: 3, Cversion: 3}, Unreadable: "not allowed"},
		{Path: "/zookeeper/quota", Data: []byte("mine")},
	}
	stat.DataLength, stat.NumChildren, stat.Cversion = 0, 1, 2*7-1 // 7 creates
	want := slices.Clone(nodes[:7])
	for i, s := range map[int]znode.Stat{
		0: {DataLength: 4, NumChildren: 5, Cversion: 2*4 - 5}, 1: stat, 3: {NumChildren: 1, Cversion: 1},
	} {
		want[i].Stat = s
	}
	lines := ""
	for _, n := range want {
		if n.ACL == nil {
			n.ACL = znode.OpenACL()
		}
		lines += line(n)
	}
	made := slices.Delete(slices.Clone(nodes), 3, 4) // the parent of /a/b/c is made up
	for name, order := range map[string][]znode.Node{"sorted": nodes, "reversed": reversed(nodes), "without a parent": made, "again": want} {
		tree := loaded(t, order...)
		if got := image(tree.Snapshot()); got != lines {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, lines)
		}
		if b := tree.broken(); b != "" {
			t.Errorf("%s: %s", name, b)
		}
		if tree.Zxid() != 9 || !slices.Equal(tree.Owners(), []int64{77}) {
			t.Errorf("%s: zxid %d, owners %v", name, tree.Zxid(), tree.Owners())
		}
		who := Caller{IDs: []jute.ID{Super}}
		for _, err := range []error{
			second(tree.GetData(who, "/secret", nil)), second(tree.GetACL(who, "/secret")), second(tree.AppendChildren(nil, who, "/secret", nil)),
		} {
			if err != jute.NoAuth {
				t.Errorf("%s: an unreadable node was read: %v", name, err)
			}
		}
		if s, err := tree.Exists("/secret", nil); err != nil || s.NumChildren != 3 || s.DataLength != 12 || s.Cversion != 3 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if _, _, err := tree.GetData(who, "/a-", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[A, B any](_ A, _ B, err error) error { return err }

func reversed(nodes []znode.Node) []znode.Node {
	out := slices.Clone(nodes)
	slices.Reverse(out)
	return out
}
