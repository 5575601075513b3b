package migrate

import (
	"context"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// heldQueues are the names of a site's queue holds.
func heldQueues(t *testing.T, s *site) []string {
	t.Helper()
	return treeOf(t, s).Children("/locks/queue")
}

// A rollback holds a released queue again before it removes anything, and releases it at the
// end. It names what stays of the run, with the legacy records.
func TestRollbackHoldsAReleasedQueue(t *testing.T) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "two"}),
		"/ingest/mrtQ-05000000000003": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1", "jobID": "three"}),
	}))
	for name, c := range map[string]struct {
		work func(t *testing.T, s *site)
		why  string // why the first job stays; "" if everything is removed
	}{
		"nothing was worked on": {func(*testing.T, *site) {}, ""},
		"a worker took a job on and let it go": {func(t *testing.T, s *site) {
			do(t, s, znode.Create("/jobs/jid0000000001/lock", none))
			do(t, s, znode.Delete("/jobs/jid0000000001/lock", -1))
		}, "a worker has started on it: a lock below /jobs/jid0000000001 was acquired and released"},
		"a worker has moved one": {func(t *testing.T, s *site) {
			do(t, s, znode.Delete("/jobs/states/pending/05-jid0000000001", -1), znode.Create("/jobs/states/pending/03-jid0000000001", none))
		}, "a worker has moved it: /jobs/states/pending/03-jid0000000001 was created later"},
		"another client removed a part of one": {func(t *testing.T, s *site) {
			do(t, s, znode.Delete("/jobs/jid0000000001/priority", -1))
		}, "a child of /jobs/jid0000000001 was removed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, znode.NewTree())
			res := mustMigrate(t, s, src, options(permissive()))
			for _, hold := range []string{"accessLarge", "accessSmall", "ingest"} {
				do(t, s, znode.Delete("/locks/queue/"+hold, -1))
			}
			c.work(t, s)
			var said []string
			during := 0
			m := &Migrator{Target: s.Target, Now: clock(), Budget: 1, Say: func(text string) { said = append(said, text) },
				Progress: func(int, int) {
					if holds := heldQueues(t, s); !slices.Equal(holds, []string{"accessLarge", "accessSmall", "ingest"}) {
						t.Errorf("meanwhile it holds %v", holds)
					}
					during++
				}}
			u, err := m.Rollback(t.Context(), res.Run, false)
			if err != nil {
				t.Fatal(err)
			}
			if during == 0 || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "held again") }) {
				t.Errorf("%d transactions, it said %q", during, said)
			}
			if holds := heldQueues(t, s); len(holds) > 0 {
				t.Errorf("in the end it holds %v", holds)
			}
			if len(u.Left) > 0 {
				t.Errorf("its own znodes are said to be others': %v", u.Left)
			}
			if c.why == "" {
				if left := treeOf(t, s).Paths("/"); len(left) > 1 || u.Twice.Count > 0 {
					t.Errorf("left %v, twice %v", left, u.Twice)
				}
				return
			}
			want := []TwiceJob{
				{"/ingest/mrtQ-05000000000001", "/jobs/jid0000000001", c.why},
				{"/ingest/mrtQ-05000000000002", "/jobs/jid0000000002", "its batch stays: " + c.why},
			}
			slices.SortFunc(u.Twice.Jobs, func(a, b TwiceJob) int { return strings.Compare(a.Record, b.Record) })
			if u.Twice.Count != 2 || !slices.Equal(u.Twice.Jobs, want) {
				t.Errorf("twice %v\nwant %v", u.Twice, want)
			}
		})
	}
}

// If a rollback is killed after it has held the queues again, the next one lifts these holds
// at its end.
func TestRollbackThatWasKilledLiftsItsHolds(t *testing.T) {
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, src, options(permissive()))
	removeAll(t, s, "/locks")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &Migrator{Target: s.Target, Now: clock(), Budget: 1, Progress: func(int, int) { cancel() }}
	if _, err := m.Rollback(ctx, res.Run, false); err == nil {
		t.Fatal("it was not killed")
	}
	if holds := heldQueues(t, s); len(holds) != 3 {
		t.Errorf("after the kill it holds %v", holds)
	}
	if u, err := (&Migrator{Target: s.Target, Now: clock()}).Rollback(t.Context(), res.Run, false); err != nil || len(u.Left) > 0 {
		t.Fatalf("%v, %+v", err, u)
	}
	if left := treeOf(t, s).Paths("/"); len(left) > 1 {
		t.Errorf("left %v", left)
	}
}
