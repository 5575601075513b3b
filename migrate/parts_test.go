package migrate_test

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// twoRuns are the ways to two runs of which each has a batch of the batchID bid-1. The batch of the first is not there any
// more, and so many others came between.
var twoRuns = map[string]func(s *site, between int){
	"the cleanup removes a batch, and a late record of it is migrated": func(s *site, between int) {
		s.create(ingest(1), record(s.t, legacy.Completed, job("1", "1")))
		s.pending(2, between)
		s.mustMigrate(s.options())
		s.completes()
		s.must(errorOf(s.queue().CleanupJobs(s.t.Context())))
		s.must(errorOf(s.queue().CleanupBatches(s.t.Context())))
		s.pending(1+between+1, 0)
		s.create(ingest(0), record(s.t, legacy.Pending, job("1", "late")))
		s.mustMigrate(s.options())
	},
	"a rollback keeps a job, which is finished, and its batch's other record is migrated again": func(s *site, between int) {
		s.create(ingest(0), record(s.t, legacy.Pending, job("1", "0")))
		s.create(ingest(1), record(s.t, legacy.Pending, job("1", "1")))
		s.pending(2, between)
		s.mustMigrate(s.options())
		s.release()
		first := s.batchOf("bid-1")
		s.fails()
		kept := znode.Name(s.jobOf(ingest(0)))
		if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 1 {
			s.t.Fatalf("it keeps %v", undo.Keeps)
		}
		s.remove("/jobs/"+kept, newqueue.JobEntryPath(newqueue.JobFailed, 5, kept), "/batches/"+first, "/batch-uuids/bid-1")
		s.mustMigrate(s.options())
	},
}

func (s *site) pending(from, n int) {
	s.t.Helper()
	for i := from; i < from+n; i++ {
		s.create(ingest(i), record(s.t, legacy.Pending, job(fmt.Sprint(i), fmt.Sprint(i))))
	}
}

// A znode of /batch-uuids is judged once, with the batch that it names, however many others come between the batches of two runs
// that have had this name.
func TestNameOfTwoBatches(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for way, twoBatches := range twoRuns {
			for _, between := range []int{0, 2} {
				t.Run(fmt.Sprintf("%s, %d between", way, between), func(t *testing.T) {
					s := serve(t, queueTree(t, nil), d)
					twoBatches(s, between)
					name, bid, nodes := "/batch-uuids/bid-1", s.batchOf("bid-1"), s.mustVerify().Nodes
					const cantBeFound = "batch %s can't be found by its batchID; expected an entry for batch %[1]s"
					for _, c := range []struct {
						change func()
						says   string
						fewer  int // znodes that are compared
					}{
						{func() { s.setACL(name, zk.WorldACL(zk.PermRead)) }, "its ACL is not the one that its run gives", 0},
						{func() { s.set(name, []byte("bid0000000000")) }, fmt.Sprintf(`an entry for "bid0000000000": `+cantBeFound, bid), 0},
						{func() { s.set(name, []byte("bid0000099999")) }, fmt.Sprintf(`an entry for "bid0000099999": `+cantBeFound, bid), 0},
						{func() { s.remove(name) }, fmt.Sprintf("no entry: the batch can't be found by its batchID; expected an entry for batch %s", bid), 1},
					} {
						c.change()
						if v := s.verify(); len(v.Differences) != 1 || v.Differences[0].Path != name || v.Differences[0].Message != c.says || v.Nodes != nodes-c.fewer {
							t.Errorf("%d znodes of %d; expected %q, got %v", v.Nodes, nodes, c.says, v.Differences)
						}
						s.remove(name)
						s.create(name, []byte(bid))
					}
				})
			}
		}
	})
}
