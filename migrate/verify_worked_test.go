package migrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// What workers change after a queue was released is no damage. It is damage while the queue
// is held, and so is a change of something that workers don't write.
func TestWorkIsNoDamage(t *testing.T) {
	take := func(t *testing.T, s *site, d newqueue.Dialect) *newqueue.Job {
		job, err := newqueue.Open(s.client, d).AcquireJob(t.Context(), newqueue.JobPending)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	lift := func(t *testing.T, s *site) {
		do(t, s, znode.Delete("/locks/queue/ingest", -1))
	}
	work := func(t *testing.T, s *site, d newqueue.Dialect) {
		lift(t, s)
		if err := take(t, s, d).Succeed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again := func(t *testing.T, s *site, path string) {
		do(t, s, znode.Set(path, treeOf(t, s).Get(path).Data, -1))
	}
	type counts struct{ jobs, finished, released int }
	for name, c := range map[string]struct {
		change  func(t *testing.T, s *site, d newqueue.Dialect)
		want    counts
		damaged []string // the paths that differ
	}{
		"held, and nobody worked": {func(*testing.T, *site, newqueue.Dialect) {}, counts{}, nil},
		"released in part":        {func(t *testing.T, s *site, _ newqueue.Dialect) { lift(t, s) }, counts{released: 1}, nil},
		"a worker has a job": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			take(t, s, d)
		}, counts{jobs: 1, released: 1}, nil},
		"a worker went on with a job": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			if err := take(t, s, d).Succeed(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, counts{jobs: 1, released: 1}, nil},
		"all is finished and cleaned up": {func(t *testing.T, s *site, d newqueue.Dialect) { workOff(t, s, d) }, counts{finished: 4, released: 3}, nil},
		"a job was worked on, and its configuration changed": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			if err := take(t, s, d).Succeed(t.Context()); err != nil {
				t.Fatal(err)
			}
			do(t, s, znode.Set("/jobs/jid0000000001/configuration", []byte("{}"), -1))
		}, counts{released: 1}, []string{"/jobs/jid0000000001/configuration", "/jobs/jid0000000001/status"}},
		"a job was deleted, and its batch still exists": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			removeAll(t, s, "/jobs/jid0000000001")
		}, counts{released: 1}, []string{"/ingest/mrtQ-05000000000001"}},
		"a job lost its entry": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Delete("/jobs/states/pending/05-jid0000000001", -1))
		}, counts{released: 1}, []string{"/jobs/states/pending/05-jid0000000001"}},
		"another client changed a job that no worker has": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Set("/jobs/jid0000000001/identifiers", []byte("{}"), -1))
		}, counts{released: 1}, []string{"/jobs/jid0000000001/identifiers"}},
		"the ACL of a job's status was changed": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			must(t, s, setACL{"/jobs/jid0000000001/status", zk.WorldACL(zk.PermRead)})
		}, counts{released: 1}, []string{"/jobs/jid0000000001/status"}},
		"the ACL of the status of a worked job's batch was changed": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			take(t, s, d)
			must(t, s, setACL{"/batches/bid0000000000/status", zk.WorldACL(zk.PermRead)})
		}, counts{jobs: 1, released: 1}, []string{"/batches/bid0000000000/status"}},
		"a request was changed while its queue is held": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Set("/access/small/qid0000000000/status", encode(newqueue.AccessStatus{State: newqueue.AccessProcessing, LastModified: testNow}.Object(d)), -1))
		}, counts{released: 1}, []string{"/access/small/qid0000000000/status"}},
		"a request was worked on": {func(t *testing.T, s *site, d newqueue.Dialect) {
			do(t, s, znode.Delete("/locks/queue/accessLarge", -1)) // each worker takes requests of both sizes
			do(t, s, znode.Set("/access/small/qid0000000000/status", encode(newqueue.AccessStatus{State: newqueue.AccessCompleted, LastModified: testNow}.Object(d)), -1))
		}, counts{jobs: 1, released: 1}, nil},
		"a worked job holds a znode of no worker": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			do(t, s, znode.Create(job1+"/by-hand", none))
		}, counts{released: 1}, []string{job1 + "/by-hand"}},
		"a worked job's configuration was written again": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			again(t, s, job1+"/configuration")
		}, counts{released: 1}, []string{job1 + "/configuration"}},
		"what a worked job says of its record was written again": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			again(t, s, job1)
		}, counts{released: 1}, []string{job1}},
		"a worked job lost a part": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			do(t, s, znode.Delete(job1+"/space_needed", -1))
		}, counts{released: 1}, []string{job1 + "/space_needed"}},
		"a worker with a job writes what it learnt": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			take(t, s, d)
			do(t, s, znode.Set(job1+"/identifiers", encode(newqueue.Identifiers{PrimaryID: "ark"}.Object()), -1))
		}, counts{jobs: 1, released: 1}, nil},
		"another client added an inventory to a job that no worker has": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Create(job1+"/inventory", readable["inventory"]))
		}, counts{released: 1}, []string{job1 + "/inventory"}},
		"a worked job's batch was worked on": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			again(t, s, "/batches/bid0000000000/status")
		}, counts{jobs: 1, released: 1}, nil},
		"a worked job's batch holds a znode of no worker": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			do(t, s, znode.Create("/batches/bid0000000000/by-hand", none))
		}, counts{jobs: 1, released: 1}, []string{"/batches/bid0000000000/by-hand"}},
		"a batch of which no job was worked on": {func(t *testing.T, s *site, d newqueue.Dialect) {
			work(t, s, d)
			again(t, s, "/batches/bid0000000001/status")
		}, counts{jobs: 1, released: 1}, []string{"/batches/bid0000000001/status"}},
		"a batch and its jobs are gone while their queue is held": {func(t *testing.T, s *site, d newqueue.Dialect) {
			do(t, s, znode.Delete("/locks/queue/accessSmall", -1))
			for _, root := range []string{job1, job2, entry1, "/jobs/states/pending/05-jid0000000002", "/batches/bid0000000000", "/batch-uuids/bid-0"} {
				removeAll(t, s, root)
			}
		}, counts{released: 1}, []string{"/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002"}},
		"workers hold locks": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			for _, folder := range []string{newqueue.InventoryLocksPath, newqueue.StorageLocksPath, d.LocalIDLocksPath()} {
				if treeOf(t, s).Get(folder) == nil {
					do(t, s, znode.Create(folder, none))
				}
				lock := createEphemeral(folder+"/x", none)
				if d == newqueue.MrtZK && folder == newqueue.StorageLocksPath {
					lock = create(folder+"/x", none) // it outlives its session
				}
				must(t, s, multi{lock})
			}
		}, counts{released: 1}, nil},
		"another client put a znode among the locks": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Create("/locks/by-hand", none))
		}, counts{released: 1}, []string{"/locks/by-hand"}},
		"a job was changed while the queue is held": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			do(t, s, znode.Set("/jobs/jid0000000001/priority", []byte("3"), -1))
		}, counts{}, []string{"/jobs/jid0000000001/priority"}},
	} {
		for _, d := range newqueue.Dialects {
			t.Run(name+"/"+string(d), func(t *testing.T) {
				opt := options(permissive())
				opt.Dialect = d
				records := fourRecords(t)
				if strings.HasPrefix(name, "a request") {
					records["/accessSmall.1/mrtQ-000000000001"] = record(t, legacy.Pending, legacy.Payload{"token": "t"})
				}
				src := source(t, queue(t, records))
				s := serve(t, znode.NewTree())
				mustMigrate(t, s, src, opt)
				c.change(t, s, d)
				tree := treeOf(t, s)
				for n := range tree.All("/") {
					n.ACL = nil // most of a large target is read without ACLs
				}
				v := verdict(t, src, tree, VerifyOptions{})
				if got := (counts{v.Worked.Jobs, v.Worked.Finished, len(v.Released)}); got != c.want {
					t.Errorf("%+v, want %+v", got, c.want)
				}
				if len(c.damaged) == 0 && !v.OK() {
					t.Errorf("differences: %v", v.Differences)
				}
				for _, path := range c.damaged {
					if !slices.ContainsFunc(v.Differences, func(x Difference) bool { return x.Path == path }) {
						t.Errorf("%s is not among %v", path, v.Differences)
					}
				}
			})
		}
	}
}
