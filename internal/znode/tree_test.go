package znode_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/znode"
)

func TestPut(t *testing.T) {
	tree := znode.NewTree()
	put(t, tree, znode.Node{Path: "/a/b/c", Data: []byte("c")})
	if n := tree.Get("/a/b"); n == nil || n.Data == nil || len(n.Data) != 0 {
		t.Fatalf("the parent of c: %+v", n)
	}
	put(t, tree, znode.Node{Path: "/a/b", Data: []byte("b"), Stat: znode.Stat{Czxid: 4, Mzxid: 7, Pzxid: 5}})
	put(t, tree, znode.Node{Path: "/", Data: []byte("root")})
	if b := tree.Get("/a/b"); string(b.Data) != "b" || !reflect.DeepEqual(tree.Children("/a/b"), []string{"c"}) {
		t.Errorf("after replacing it: %+v with children %q", b, tree.Children("/a/b"))
	}
	if string(tree.Get("/").Data) != "root" || tree.Len() != 4 || tree.Zxid() != 7 {
		t.Errorf("%d nodes, zxid %d", tree.Len(), tree.Zxid())
	}
	if err := tree.Put(znode.Node{Path: "a"}); message(err) != `invalid znode path "a": it must start with /` {
		t.Errorf("%v", err)
	}
	if c := tree.Children("/nowhere"); c != nil || tree.Children("/a/b/c") != nil {
		t.Errorf("children of a node without children: %q", c)
	}
	if p := tree.Paths("/nowhere"); p != nil {
		t.Errorf("paths below nothing: %q", p)
	}
}

// Put doesn't copy the children of a node from another tree.
func TestPutFromAnotherTree(t *testing.T) {
	from, to := readDump(t, `{"path":"/a/b","data":null}`), znode.NewTree()
	put(t, to, *from.Get("/a"))
	if c := to.Children("/a"); c != nil {
		t.Fatalf("Put copied the children %q", c)
	}
	put(t, to, znode.Node{Path: "/a/x"})
	if c := from.Children("/a"); !reflect.DeepEqual(c, []string{"b"}) {
		t.Errorf("the other tree changed: %q", c)
	}
}

func TestPathsParentsFirst(t *testing.T) {
	tree := readDump(t, `{"path":"/a/b","data":null}
{"path":"/a-","data":null}
{"path":"/a0/1","data":null}
{"path":"/Z","data":null}`)
	want := []string{"/", "/Z", "/a", "/a-", "/a/b", "/a0", "/a0/1"}
	if got := tree.Paths("/"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := tree.Paths("/a"); !reflect.DeepEqual(got, []string{"/a", "/a/b"}) {
		t.Errorf("below /a: %q", got)
	}
	for n := range tree.All("/") {
		if n.Path != "/" {
			t.Errorf("All continued after a break: %s", n.Path)
		}
		break
	}
}

func TestCloneIsIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		before := writeDump(t, tree)
		hash, clone := tree.Hash("/"), tree.Clone()
		if clone.Hash("/") != hash || clone.Zxid() != tree.Zxid() || clone.Len() != tree.Len() {
			t.Fatal("the clone differs")
		}
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			if err := clone.Put(znode.Node{Path: drawPath(t), Data: drawData(t), Stat: znode.Stat{Czxid: 9}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := writeDump(t, tree); got != before {
			t.Fatalf("changing the clone changed the tree:\n%s\nbefore:\n%s", got, before)
		}
	})
}

func TestHash(t *testing.T) {
	base := func() *znode.Tree {
		tree := znode.NewTree()
		put(t, tree, znode.Node{Path: "/r/a", Data: []byte("x"), Stat: znode.Stat{Czxid: 1, Mzxid: 2, Pzxid: 3}})
		put(t, tree, znode.Node{Path: "/r/b", Data: []byte{}, Stat: znode.Stat{Czxid: 1}})
		return tree
	}
	seen := map[[32]byte]string{base().Hash("/r"): "nothing"}
	node := func(change func(n *znode.Node)) func(*znode.Tree) {
		return func(tree *znode.Tree) { change(tree.Get("/r/a")) }
	}
	for name, change := range map[string]func(*znode.Tree){
		"data":            node(func(n *znode.Node) { n.Data = []byte("y") }),
		"empty data":      node(func(n *znode.Node) { n.Data = []byte{} }),
		"null data":       node(func(n *znode.Node) { n.Data = nil }),
		"czxid":           node(func(n *znode.Node) { n.Stat.Czxid++ }),
		"mzxid":           node(func(n *znode.Node) { n.Stat.Mzxid++ }),
		"pzxid":           node(func(n *znode.Node) { n.Stat.Pzxid++ }),
		"version":         node(func(n *znode.Node) { n.Stat.Version++ }),
		"cversion":        node(func(n *znode.Node) { n.Stat.Cversion++ }),
		"aversion":        node(func(n *znode.Node) { n.Stat.Aversion++ }),
		"ephemeral owner": node(func(n *znode.Node) { n.Stat.EphemeralOwner++ }),
		"a node more":     func(tree *znode.Tree) { put(t, tree, znode.Node{Path: "/r/c"}) },
		"a node below":    func(tree *znode.Tree) { put(t, tree, znode.Node{Path: "/r/a/c"}) },
		"a node less":     func(tree *znode.Tree) { a := *tree.Get("/r/a"); *tree = *znode.NewTree(); put(t, tree, a) },
		"all less":        func(tree *znode.Tree) { *tree = *znode.NewTree() },
	} {
		tree := base()
		change(tree)
		h := tree.Hash("/r")
		if other, ok := seen[h]; ok {
			t.Errorf("%s gives the same hash as %s", name, other)
		}
		seen[h] = name
	}
	tree := base()
	put(t, tree, znode.Node{Path: "/elsewhere"})
	if tree.Hash("/r") != base().Hash("/r") {
		t.Error("the hash depends on what is outside the root")
	}
	if tree.Hash("/r") == tree.Hash("/r", "/missing") || tree.Hash("/missing") == tree.Hash("/gone") {
		t.Error("a missing root doesn't change the hash")
	}
}

