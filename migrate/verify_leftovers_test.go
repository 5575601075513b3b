package migrate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// A migrator is killed after it created a batch and before it created the batch's last job.
// Meanwhile the job's record changes. Then the folder that was created for the job's first
// state stays empty. That is no difference.
func TestFolderOfAStateThatARecordLeft(t *testing.T) {
	const second = "/ingest/mrtQ-05000000000002"
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"}),
		second:                        record(t, legacy.Deleted, legacy.Payload{"batchID": "bid-1"}),
	}
	s := serve(t, znode.NewTree())
	s.kill(t, 3, false)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	if _, err := m.Migrate(t.Context(), static(source(t, queue(t, records))), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	records[second] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"})
	src := source(t, queue(t, records))
	s.begin(t)
	mustMigrate(t, s, src, options(permissive()))
	tree := treeOf(t, s)
	left := newqueue.BatchFolderPath("bid0000000000", newqueue.FolderDeleted)
	if n := tree.Get(left); n == nil || n.Stat.NumChildren != 0 {
		t.Fatalf("this is not the case that was meant: %v", tree.Paths("/batches"))
	}
	mustVerify(t, src, tree)

	// A folder that another client creates there is a difference.
	do(t, s, znode.Create(newqueue.BatchFolderPath("bid0000000000", newqueue.FolderFailed), none))
	if v := verdict(t, src, treeOf(t, s), VerifyOptions{}); v.OK() {
		t.Error("verify does not name a folder that another client made")
	}
}

// A migrated request is finished and cleaned up. Then its queue's folder is removed and recreated,
// and another client's request gets the same id. Verify says that the migrated one is gone,
// and does not name the other.
func TestAnotherRequestWithTheSameID(t *testing.T) {
	const path = "/accessSmall.1/mrtQ-000000000001"
	src := source(t, queue(t, map[string][]byte{path: record(t, legacy.Pending, legacy.Payload{"token": "t"})}))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, options(permissive()))
	folder := newqueue.AccessQueuePath(newqueue.AccessSmall)
	root := newqueue.AccessRequestPath(newqueue.AccessSmall, "qid0000000000")
	var away []znode.Op
	for _, p := range slices.Backward(treeOf(t, s).Paths(folder)) {
		away = append(away, znode.Delete(p, -1))
	}
	do(t, s, away...)
	do(t, s, znode.Create(folder, none), znode.Create(root, none), znode.Create(root+"/token", []byte(`{}`)), znode.Create(root+"/status", []byte(`{"status":"Pending","last_modified":""}`)))
	gone := false
	for _, d := range verdict(t, src, treeOf(t, s), VerifyOptions{Others: true}).Differences {
		gone = gone || d.Kind == JobGone && d.Path == path
		if strings.Contains(d.Message, "does not say so any more") {
			t.Errorf("verify takes another's request for the migrated one: %s", d)
		}
	}
	if !gone {
		t.Errorf("verify does not say that the request made from %s is gone", path)
	}
}
