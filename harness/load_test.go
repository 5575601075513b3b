package harness_test

import (
	"strings"
	"testing"

	"mrtq/harness"
	"mrtq/internal/znode"
)

const loaded = `{"path":"/a","data":"eA==","stat":{"czxid":5,"mzxid":6,"ctime":1709208000123,"mtime":1709208000124,"version":3,"cversion":2,"aversion":0,"ephemeralOwner":0,"dataLength":1,"numChildren":2,"pzxid":7}}
{"path":"/a/b","data":null}
{"path":"/a/lock","data":"","stat":{"czxid":7,"mzxid":7,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":4711,"dataLength":0,"numChildren":0,"pzxid":7}}
`

// An embedded server begins with a tree. It keeps the Stats, and leaves out ephemeral znodes.
func TestTree(t *testing.T) {
	tree := value(znode.ReadDump(strings.NewReader(loaded)))(t)
	c := connect(t, harness.ForTest(t, harness.Embedded, harness.Options{Tree: tree}).Address())
	wantChildren(t, c, "/a", "b")
	data, stat, err := c.Get("/a")
	if err != nil || string(data) != "x" || stat.Czxid != 5 || stat.Version != 3 || stat.Cversion != 3 || stat.Pzxid != 7 {
		t.Errorf("%q, %+v, %v", data, stat, err)
	}
}
