package rehearse_test

import (
	"testing"

	"mrtq/harness/rehearse"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Keys of ingest are shorter before June 2023, and legacy workers took the shorter ones first, whatever their priority. That the
// new queue goes by priority is no difference.
func TestOldKeys(t *testing.T) {
	const digits = len("/ingest/mrtQ-")
	r, err := rehearse.Run(t.Context(), queue(t, 60, func(tree *znode.Tree) {
		for i, name := range tree.Children("/ingest") {
			n := *tree.Get("/ingest/" + name)
			tree.Remove(tree.Get(n.Path))
			n.Path = n.Path[:digits+4-i%3] + n.Path[digits+4:] // 14, 13 or 12 digits
			must(t, tree.Put(n))
		}
	}), options(newqueue.MrtZK))
	must(t, err)
	if !r.OK() {
		t.Errorf("%+v, %v", r.Differences, r.Problems)
	}
}
