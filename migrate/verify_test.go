package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func workQueue(t testing.TB) *znode.Tree {
	records := map[string][]byte{}
	for i := range 24 {
		status := []legacy.Status{legacy.Pending, legacy.Pending, legacy.Failed, legacy.Held, legacy.Completed, legacy.Pending}[i%6]
		records[ingest(i)] = record(t, status, job(fmt.Sprint(i/4), fmt.Sprint(i)))
	}
	for i := range 6 {
		records[ingest(100+i)] = record(t, []legacy.Status{legacy.Failed, legacy.Completed}[i%2], job(fmt.Sprint("ended", i/2), fmt.Sprint(100+i)))
	}
	for i := range 4 {
		records[fmt.Sprintf("/mrt.inventory.full/mrtQ-05%010d", i)] = record(t, legacy.Pending, legacy.Payload{"manifestURL": "http://store/m/ark"})
		records[fmt.Sprintf("/accessSmall.1/mrtQ-00%010d", i)] = record(t, legacy.Pending, token("t"))
		records[fmt.Sprintf("/accessLarge.1/mrtQ-00%010d", i)] = record(t, []legacy.Status{legacy.Failed, legacy.Pending}[i%2], token("t"))
	}
	return queueTree(t, records)
}

// A read that fails while other parts are compared ends all of them. verify and release name the znode, and the release was not
// interrupted.
func TestVerifyNamesWhatItCannotRead(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 40, 10)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	status := s.jobOf(ingest(1)) + "/status"
	s.setACL(status, zk.DigestACL(zk.PermAll, "someone", "secret"))
	_, err := migrate.Verify(t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{})
	says := "get " + status + ": no permission (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL)"
	if !errors.Is(err, zkconn.ErrNoAuth) || err.Error() != says {
		t.Errorf("verify: %v, expected %s", err, says)
	}
	if _, err := s.tryRelease(migrate.ReleaseOptions{}); err == nil || err.Error() != says {
		t.Errorf("release: %v, expected %s", err, says)
	}
}

// A queue that no run has made is read in its own dialect.
func TestVerifyBeforeAnyRun(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, znode.NewTree(), d)
		s.must(s.queue().Init(t.Context()))
		if v := s.verify(); len(v.Differences) != 1 || v.Differences[0].Message != "nothing was migrated to this target" {
			t.Errorf("%v", v.Differences)
		}
	})
}

// While verify reads, the new services create their first znodes: it has not seen then in which dialect.
func TestVerifyWhileServicesBegin(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, znode.NewTree(), d)
		s.must(errorOf(s.door().Create(newqueue.JobsPath, nil, 0, zk.WorldACL(zk.PermAll))))
		session, once, began, goOn := s.session, false, make(chan bool, 1), make(chan struct{})
		s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			// The last packet that looks for items which show the dialect.
			if once || op.Session != session || !slices.Equal(op.Paths[max(0, len(op.Paths)-2):], []string{"/access/small", "/access/large"}) {
				return false
			}
			once = true
			began <- true
			return true
		}, Do: minizk.Hold(goOn)})
		ended := make(chan *migration.Verdict, 1)
		go func() { ended <- s.verify() }()
		<-began
		s.must(s.queue().Init(t.Context()))
		close(goOn)
		if v := <-ended; len(v.Differences) != 1 || v.Differences[0].Message != "nothing was migrated to this target" {
			t.Errorf("%v", v.Differences)
		}
	})
}

// A worker that dies without a trace but its lock, and one that leaves a request in
// Processing, as the deployed access workers do: no damage. A persistent lock that no
// reader would ever remove is named.
func TestLocksOfWorkers(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, flags := range []int32{zk.FlagEphemeral, 0} {
			s := serve(t, workQueue(t), d)
			s.mustMigrate(s.options())
			s.release()
			lock := s.jobOf(ingest(0)) + "/lock"
			s.must(errorOf(s.door().Create(lock, nil, flags, zk.WorldACL(zk.PermAll))))
			if v := s.verify(); v.OK() != (flags == zk.FlagEphemeral) {
				t.Errorf("flags %d: %v", flags, v.Differences)
			}
			if locks := s.status().Locks; len(locks) != 1 || locks[0].Path != lock || (locks[0].Session == "") != (flags == 0) {
				t.Errorf("status says %+v", locks)
			}
		}
	})
}

// A folder beside the jobs, such as /jobs/states, is no job, so what is below it is no lock of a job.
func TestFolderIsNoJob(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.create("/jobs/states/lock", nil)
	if locks := s.status().Locks; len(locks) != 0 {
		t.Errorf("locks: %+v", locks)
	}
}

// A job with one child too many is acted on, and verify says which child.
func TestChildTooMany(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	job := s.jobOf(ingest(1))
	s.create(job+"/inventory", []byte(`{"manifest_url":"http://store/m"}`))
	v := s.verify()
	want := "it has a child that the run did not make, " + job + "/inventory; it is pending now"
	if len(v.Differences) != 1 || v.Differences[0].Kind != "acted-on" || v.Differences[0].Message != want {
		t.Errorf("%v, expected %s", v.Differences, want)
	}
}
