package znode_test

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/znode"
)

func TestMulti(t *testing.T) {
	tree := znode.NewTree()
	multi(t, tree, znode.Create("/a", []byte("1")), znode.Create("/a/b", nil), znode.Set("/a", []byte("22"), 0), znode.Check("/a", 1))
	multi(t, tree, znode.Delete("/a/b", 0), znode.Create("/a/c", []byte{}))
	now := someTime.UnixMilli()
	for path, want := range map[string]znode.Stat{
		"/":    {Pzxid: 1, Cversion: 1, NumChildren: 1},
		"/a":   {Czxid: 1, Mzxid: 1, Pzxid: 2, Ctime: now, Mtime: now, Version: 1, Cversion: 3, DataLength: 2, NumChildren: 1},
		"/a/c": {Czxid: 2, Mzxid: 2, Pzxid: 2, Ctime: now, Mtime: now},
	} {
		if got := tree.Get(path).Stat; got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if tree.Get("/a/b") != nil || tree.Zxid() != 2 {
		t.Errorf("zxid %d, /a/b %v", tree.Zxid(), tree.Get("/a/b"))
	}
}

func TestMultiErrors(t *testing.T) {
	for _, tc := range []struct {
		name     string
		op       znode.Op
		sentinel error
		want     string
	}{
		{"no parent", znode.Create("/x/y", nil), znode.ErrNoNode, "create /x/y: no such znode: its parent /x"},
		{"exists", znode.Create("/a", nil), znode.ErrNodeExists, "create /a: the znode exists"},
		{"the root exists", znode.Create("/", nil), znode.ErrNodeExists, "create /: the znode exists"},
		{"ephemeral parent", znode.Create("/eph/x", nil), znode.ErrEphemeralParent, "create /eph/x: the parent znode is ephemeral: /eph"},
		{"bad path", znode.Create("/a/", nil), znode.ErrPath, `create /a/: invalid znode path "/a/": it has an empty element`},
		{"bad path to delete", znode.Delete("a", -1), znode.ErrPath, `delete a: invalid znode path "a": it must start with /`},
		{"set nothing", znode.Set("/x", nil, -1), znode.ErrNoNode, "set /x: no such znode"},
		{"set another version", znode.Set("/a", nil, 3), znode.ErrBadVersion, "set /a: the znode's version is another: 0, not 3"},
		{"delete nothing", znode.Delete("/x", -1), znode.ErrNoNode, "delete /x: no such znode"},
		{"delete another version", znode.Delete("/a/b", 1), znode.ErrBadVersion, "delete /a/b: the znode's version is another: 0, not 1"},
		{"delete with children", znode.Delete("/a", 0), znode.ErrNotEmpty, "delete /a: the znode has children"},
		{"delete the root", znode.Delete("/", -1), znode.ErrPath, `delete /: invalid znode path "/": the root can't be deleted`},
		{"check nothing", znode.Check("/x", -1), znode.ErrNoNode, "check /x: no such znode"},
		{"check another version", znode.Check("/a", 9), znode.ErrBadVersion, "check /a: the znode's version is another: 0, not 9"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := readDump(t, `{"path":"/a/b","data":"aGk="}
{"path":"/eph","data":"","stat":{"czxid":1,"ephemeralOwner":77}}`)
			before := writeDump(t, tree)
			err := tree.Multi([]znode.Op{
				znode.Set("/a/b", []byte("other"), 0), znode.Delete("/a/b", 1), znode.Create("/a/b", nil), znode.Create("/new", nil), tc.op,
				znode.Create("/never", nil),
			}, someTime)
			var me *znode.MultiError
			if !errors.As(err, &me) || me.Index != 4 || !reflect.DeepEqual(me.Op, tc.op) || !errors.Is(err, tc.sentinel) {
				t.Errorf("%#v", err)
			}
			if message(err) != tc.want {
				t.Errorf("\ngot  %v\nwant %s", err, tc.want)
			}
			if after := writeDump(t, tree); after != before || tree.Zxid() != 1 {
				t.Errorf("not undone: zxid %d\n%s\nbefore\n%s", tree.Zxid(), after, before)
			}
		})
	}
}

// A multi that fails leaves no trace, whatever it had done before.
func TestMultiAllOrNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		for _, ops := range drawMultis(t, "") {
			before, zxid, hash := writeDump(t, tree), tree.Zxid(), tree.Hash("/")
			ops = append(ops, znode.Check("/not/there", -1))
			if err := tree.Multi(ops, someTime); err == nil {
				t.Fatal("it succeeded")
			}
			if after := writeDump(t, tree); after != before || tree.Zxid() != zxid || tree.Hash("/") != hash {
				t.Fatalf("%v left\n%s\nof\n%s", ops, after, before)
			}
			tree.Multi(ops[:1], someTime)
		}
	})
}

func TestOpString(t *testing.T) {
	if s := (znode.Op{Kind: 9, Path: "/x"}).String(); s != "OpKind(9) /x" {
		t.Error(s)
	}
}

// drawTree draws a small tree whose nodes have stats or not.
func drawTree(t *rapid.T) *znode.Tree {
	tree := znode.NewTree()
	for range rapid.IntRange(0, 8).Draw(t, "nodes") {
		n := znode.Node{Path: drawPath(t, ""), Data: drawData(t)}
		if rapid.Bool().Draw(t, "stat") {
			n.Stat = znode.Stat{Czxid: 5, Mzxid: 6, Pzxid: 7, Version: rapid.Int32().Draw(t, "version")}
		}
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	tree.SetDefaultStats(0)
	return tree
}

// drawMultis draws transactions on few paths below root, so that they meet.
func drawMultis(t *rapid.T, root string) [][]znode.Op {
	op := rapid.Custom(func(t *rapid.T) znode.Op {
		path := drawPath(t, root)
		version := rapid.SampledFrom([]int32{-1, -1, -1, 0, 1, 2}).Draw(t, "version")
		switch rapid.SampledFrom([]znode.OpKind{znode.OpCreate, znode.OpCreate, znode.OpCreate, znode.OpSet, znode.OpDelete, znode.OpCheck}).Draw(t, "kind") {
		case znode.OpCreate:
			return znode.Create(path, drawData(t))
		case znode.OpSet:
			return znode.Set(path, drawData(t), version)
		case znode.OpDelete:
			return znode.Delete(path, version)
		}
		return znode.Check(path, version)
	})
	return rapid.SliceOfN(rapid.SliceOfN(op, 1, 4), 1, 15).Draw(t, "multis")
}

func drawPath(t *rapid.T, root string) string {
	return root + rapid.SampledFrom([]string{"/a", "/b", "/a/x", "/a/y", "/a/x/1"}).Draw(t, "path")
}

func drawData(t *rapid.T) []byte {
	return rapid.SampledFrom([][]byte{nil, {}, []byte("x"), []byte("yy")}).Draw(t, "data")
}
