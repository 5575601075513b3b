package offline_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/offline"
	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// The paths collide often. "a-" and "a0" come before and after what is below "a".
var someNames = []string{"a", "a-", "a0", "b", "zookeeper-2"}

func drawPath(t *rapid.T) string {
	path := ""
	for range rapid.IntRange(0, 3).Draw(t, "depth") {
		path += "/" + rapid.SampledFrom(someNames).Draw(t, "name")
	}
	if path == "" {
		return "/"
	}
	return path
}

func drawData(t *rapid.T) []byte {
	return rapid.SampledFrom([][]byte{nil, {}, []byte("x"), []byte("longer data"), bytes.Repeat([]byte("long "), 60)}).Draw(t, "data")
}

func drawACL(t *rapid.T) []znode.ACL {
	return rapid.SampledFrom([][]znode.ACL{
		nil, nil, nil, {}, znode.OpenACL(),
		{{Perms: 31, Scheme: "digest", ID: "u:hash"}},
		{{Perms: 1, Scheme: "world", ID: "anyone"}, {Perms: 31, Scheme: "digest", ID: "u:hash"}, {Perms: 1, Scheme: "world", ID: "anyone"}},
		{{Perms: 30, Scheme: "ip", ID: "10.0.0.0/8"}},
	}).Draw(t, "acl")
}