func TestDiff(t *testing.T) {
	long := make([]byte, 121)
	want := readDump(t, `{"path":"/r/same","data":"aGk="}
{"path":"/r/data","data":"aGk="}
{"path":"/r/null","data":null}
{"path":"/r/missing/below","data":null}
{"path":"/elsewhere","data":null}`)
	got := readDump(t, `{"path":"/r/same","data":"aGk=","stat":`+aStat+`}
{"path":"/r/data","data":"G1sySgA="}
{"path":"/r/null","data":""}
{"path":"/r/extra","data":null}`)
	put(t, got, znode.Node{Path: "/r/long", Data: long})
	put(t, want, znode.Node{Path: "/r/long", Data: []byte{}})
	var lines []string
	for _, c := range znode.Diff(want, got, "/r") {
		lines = append(lines, c.String())
		if (c.Want == nil) != (c.Kind == znode.Extra) || (c.Got == nil) != (c.Kind == znode.Missing) {
			t.Errorf("%s: want %v, got %v", c, c.Want, c.Got)
		}
	}
	expect := []string{
		`/r/data: data is "\x1b[2J\x00", wanted "hi"`,
		`/r/extra: extra`,
		`/r/long: data is "` + strings.Repeat(`\x00`, 120) + `"… (121 bytes), wanted ""`,
		`/r/missing: missing`,
		`/r/missing/below: missing`,
		`/r/null: data is "", wanted null`,
	}
	if !reflect.DeepEqual(lines, expect) {
		t.Errorf("got  %q\nwant %q", lines, expect)
	}
	if d := znode.Diff(want, want.Clone(), "/"); d != nil {
		t.Errorf("a tree differs from its clone: %v", d)
	}
	if d := znode.Diff(want, got, "/nowhere"); d != nil {
		t.Errorf("below nothing: %v", d)
	}
}

// Diff finds exactly what a model of two maps finds.
func TestDiffModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTree(t), drawTree(t)
		found := map[string]znode.ChangeKind{}
		last := ""
		for _, c := range znode.Diff(a, b, "/") {
			if c.Path <= last {
				t.Fatalf("%s after %s", c.Path, last)
			}
			last, found[c.Path] = c.Path, c.Kind
		}
		want := map[string]znode.ChangeKind{}
		for n := range a.All("/") {
			switch m := b.Get(n.Path); {
			case m == nil:
				want[n.Path] = znode.Missing
			case !znode.SameData(n.Data, m.Data):
				want[n.Path] = znode.Changed
			}
		}
		for n := range b.All("/") {
			if a.Get(n.Path) == nil {
				want[n.Path] = znode.Extra
			}
		}
		if !reflect.DeepEqual(found, want) {
			t.Fatalf("found %v, want %v", found, want)
		}
	})
}

func TestNextSequence(t *testing.T) {
	for _, tc := range []struct {
		name     string
		creates  int64
		children int32
	}{
		{"new", 0, 0}, {"eight", 8, 8}, {"deleted", 8, 0}, {"some left", 9, 3},
		{"before 2^30", 1<<30 - 1, 5}, {"at 2^30", 1 << 30, 0}, {"at 2^30 with children", 1 << 30, 7}, {"after 2^30", 1<<30 + 1, 1},
		{"before 2^31", math.MaxInt32 - 1, 2}, {"the last", math.MaxInt32, 0}, {"the last, all there", math.MaxInt32, math.MaxInt32},
	} {
		// As DataNode.copyStat shows it, in Java's 32 bits.
		s := znode.Stat{Cversion: int32(uint32(tc.creates))*2 - tc.children, NumChildren: tc.children}
		next, left := s.NextSequence()
		if int64(next) != tc.creates || left != 1<<31-tc.creates {
			t.Errorf("%s (%+v): next %d, %d left", tc.name, s, next, left)
		}
	}
	// A fresh server's root: /zookeeper was there before anything was created.
	if next, _ := (znode.Stat{Cversion: -1, NumChildren: 1}).NextSequence(); next != 0 {
		t.Errorf("a fresh root's next is %d", next)
	}
}

func TestIsOpenACL(t *testing.T) {
	anyone := znode.OpenACL()[0]
	for _, tc := range []struct {
		acl  []znode.ACL
		want bool
	}{
		{nil, true}, {[]znode.ACL{}, true}, {znode.OpenACL(), true},
		{[]znode.ACL{anyone, anyone}, false}, {[]znode.ACL{{Perms: 1, Scheme: "world", ID: "anyone"}}, false},
	} {
		if got := znode.IsOpenACL(tc.acl); got != tc.want {
			t.Errorf("%v: %t", tc.acl, got)
		}
	}
}

func put(t testing.TB, tree *znode.Tree, n znode.Node) {
	t.Helper()
	if err := tree.Put(n); err != nil {
		t.Fatal(err)
	}
}
