package live

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// names returns a list's folders and counts, such as "pending 2".
func names(list []Queue) []string {
	out := []string{}
	for _, q := range list {
		out = append(out, fmt.Sprintf("%s %d", q.Name, q.Count))
	}
	return out
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// A target is created, used and deleted: each look shows what is there.
func TestLookFollows(t *testing.T) {
	s := serve(t)
	if snap := s.look(); snap.NoQueue == nil || !snap.NoQueue.Missing {
		t.Errorf("%+v", snap)
	}
	s.make("")
	if snap := s.look(); snap.NoQueue != nil && snap.NoQueue.Missing || len(snap.Jobs)+len(snap.Access)+len(snap.Batches) > 0 {
		t.Errorf("%+v", snap)
	}
	s.make("/jobs/states/pending/05-jid0000000001", "/jobs/jid0000000001", "/access/large/qid0000000003", "/batches/bid0000000000")
	s.zk.Advance(time.Minute)
	s.make("/jobs/states/pending/00-jid0000000002", "/jobs/jid0000000002", "/jobs/states/odd")
	snap := s.look()
	want(t, "jobs", names(snap.Jobs), []string{"pending 2", "odd 0"})
	want(t, "access", names(snap.Access), []string{"large 1"})
	want(t, "batches", names(snap.Batches), []string{"batches 1"})
	// The oldest job is the one that was created first. Its priority does not matter.
	want(t, "oldest job", snap.Jobs[0].Oldest, &OldestView{"jid0000000001", 60, 60})
	want(t, "oldest request", snap.Access[0].Oldest.ID, "qid0000000003")
	want(t, "oldest batch", snap.Batches[0].Oldest.ID, "bid0000000000")

	s.zk.Advance(time.Minute)
	s.delete("/jobs/states/pending/05-jid0000000001")
	s.make("/jobs/states/processing/05-jid0000000001")
	snap = s.look()
	want(t, "jobs", names(snap.Jobs), []string{"pending 1", "processing 1", "odd 0"})
	want(t, "oldest pending", snap.Jobs[0].Oldest, &OldestView{"jid0000000002", 60, 60})
	want(t, "oldest processing", snap.Jobs[1].Oldest, &OldestView{"jid0000000001", 120, 0})

	s.delete("/jobs/states/odd", "/jobs/states/processing/05-jid0000000001", "/jobs/states/processing")
	want(t, "jobs", names(s.look().Jobs), []string{"pending 1"})
	s.delete("/jobs/states/pending/00-jid0000000002", "/jobs/states/pending", "/jobs/states", "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs",
		"/access/large/qid0000000003", "/access/large", "/access", "/batches/bid0000000000", "/batches", "")
	if snap := s.look(); snap.NoQueue == nil || !snap.NoQueue.Missing {
		t.Errorf("%+v", snap)
	}
	s.make("/jobs/states/held/05-jid0000000001")
	want(t, "jobs", names(s.look().Jobs), []string{"held 1"})
}

// If there is no new queue, a look says what is there instead.
func TestLookFindsNoQueue(t *testing.T) {
	s := serve(t)
	want(t, "no chroot", s.look().NoQueue, &target.NoQueue{Missing: true, Znodes: []string{}, Legacy: []string{}, Queues: []string{}})
	s.make("")
	want(t, "an empty place", s.look().NoQueue, &target.NoQueue{Znodes: []string{}, Legacy: []string{}, Queues: []string{}})
	s.make("/ingest/mrtQ-05000000000001", "/below/jobs", "/below/batches")
	found := s.look().NoQueue
	want(t, "a legacy queue", found, &target.NoQueue{Znodes: []string{"below", "ingest"}, Legacy: []string{"ingest"}, Queues: []string{"below"}})
	s.make("/jobs")
	want(t, "a queue without a job", s.look().NoQueue, (*target.NoQueue)(nil))
	s.make("/jobs/states/pending")
	want(t, "a queue", s.look().NoQueue, (*target.NoQueue)(nil))
	s.delete("/jobs/states/pending", "/jobs/states", "/jobs")
	want(t, "the legacy queue again", s.look().NoQueue, found)
}

// A look finds every kind of lock, and every hold, with their ages.
func TestLocksAndHolds(t *testing.T) {
	s := serve(t)
	s.make("/jobs/states/processing/05-jid0000000001", "/jobs/jid0000000001", "/jobs/states/completed/05-jid0000000002", "/jobs/jid0000000002",
		"/batches/bid0000000000", "/access/small/qid0000000000", "/locks/inventory", "/locks/localid", "/locks/queue/localid", "/locks/collections",
		"/locks/storage/ark_1")
	s.look()
	s.zk.Advance(time.Minute)
	for _, path := range []string{"/jobs/jid0000000001", "/jobs/jid0000000002", "/batches/bid0000000000", "/access/small/qid0000000000"} {
		s.lock(path + "/lock")
	}
	s.zk.Advance(time.Minute)
	for _, path := range []string{"/locks/inventory/i", "/locks/localid/a", "/locks/queue/localid/b"} {
		s.lock(path)
	}
	s.make("/locks/queue/ingest", "/locks/collections/demo")
	snap := s.look()
	got := []string{}
	for _, l := range snap.Locks.List {
		got = append(got, fmt.Sprintf("%s %s %v %t", l.Kind, l.Path, l.Seconds, l.Session == fmt.Sprintf("%#x", s.conn.SessionID())))
	}
	want(t, "locks", got, []string{
		"storage /locks/storage/ark_1 120 false", // persistent, as in dialect mrt-zk
		"access /access/small/qid0000000000/lock 60 true",
		"batch /batches/bid0000000000/lock 60 true",
		"job /jobs/jid0000000001/lock 60 true", // but no lock of a completed job
		"inventory /locks/inventory/i 0 true",
		"localid /locks/localid/a 0 true",
		"localid /locks/queue/localid/b 0 true",
	})
	want(t, "holds", snap.Holds, []HoldView{{"/locks/queue/ingest", "ingest", false, 0}, {"/locks/collections/demo", "demo", true, 0}})
	want(t, "counted", snap.Locks.Count, map[LockKind]int{LockJob: 1, LockBatch: 1, LockAccess: 1, LockStorage: 1, LockInventory: 1, LockLocalID: 2})

	s.delete("/locks/queue/ingest", "/locks/inventory/i", "/jobs/jid0000000001/lock")
	snap = s.look()
	want(t, "what is left", []int{len(snap.Locks.List), len(snap.Holds)}, []int{5, 1})
}

// A look at a quiet queue lists nothing but the states, and sends few requests. This keeps
// mrtq watch under 1 % of a core.
func TestQuietQueueCosts(t *testing.T) {
	s := serve(t)
	for i := range few + 1 {
		s.make(fmt.Sprintf("/jobs/states/pending/05-jid%010d", i))
	}
	for i := range 30 {
		s.make(fmt.Sprintf("/jobs/states/completed/05-jid%010d", 5000+i), fmt.Sprintf("/jobs/states/failed/05-jid%010d", 6000+i))
	}
	s.make("/jobs/jid0000000000", "/batches/bid0000000000", "/locks/queue/ingest", "/locks/storage/x", "/access/small")
	s.look()
	const looks = 10
	got := s.reads(func() {
		for range looks {
			s.zk.Advance(2 * time.Second)
			s.look()
		}
	})
	want(t, "lists", got[jute.OpGetChildren], looks)
	if n := got[jute.OpExists] + got[jute.OpMultiRead]; n > 4*looks {
		t.Errorf("%d looks: %v", looks, got)
	}
}

// A large folder that changes all the time is counted at each look, and listed only
// from time to time.
func TestBusyLargeFolder(t *testing.T) {
	s := serve(t)
	for i := range 2 * few {
		s.make(fmt.Sprintf("/jobs/states/completed/05-jid%010d", i))
	}
	s.look()
	lists := int64(0)
	for i := range 100 { // in 2 s
		s.zk.Advance(20 * time.Millisecond)
		s.delete(fmt.Sprintf("/jobs/states/completed/05-jid%010d", i))
		var snap View
		reads := s.reads(func() { snap = s.look() })
		lists += reads[jute.OpGetChildren] - 1 // of the states
		if got := snap.Jobs[0]; got.Count != 2*few-i-1 || got.Left != int64(i+1) {
			t.Fatalf("%d: %+v", i, got)
		}
	}
	if lists < 5 || lists > 10 { // 2000 names 5 times a second at the most
		t.Errorf("%d lists", lists)
	}
}

// A folder that may not be listed is counted and noted, and no look tries to list it
// again before that changes.
func TestNoPermissionToList(t *testing.T) {
	s := serve(t)
	s.make("/jobs/states/pending/05-jid0000000001", "/migration/runs/run0000000000")
	onlyOperator := zk.DigestACL(zk.PermAll, "operator", "secret")
	for _, path := range []string{"/new/jobs/states/pending", "/new/migration/runs/run0000000000"} {
		if _, err := s.conn.SetACL(path, onlyOperator, -1); err != nil {
			t.Fatal(err)
		}
	}
	snap := s.look()
	want(t, "jobs", names(snap.Jobs), []string{"pending 1"})
	want(t, "why", snap.Notes, []string{"/jobs/states/pending: no permission to list it, so neither its oldest entry nor its locks are known"})
	want(t, "run", snap.Migration.Damage, "no permission to read it")
	want(t, "lists", s.reads(func() { s.look() })[jute.OpGetChildren], 1) // of the states
	if err := s.conn.AddAuth("digest", []byte("operator:secret")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.conn.SetACL("/new/jobs/states/pending", zk.WorldACL(zk.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	want(t, "why", s.look().Notes, []string{})
}

// Children with names that no software makes are counted, and never taken for an id
// or a path.
func TestStrangeNames(t *testing.T) {
	s := serve(t)
	s.make("/jobs/states/pending/no entry", "/jobs/states/pending/05-", "/jobs/states/pending/05-jid1", "/jobs/states/pending/05-jid00000000012x",
		"/batches/x", "/access/small/\u202e", "/migration/runs/zzz", "/migration/election/me")
	for i := range 2 * statesListed {
		s.make(fmt.Sprintf("/jobs/states/\u202e%02d", i))
	}
	snap := s.look()
	want(t, "jobs", names(snap.Jobs)[0], "pending 4")
	want(t, "folders", len(snap.Jobs), 1+statesListed)
	for _, f := range slices.Concat(snap.Jobs, snap.Batches, snap.Access) {
		if f.Oldest != nil {
			t.Errorf("%s: %+v", f.Name, f.Oldest)
		}
	}
	want(t, "migration", snap.Migration, (*RunView)(nil))
	if log := fmt.Sprint(s.zk.Log()); strings.Contains(log, "/lock ") {
		t.Errorf("the look tried to find a lock:\n%s", log)
	}
}

// If a connection breaks, the session continues, and no look fails.
func TestLookOutlivesConnection(t *testing.T) {
	s := serve(t)
	s.make("/jobs/states/pending", "/jobs/states/held")
	s.look()
	for _, session := range s.zk.Sessions() {
		if session.ID != s.conn.SessionID() {
			s.zk.Disconnect(session.ID)
		}
	}
	s.make("/jobs/states/held/05-jid0000000001")
	for late := time.Now().Add(time.Minute); names(s.look().Jobs)[1] != "held 1"; {
		if time.Now().After(late) {
			t.Fatalf("%+v", s.look())
		}
		time.Sleep(time.Millisecond)
	}
}

// If the session has expired, a look returns an error, so that the caller opens
// another session.
func TestLookReportsALostSession(t *testing.T) {
	s := serve(t)
	s.make("/jobs/states/pending/05-jid0000000001")
	s.look()
	for _, session := range s.zk.Sessions() {
		if session.ID != s.conn.SessionID() {
			s.zk.ExpireSession(session.ID)
		}
	}
	if _, err := s.Look(t.Context()); err == nil || !strings.Contains(err.Error(), zkconn.ErrLost.Error()) {
		t.Errorf("%v", err)
	}
}

// A look counts the states of both dialects.
func TestStatesOfBothDialects(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, state := range d.JobStates() {
			if !slices.Contains(documented, state) {
				t.Errorf("%s of %s", state, d)
			}
		}
	}
}

// Legacy queues are counted, and never listed. A queue that does not exist is left out.
func TestLegacyQueues(t *testing.T) {
	s := serve(t)
	s.make("/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002", "/accessLarge.1", "/mrt.lock/ark-1")
	var list []Queue
	reads := s.reads(func() {
		var err error
		if list, err = LegacyQueues(t.Context(), s.r, rules.DefaultQueues()); err != nil {
			t.Fatal(err)
		}
	})
	want(t, "source", names(list), []string{"/ingest 2", "/accessLarge.1 0", "/mrt.lock 1"})
	want(t, "requests", reads, map[jute.OpCode]int64{jute.OpMultiRead: 1})
}
