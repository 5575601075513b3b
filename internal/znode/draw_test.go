package znode_test

import (
	"pgregory.net/rapid"

	"mrtq/internal/znode"
)

// drawTree draws a small tree. Some of its nodes have stats.
func drawTree(t *rapid.T) *znode.Tree {
	tree := znode.NewTree()
	for range rapid.IntRange(0, 8).Draw(t, "nodes") {
		n := znode.Node{Path: drawPath(t), Data: drawData(t)}
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

func drawPath(t *rapid.T) string {
	return rapid.SampledFrom([]string{"/a", "/b", "/a/x", "/a/y", "/a/x/1"}).Draw(t, "path")
}

func drawData(t *rapid.T) []byte {
	return rapid.SampledFrom([][]byte{nil, {}, []byte("x"), []byte("yy")}).Draw(t, "data")
}
