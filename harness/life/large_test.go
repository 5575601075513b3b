package life_test

import (
	"fmt"
	"strings"
	"testing"

	"mrtq/internal/part"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// TestLargeLife lives the runbook with 600 batches, in parts as large as outside of tests: there, back with a job that stays, there
// again; the services finish, the cleanup removes the batches, late records of some of them come and are followed, and the migration is completed.
func TestLargeLife(t *testing.T) {
	part.Small(false) // the tests that are parallel begin later
	defer part.Small(true)
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			story, failed := world(t, d, night{}, nil, func(e *explored) {
				e.large = true
				e.finishLegacy()
				for i := range batches {
					status := legacy.Completed // the workers need not do much
					if i%60 == 0 {
						status = legacy.Pending
					}
					e.deposited(fmt.Sprint(1000+i), batchID(i), status)
				}
				e.must("migrate")
				e.exact()
				e.must("release")
				e.fails = true
				turn(e.world.Workers())
				e.fails = false
				e.must("rollback")
				e.exact()
				if back := len(e.records()); back < batches {
					e.failf("records are lost", "%d came back", back)
				}
				e.must("migrate")
				e.exact()
				e.must("release")
				e.everything()
				if left := len(e.tree().Children(newqueue.BatchesPath)); left > 1 { // the one with a completed inventory job
					e.failf("not cleaned up", "%d batches are left", left)
				}
				for _, i := range []int{0, 1, batches / 2, batches - 1} {
					e.deposited(fmt.Sprint(2000+i), batchID(i), legacy.Pending)
				}
				e.must("follow")
				e.exact()
				if name := batchID(0) + "-2"; e.tree().Get(newqueue.BatchUUIDPath(name)) == nil {
					e.failf("a name is used twice", "no batch %s", name)
				}
				e.everything()
				e.must("complete")
				e.exact()
				e.count()
				e.mails()
			})
			if failed != "" {
				t.Errorf("%s\n    %s", failed, strings.Join(story, "\n    "))
			}
		})
	}
}

const batches = 600

func batchID(i int) string { return fmt.Sprintf("bid-large-%d", i) }

// exact fails unless verify finds nothing.
func (e *explored) exact() {
	v := value(migrate.Verify(e.ctx, nil, &e.source.Reader, migrate.VerifyOptions{}))
	if len(v.Differences) > 0 {
		e.failf("verify does not pass", "%d: %v", len(v.Differences), v.Differences[0])
	}
}

func (e *explored) everything() {
	must(e.world.Run())
	e.resume()
	must(e.world.Run())
	must(e.world.Clean())
}