// drawDump is a dump as mrtq or other programs write them, in any order, with Stats
// that no server would have. It may hold znodes that no server would load.
func drawDump(t *rapid.T) string {
	nodes := map[string]znode.Node{}
	for range rapid.IntRange(0, 12).Draw(t, "nodes") {
		n := znode.Node{Path: drawPath(t), Data: drawData(t)}
		if acl := drawACL(t); len(acl) < 3 { // no server's ACL has an entry twice
			n.ACL = acl
		}
		if rapid.Bool().Draw(t, "stat") {
			number := rapid.Int64Range(0, 9)
			n.Stat = znode.Stat{
				Czxid: number.Draw(t, "czxid"), Mzxid: number.Draw(t, "mzxid"), Pzxid: number.Draw(t, "pzxid"), Ctime: number.Draw(t, "ctime"), Mtime: number.Draw(t, "mtime"),
				Version: int32(number.Draw(t, "version")), Aversion: int32(number.Draw(t, "aversion")),
				Cversion:       rapid.SampledFrom([]int32{0, 1, 2, 7, -3, -1, 1<<31 - 2, -1 << 31}).Draw(t, "cversion"),
				NumChildren:    int32(rapid.IntRange(0, 3).Draw(t, "children")),
				EphemeralOwner: rapid.SampledFrom([]int64{0, 0, 0, 0, 77, -1 << 63, -0x0100000000000000 + 5}).Draw(t, "owner"),
			}
		}
		nodes[n.Path] = n
	}
	if rapid.Bool().Draw(t, "system") {
		nodes["/zookeeper/quota"] = znode.Node{Path: "/zookeeper/quota", Data: []byte("q")}
	}
	var b strings.Builder
	for _, path := range rapid.Permutation(sortedKeys(nodes)).Draw(t, "order") {
		n := nodes[path]
		text, err := n.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}

func sortedKeys(m map[string]znode.Node) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func drawOp(t *rapid.T) znode.Op {
	op := znode.Op{
		Kind:    rapid.SampledFrom([]znode.OpKind{znode.OpCreate, znode.OpCreate, znode.OpCreate, znode.OpSet, znode.OpDelete, znode.OpDelete, znode.OpCheck}).Draw(t, "op"),
		Path:    drawPath(t),
		Version: rapid.SampledFrom([]int32{-1, -1, -1, 0, 0, 1, 2}).Draw(t, "version"),
	}
	if op.Kind == znode.OpCreate || op.Kind == znode.OpSet {
		op.Data = drawData(t)
	}
	if op.Kind == znode.OpCreate {
		op.ACL, op.Version = drawACL(t), 0
	}
	if op.Kind == znode.OpDelete && rapid.IntRange(0, 20).Draw(t, "odd") == 0 {
		op.Path = rapid.SampledFrom([]string{"/zookeeper", "/zookeeper/quota", "bad", "/a//b"}).Draw(t, "odd path")
	}
	return op
}

// open returns a tree with the content of a dump.
func open(t fataler, ctx context.Context, dir, dump string, opt offline.Options) (*offline.Tree, error) {
	t.Helper()
	opt.Beside = filepath.Join(dir, "tree.ndjson")
	if err := os.WriteFile(opt.Beside, []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := side.OpenDump(ctx, opt.Beside, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return offline.Open(ctx, d, opt)
}

// For any operations, a tree answers as a server does, and writes the dump that the
// server's tree gives.
func TestSameAsServer(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		dump := drawDump(rt)
		opt := offline.Options{}.Small(
			rapid.SampledFrom([]int{1, 1500, 1 << 20}).Draw(rt, "memory"),
			rapid.SampledFrom([]int{1, 100, 4096}).Draw(rt, "block"),
			rapid.IntRange(2, 4).Draw(rt, "fan out"))
		tree, err := open(rt, ctx, dir, dump, opt)
		server, serr := serve(rt, ctx, dump, 0)
		if (err == nil) != (serr == nil) {
			rt.Fatalf("open: %v; the server: %v", err, serr)
		}
		if err != nil {
			return
		}
		defer tree.Close()
		defer server.end()
		before := server.tree(rt).Zxid()
		for range rapid.IntRange(0, 25).Draw(rt, "steps") {
			step(rt, ctx, tree, server, before)
		}
		var got bytes.Buffer
		if err := tree.WriteDump(ctx, &got); err != nil {
			rt.Fatal(err)
		}
		if got, want := ranked(rt, got.String(), before), ranked(rt, server.dump(rt), before); got != want {
			rt.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func step(t *rapid.T, ctx context.Context, tree *offline.Tree, server *served, before int64) {
	switch rapid.IntRange(0, 12).Draw(t, "step") {
	case 0:
		prefix := znode.Join(drawPath(t), "n-")
		got, err := tree.CreateEphemeral(ctx, prefix, []byte("me"), nil)
		want, serr := server.CreateEphemeral(ctx, prefix, []byte("me"), nil)
		if got != want || verdict(err) != verdict(serr) {
			t.Fatalf("create %s: %q, %v; the server: %q, %v", prefix, got, err, want, serr)
		}
	case 1:
		sameSides(t, ctx, tree, side.Tree(rank(server.tree(t), before)), before)
	case 2:
		path := drawPath(t)
		got, ok, err := tree.Exists(ctx, path)
		want, there, serr := server.Exists(ctx, path)
		if ok != there || err != nil || serr != nil || got.Version != want.Version || got.Cversion != want.Cversion || got.NumChildren != want.NumChildren {
			t.Fatalf("%s: %+v, %t, %v; the server: %+v, %t, %v", path, got, ok, err, want, there, serr)
		}
	default:
		ops := rapid.SliceOfN(rapid.Custom(drawOp), 0, 6).Draw(t, "multi")
		if got, want := verdict(tree.Multi(ctx, ops)), verdict(server.Multi(ctx, ops)); got != want {
			t.Fatalf("%v: %s; the server: %s", ops, got, want)
		}
	}
}

// sameSides reads everything in every way, and compares it with the server's tree.
func sameSides(t *rapid.T, ctx context.Context, tree *offline.Tree, want side.Side, before int64) {
	root := drawPath(t)
	got := znode.NewTree()
	for n, err := range tree.Walk(ctx, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	other := side.Tree(rank(got, before))
	if a, b := walked(t, ctx, other, "/"), walked(t, ctx, want, "/"); a != b {
		t.Fatalf("all:\n%s\nthe server's:\n%s", a, b)
	}
	if a, b := paths(walked(t, ctx, tree, root)), paths(walked(t, ctx, want, root)); a != b {
		t.Fatalf("below %s:\n%s\nthe server's:\n%s", root, a, b)
	}
	children, err := tree.Children(ctx, root)
	children = slices.DeleteFunc(children, func(name string) bool { return name == "zookeeper" })
	wanted, werr := want.Children(ctx, root)
	if !slices.Equal(children, wanted) || (err == nil) != (werr == nil) {
		t.Fatalf("children of %s: %q, %v; the server's: %q, %v", root, children, err, wanted, werr)
	}
	var roots []string
	for range 4 {
		roots = append(roots, drawPath(t))
	}
	i := 0
	for sub, err := range tree.Subtrees(ctx, slices.Values(roots)) {
		if err != nil || sub.Root != roots[i] {
			t.Fatalf("%s: %v", sub.Root, err)
		}
		var b strings.Builder
		for _, n := range sub.Nodes {
			fmt.Fprintln(&b, n.Path)
		}
		if want := paths(walked(t, ctx, tree, sub.Root)); paths(b.String()) != want {
			t.Fatalf("the subtree %s: %s; want %s", sub.Root, b.String(), want)
		}
		i++
	}
	if i != len(roots) {
		t.Fatalf("%d subtrees of %d", i, len(roots))
	}
}

// walked is a side as lines of text, without ZooKeeper's own znodes.
func walked(t *rapid.T, ctx context.Context, s side.Side, root string) string {
	var b strings.Builder
	for n, err := range s.Walk(ctx, root) {
		if err != nil {
			t.Fatal(err)
		}
		if znode.Within(n.Path, "/zookeeper") {
			continue
		}
		acl := n.ACL
		if acl == nil {
			acl = znode.OpenACL()
		}
		fmt.Fprintf(&b, "%s %q %t %+v %v\n", n.Path, n.Data, n.Data == nil, n.Stat, acl)
	}
	return b.String()
}

func paths(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !znode.Within(path, "/zookeeper") {
			fmt.Fprintln(&b, path)
		}
	}
	return b.String()
}
