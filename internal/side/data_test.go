package side_test

import (
	"path/filepath"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
)

// TestData reads a directory that Apache's server wrote.
func TestData(t *testing.T) {
	d, err := zkdata.Read(t.Context(), zkdata.Place{Dir: filepath.Join("..", "zkdata", "testdata", "plain")}, zkdata.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tree := znode.NewTree()
	for n := range d.Tree.Nodes("/") {
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	if tree.Len() < 10 {
		t.Fatalf("the directory holds %d znodes", tree.Len())
	}
	same(t, side.Data(d), tree, everything)
	ends(t, side.Data(d))
}
