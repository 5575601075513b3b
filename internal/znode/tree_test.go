package znode_test

import (
	"maps"
	"math"
	"reflect"
	"slices"
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
	if string(tree.Get("/").Data) != "root" || tree.Len() != 4 {
		t.Errorf("%d nodes", tree.Len())
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

// A dump has no znode twice, and none that no server would have.
func TestAddRefuses(t *testing.T) {
	ephemeral := znode.Node{Path: "/a", Stat: znode.Stat{EphemeralOwner: 1}}
	for name, c := range map[string]struct {
		nodes []znode.Node
		want  string
	}{
		"too deep": {[]znode.Node{{Path: strings.Repeat("/a", 1001)}}, `invalid znode path "` + strings.Repeat("/a", 30) + `"…: it is deeper than 1000 znodes`},
		// The end of its session would delete other sessions' nodes, or leave them without a parent.
		"an ephemeral parent":             {[]znode.Node{ephemeral, {Path: "/a/b"}}, "/a/b: the parent znode is ephemeral"},
		"an ephemeral ancestor":           {[]znode.Node{ephemeral, {Path: "/a/b/c"}}, "/a/b/c: the parent znode is ephemeral"},
		"an ephemeral parent, that comes": {[]znode.Node{{Path: "/a/b"}, ephemeral}, "/a/b: the parent znode is ephemeral"},
	} {
		tree := znode.NewTree()
		last := len(c.nodes) - 1
		for _, n := range c.nodes[:last] {
			must(t, tree.Add(n))
		}
		before := writeDump(t, tree)
		if err := tree.Add(c.nodes[last]); message(err) != c.want || writeDump(t, tree) != before {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	tree := znode.NewTree()
	for _, path := range []string{"/", "/a/b", "/a"} { // /a was there only as a parent
		must(t, tree.Add(znode.Node{Path: path}))
		if err := tree.Add(znode.Node{Path: path}); message(err) != path+": the path was dumped before" {
			t.Errorf("%s twice: %v", path, err)
		}
	}
}

// TestTreeChanges puts and removes random nodes. The tree then has exactly those that are left.
func TestTreeChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, left := znode.NewTree(), map[string]bool{"/": true}
		for _, path := range rapid.SliceOf(rapid.StringMatching(`(/[a-c]){1,3}`)).Draw(t, "paths") {
			if n := tree.Get(path); n == nil {
				if err := tree.Put(znode.Node{Path: path}); err != nil {
					t.Fatal(err)
				}
				for p := path; p != ""; p = znode.Parent(p) {
					left[p] = true
				}
			} else if len(n.Children()) == 0 {
				tree.Remove(n)
				delete(left, path)
			}
		}
		want := slices.Sorted(maps.Keys(left))
		if got := tree.Paths("/"); !slices.Equal(got, want) || tree.Len() != len(want) {
			t.Fatalf("%d nodes, %q, want %q", tree.Len(), got, want)
		}
	})
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

func TestClone(t *testing.T) {
	tree := readDump(t, `{"path":"/a/b","data":null,"stat":`+aStat+`}`)
	before, clone := writeDump(t, tree), tree.Clone()
	if got := writeDump(t, clone); got != before || clone.Len() != tree.Len() {
		t.Errorf("the clone differs:\n%s\nbefore:\n%s", got, before)
	}
	put(t, clone, znode.Node{Path: "/a/c"})
	put(t, clone, znode.Node{Path: "/a/b", Data: []byte("x")})
	if got := writeDump(t, tree); got != before {
		t.Errorf("changing the clone changed the tree:\n%s\nbefore:\n%s", got, before)
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
	}
	expect := []string{
		`/r/data: data is "\x1b[2J\x00", expected "hi"`,
		`/r/extra: extra`,
		`/r/long: data is "` + strings.Repeat(`\x00`, 120) + `"… (121 bytes), expected ""`,
		`/r/missing: missing`,
		`/r/missing/below: missing`,
		`/r/null: data is "", expected null`,
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
	must(t, tree.Put(n))
}
