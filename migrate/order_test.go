package migrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// Workers acquire the jobs and requests of each legacy consumer in the order in which that
// consumer would have taken its records (docs/migration.md, "Order").
func TestAcquiredInOrder(t *testing.T) {
	tree := crowded(t)
	s := serve(t, tree, newqueue.Design)
	s.mustMigrate(s.options())
	s.mustVerify()

	record := map[string]string{} // by its job or request
	all := value(migrate.ReadMigrated(t.Context(), &s.w.Reader))(s)
	for _, r := range all {
		record[r.Job] = r.Record
	}
	var ingest, access []string
	for j, err := range s.queue(client.IgnoreHolds()).AcquireJobs(t.Context(), newqueue.JobPending) {
		s.must(err)
		ingest = append(ingest, record[j.Path()])
	}
	for {
		a, err := s.queue(client.IgnoreHolds()).AcquireRequest(t.Context(), newqueue.AccessSmall, newqueue.AccessPending)
		if errors.Is(err, client.ErrNoneAvailable) {
			break
		}
		s.must(err)
		access = append(access, record[a.Path()])
	}
	if len(ingest) < 100 || len(access) < 10 {
		t.Fatalf("%d jobs and %d requests are too few to tell", len(ingest), len(access))
	}
	for w := range 3 {
		for _, high := range []bool{false, true} {
			c := legacyqueue.Consumer{Worker: fmt.Sprint(w), HighPriority: high}
			sameOrder(t, fmt.Sprintf("%+v", c), takenBy(c, tree, "/ingest"), ingest)
		}
	}
	sameOrder(t, "access", takenBy(legacyqueue.Consumer{}, tree, "/accessSmall.1"), access)
}

// Keys of ingest before June 2023 have no worker, and before May 2023 no flag either. Such records are migrated in the
// order of the legacy queue, and given back under the same names.
func TestOldKeys(t *testing.T) {
	names := []string{"mrtQ-050000212176", "mrtQ-0500000212178", "mrtQ-0510000212177", "mrtQ-05000000212175"} // as numbers
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := map[string][]byte{}
		for i, name := range names {
			records["/ingest/"+name] = record(t, legacy.Pending, job("k", fmt.Sprint(i)))
		}
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		s.mustVerify()
		last := ""
		for _, name := range names {
			if id := s.jobOf("/ingest/" + name); id <= last {
				t.Errorf("%s became %s, after %s", name, id, last)
			} else {
				last = id
			}
		}
		s.release()
		if given := s.tree().Children("/ingest"); len(given) != 0 {
			t.Fatalf("released, and the legacy queue still has %q", given)
		}
		s.mustRollback(migrate.RollbackOptions{})
		for _, name := range names {
			if got := s.tree().Get("/ingest/" + name); got == nil || !bytes.Equal(got.Data, records["/ingest/"+name]) {
				t.Errorf("%s was not given back as it was: %+v", name, got)
			}
		}
		s.mustVerify()
	})
}

// A record that somebody changed after its run began can get its job later than its place: that is no damage.
func TestChangedWhileItsRunIsInterrupted(t *testing.T) {
	for _, status := range []legacy.Status{legacy.Completed, legacy.Pending} {
		each(t, func(t *testing.T, d newqueue.Dialect) {
			records := pendings(t, 6, 2)
			records[ingest(0)] = record(t, legacy.Consumed, job("0", "0"))
			s := serve(t, queueTree(t, records), d)
			opt := s.options()
			opt.Choices.Consumed, opt.Limits = "leave", single
			if _, err := migrate.Migrate(until(t, migrate.PhaseSending, 4), s.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
				t.Fatalf("not interrupted: %v", err)
			}
			s.set(ingest(0), record(t, status, job("0", "0")))
			s.mustMigrate(opt)
			if s.jobOf(ingest(0)) < s.jobOf(ingest(1)) {
				t.Fatal("the job of the changed record did not come later")
			}
			s.mustVerify()
		})
	}
}

// crowded is a legacy queue whose records have few different priorities, flags and workers,
// so that many are equal, and any sequence number, wrapped ones too.
func crowded(t *testing.T) *znode.Tree {
	random := rand.New(rand.NewPCG(9, 9))
	records := map[string][]byte{}
	for i := range 240 {
		sequence := int32(random.IntN(1000) - 500)
		if i%3 == 0 {
			sequence = int32(random.Uint32())
		}
		key := legacy.Key{Priority: random.IntN(3), Sequence: sequence}
		if i%8 == 0 {
			records["/accessSmall.1/"+key.String()] = record(t, legacy.Pending, legacy.Payload{"token": fmt.Sprint(i)})
			continue
		}
		key.Flagged, key.HighPriority = true, random.IntN(2) == 0
		if i%5 != 0 { // as before June 2023
			key.Worker = fmt.Sprint(random.IntN(3))
		}
		records["/ingest/"+key.String()] = record(t, legacy.Pending, job(fmt.Sprint(i%5), fmt.Sprint(i)))
	}
	return queueTree(t, records)
}

// takenBy is what a legacy consumer takes if it is the only one, in its order: every record is pending.
// It took keys with fewer digits first, whatever their priority; the new queue goes by priority first.
func takenBy(c legacyqueue.Consumer, tree *znode.Tree, node string) (order []string) {
	for _, name := range c.Candidates(tree.Children(node)) {
		order = append(order, node+"/"+name)
	}
	priority := len(node + "/mrtQ-")
	slices.SortStableFunc(order, func(a, b string) int {
		return strings.Compare(a[priority:priority+2], b[priority:priority+2])
	})
	return order
}

func sameOrder(t *testing.T, consumer string, then, now []string) {
	t.Helper()
	mine := slices.DeleteFunc(slices.Clone(now), func(path string) bool { return !slices.Contains(then, path) })
	if len(then) < 10 || !slices.Equal(mine, then) {
		t.Errorf("%s took\n  %s\nand workers acquired\n  %s", consumer, strings.Join(then, "\n  "), strings.Join(mine, "\n  "))
	}
}
