package migrate_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// The golden files have the whole tree that the corpus becomes, in both dialects. A person
// can read them beside docs/migration.md, "From a record to znodes".
func TestMigratedTree(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, corpus(t), d)
		res := s.mustMigrate(s.options())
		if want := (migration.Counts{Jobs: 10, Access: 2, Batches: 3}); res.Created != want || res.Run != "run0000000000" {
			t.Errorf("%s created %+v, want %+v", res.Run, res.Created, want)
		}
		goldenfile.Compare(t, filepath.Join("testdata", "tree-"+string(d)+".txt"), dump(s.tree(), queueRoots...), *update)
		if v := s.mustVerify(); v.Records.Migrated != 12 {
			t.Errorf("verify looked at %+v", v.Records)
		}
		if problems := merritt.Problems(s.tree(), d); len(problems) > 0 {
			t.Errorf("layout: %v", problems)
		}
	})
}

// A second migration of the same records writes nothing, and does not even wait for its turn.
func TestSecondMigrationWritesNothing(t *testing.T) {
	s := serve(t, corpus(t), newqueue.MrtZK)
	s.mustMigrate(s.options())
	before := dump(s.tree(), "/")
	s.server.ResetCounts()
	if res := s.mustMigrate(s.options()); res.Transactions != 0 || res.Plan.Count("unchanged") != 12 {
		t.Errorf("%d transactions, %v", res.Transactions, res.Plan.Counts())
	}
	if n := s.server.Counts().Writes; n != 0 || dump(s.tree(), "/") != before {
		t.Errorf("%d writes: %s", n, goldenfile.FirstDifference(before, dump(s.tree(), "/")))
	}
}

// liveQueue is a new queue in use: one job of another client, in a batch, and a legacy queue
// beside it.
func liveQueue(t *testing.T, d newqueue.Dialect) *site {
	s := serve(t, corpus(t), d)
	q := s.queue()
	s.must(q.Init(t.Context()))
	s.ensure(newqueue.AccessPath, newqueue.AccessQueuePath(newqueue.AccessSmall))
	bid := value(q.CreateBatch(t.Context(), newqueue.Submission{BatchID: "bid-other", ProfileName: "p"}))(s)
	s.must(process(t, q, bid, "other"))
	return s
}

// process gives a new batch one job, as the service does that reads the batch's manifest.
func process(t *testing.T, q *client.Queue, bid, name string) error {
	b, err := q.AcquireBatch(t.Context(), newqueue.BatchPending)
	if err != nil {
		return err
	}
	return errorOf(b.Process(t.Context(), client.JobSpec{Configuration: newqueue.Configuration{BatchID: bid, ProfileName: "p", PayloadURL: name}, Priority: 5}))
}

// A migration leaves a live queue's jobs alone and continues after their ids. A rollback
// before the release leaves the target as it was, but for the layout and the migration's own
// records.
func TestQueueInUseStaysAsItIs(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, c := range []struct {
			name string
			make func(*testing.T, newqueue.Dialect) *site
		}{
			{"none", func(t *testing.T, d newqueue.Dialect) *site { return serve(t, corpus(t), d) }},
			{"live", liveQueue},
			{"an empty /jobs alone", func(t *testing.T, d newqueue.Dialect) *site {
				s := serve(t, corpus(t), d)
				s.ensure(newqueue.JobsPath)
				return s
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := c.make(t, d)
				before := s.tree()
				s.mustMigrate(s.options())
				after := s.tree()
				for n := range before.All("/") {
					got := after.Get(n.Path)
					if n.Path == newqueue.JobsPath {
						continue // its data names the newest run
					}
					if got == nil || !znode.SameData(n.Data, got.Data) || got.Stat.Version != n.Stat.Version {
						t.Errorf("%s was changed", n.Path)
					}
				}
				s.mustVerify()
				sameNumbers(t, before, after)

				undo := s.mustRollback(migrate.RollbackOptions{})
				if len(undo.Keeps) > 0 || undo.Removes != (migration.Counts{Jobs: 10, Access: 2, Batches: 3}) {
					t.Errorf("rolled back: %+v", undo)
				}
				rolledBack(t, before, s.tree())
			})
		}
	})
}

