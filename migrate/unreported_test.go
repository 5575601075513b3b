package migrate_test

import (
	"fmt"
	"testing"
	"time"

	"mrtq/newqueue"
)

// TestStatusNamesUnreportedBatches: a batch that waits for no job is named once a day has passed since its last job was done, but not
// while a worker has it or the queue is held.
func TestStatusNamesUnreportedBatches(t *testing.T) {
	t.Parallel()
	s, _ := releasedQueue(t)
	if got := s.status().Unreported; len(got) > 0 {
		t.Fatalf("before: %+v", got)
	}
	status := func(state string, age time.Duration) []byte {
		return []byte(fmt.Sprintf(`{"status":%q,"last_modified":%q}`, state, time.Now().Add(-age).Format("2006-01-02 15:04:05 -0700")))
	}
	const old, young = 25 * time.Hour, 23 * time.Hour
	batch := newqueue.BatchPath("bid0000000900")
	job := newqueue.JobPath("jid0000000900")
	for _, path := range []string{batch, batch + "/states", batch + "/states/batch-processing", batch + "/states/batch-completed", job} {
		s.create(path, nil)
	}
	s.create(batch+"/status", status("Processing", old))
	s.create(job+"/status", status("Completed", young))
	named := func(what string, want int) {
		t.Helper()
		if got := s.status().Unreported; len(got) != want || want > 0 && got[0].Path != batch {
			t.Errorf("%s: %+v", what, got)
		}
	}
	named("without a job", 1)
	s.create(batch+"/states/batch-completed/jid0000000900", nil)
	named("its job was done 23 hours ago", 0)
	s.set(job+"/status", status("Completed", old))
	named("its job was done 25 hours ago", 1)
	s.create(batch+"/states/batch-processing/jid0000000901", nil)
	named("it waits for a job", 0)
	s.remove(batch + "/states/batch-processing/jid0000000901")
	s.create(batch+"/lock", nil)
	named("a worker has it", 0)
	s.remove(batch + "/lock")
	s.hold("admin", newqueue.HoldIngest)
	named("the queue is held", 0)
}
