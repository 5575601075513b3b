package migrate

import (
	"encoding/json"
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// A job that is gone after a release may have been finished and cleaned up, or deleted by hand.
// Nothing shows which, so verify names the job. It also says which jobs and requests workers
// have locked, and names the requests that no worker acquires again.
func TestVerifyNamesWhatIsGoneAndLocked(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			records := fourRecords(t)
			for _, name := range []string{"1", "2", "3"} {
				records["/accessSmall.1/mrtQ-00000000000"+name] = record(t, legacy.Pending, legacy.Payload{"token": "t" + name, "cloud-content-byte": json.Number("1"), "delivery-node": json.Number("1")})
			}
			opt := options(permissive())
			opt.Dialect = d
			src := source(t, queue(t, records))
			s := serve(t, znode.NewTree())
			mustMigrate(t, s, src, opt)
			releaseHolds(t, s)
			// By hand: a batch with its jobs, and a request.
			tree := treeOf(t, s)
			removeAll(t, s, "/jobs/jid0000000003", "/jobs/jid0000000004", "/batches/bid0000000001", "/batch-uuids/bid-1", "/access/small/qid0000000002")
			for _, path := range tree.Paths("/jobs/states") {
				if name := znode.Name(path); name == "05-jid0000000003" || name == "05-jid0000000004" {
					do(t, s, znode.Delete(path, -1))
				}
			}
			// By workers: one job is locked, another between two steps; a request is locked,
			// and another's worker has died.
			q := newqueue.Open(s.client, d)
			job, err := q.AcquireJob(t.Context(), newqueue.JobPending)
			if err != nil {
				t.Fatal(err)
			}
			if err := job.Succeed(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := q.AcquireJob(t.Context(), newqueue.JobPending); err != nil {
				t.Fatal(err)
			}
			processing, err := newqueue.AccessStatus{State: newqueue.AccessProcessing, LastModified: testNow}.Object(d).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				a, err := q.AcquireAccess(t.Context(), newqueue.AccessSmall, newqueue.AccessPending)
				if err != nil {
					t.Fatal(err)
				}
				do(t, s, znode.Set(a.Path()+"/status", processing, -1))
			}
			do(t, s, znode.Delete("/access/small/qid0000000001/lock", -1))

			v := verdict(t, src, treeOf(t, s), VerifyOptions{})
			var worked []string
			for _, w := range v.Worked.First {
				lock := "no lock"
				if w.Locked {
					lock = "locked"
				}
				worked = append(worked, znode.Name(w.Path)+" "+lock)
			}
			if want := []string{"qid0000000000 locked", "qid0000000001 no lock", "jid0000000001 no lock", "jid0000000002 locked"}; !slices.Equal(worked, want) || v.Worked.Locked != 2 {
				t.Errorf("worked on %v, %d locked", worked, v.Worked.Locked)
			}
			abandoned := []string{} // newqueue's workers acquire such requests again
			if d == newqueue.MrtZK {
				abandoned = []string{"/access/small/qid0000000001"}
			}
			if !slices.Equal(v.Worked.Abandoned, abandoned) {
				t.Errorf("abandoned %v, want %v", v.Worked.Abandoned, abandoned)
			}
			want := []GoneJob{
				{"/accessSmall.1/mrtQ-000000000003", "/access/small/qid0000000002"},
				{"/ingest/mrtQ-05000000000003", "/jobs/jid0000000003"},
				{"/ingest/mrtQ-05000000000004", "/jobs/jid0000000004"},
			}
			slices.SortFunc(v.Worked.Gone, func(a, b GoneJob) int { return slices.Compare([]string{a.Record}, []string{b.Record}) })
			if v.Worked.Finished != 3 || !slices.Equal(v.Worked.Gone, want) {
				t.Errorf("%d gone: %v, want %v", v.Worked.Finished, v.Worked.Gone, want)
			}
			if !v.OK() {
				t.Errorf("differences: %v", v.Differences)
			}
		})
	}
}