// sameNumbers checks that the migration's ids continue where ZooKeeper's own numbers were,
// without a gap, and that those continue after the last id.
func sameNumbers(t *testing.T, before, after *znode.Tree) {
	t.Helper()
	for parent, prefix := range map[string]string{newqueue.JobsPath: newqueue.JobPrefix, newqueue.BatchesPath: newqueue.BatchPrefix, newqueue.AccessQueuePath(newqueue.AccessSmall): newqueue.AccessPrefix} {
		next := int32(0)
		if n := before.Get(parent); n != nil {
			next, _ = n.Stat.NextSequence()
		}
		if parent == newqueue.JobsPath && before.Get(newqueue.JobStatesPath) == nil {
			next++ // its child states took a number
		}
		for _, name := range after.Children(parent) {
			if id, ok := newqueue.ParseSequenceID(prefix, name); ok && before.Get(znode.Join(parent, name)) == nil {
				if id != next {
					t.Errorf("%s/%s has not the number %d", parent, name, next)
				}
				next++
			}
		}
		if at, _ := after.Get(parent).Stat.NextSequence(); at != next {
			t.Errorf("the counter of %s is at %d, expected %d", parent, at, next)
		}
	}
}

// rolledBack checks that a tree is what it was before a run that was rolled back: but for
// the layout and empty folders of batches, which stay, and the migration's own records.
func rolledBack(t testing.TB, before, after *znode.Tree) {
	t.Helper()
	for _, c := range znode.Diff(before, after, "/") {
		added := after.Get(c.Path) != nil && before.Get(c.Path) == nil
		stays := slices.Contains(layoutPaths, c.Path) || strings.HasPrefix(c.Path, "/batches/") && newqueue.BatchFolder(znode.Name(c.Path)) != newqueue.FolderProcessing &&
			slices.Contains(newqueue.BatchFolders, newqueue.BatchFolder(znode.Name(c.Path)))
		if !(added && stays) && c.Path != newqueue.JobsPath && !znode.Within(c.Path, "/migration") {
			t.Errorf("after the rollback: %s", c)
		}
	}
}

// layoutPaths are the layout's own znodes in either dialect, by what the published design says.
var layoutPaths = func() []string {
	paths := []string{"/batches", "/batch-uuids", "/jobs", "/jobs/states", "/access", "/access/small", "/access/large", "/locks", "/locks/queue", "/locks/storage",
		"/locks/inventory", "/locks/collections", "/locks/queue/localid", "/locks/localid"}
	for _, state := range []string{"pending", "held", "estimating", "provisioning", "downloading", "processing", "storing", "recording", "notify", "failed", "deleted", "completed"} {
		paths = append(paths, "/jobs/states/"+state)
	}
	return paths
}()

// An inventory record's object is stored and not yet recorded. Its job begins, or is resumed
// by an administrator, at recording.
func TestInventoryGoesOnAtRecording(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := map[string][]byte{}
		for _, status := range []legacy.Status{legacy.Pending, legacy.Held, legacy.Failed} {
			records["/mrt.inventory.full/mrtQ-05000000000"+string(rune('0'+status))] = record(t, status, legacy.Payload{"manifestURL": "http://store/m/ark"})
		}
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		s.release()
		resumed := 0
		for path := range records {
			job := value(s.queue().Job(t.Context(), znode.Name(s.jobOf(path))))(s)
			if job.Status.State == newqueue.JobFailed {
				state, err := s.queue().ResumeJob(t.Context(), job.ID)
				if err != nil || state != newqueue.JobRecording {
					t.Errorf("%s is resumed at %s: %v", path, state, err)
				}
				resumed++
			} else if job.Status.State != newqueue.JobRecording {
				t.Errorf("%s begins as %s", path, job.Status.State)
			}
		}
		if resumed != 2 {
			t.Errorf("%d jobs were resumed", resumed)
		}
		s.mustVerify()
	})
}
