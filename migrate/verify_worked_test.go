package migrate

import (
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// What workers do after a queue was released is not damage. While it is held, it is, and so are
// changes to what workers don't write.
func TestWorkIsNoDamage(t *testing.T) {
	take := func(t *testing.T, s *site, d newqueue.Dialect) *newqueue.Job {
		job, err := newqueue.Open(s.door, d).AcquireJob(t.Context(), newqueue.JobPending)
		if err != nil {
			t.Fatal(err)
		}
		return job
	}
	lift := func(t *testing.T, s *site) {
		do(t, s, znode.Delete("/locks/queue/ingest", -1))
	}
	type counts struct{ jobs, finished, released int }
	for name, c := range map[string]struct {
		change  func(t *testing.T, s *site, d newqueue.Dialect)
		want    counts
		damaged []string // what differs, by path
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
		"all is done and cleaned": {func(t *testing.T, s *site, d newqueue.Dialect) { workOff(t, s, d) }, counts{finished: 4, released: 3}, nil},
		"a job was worked on, and its configuration changed": {func(t *testing.T, s *site, d newqueue.Dialect) {
			lift(t, s)
			if err := take(t, s, d).Succeed(t.Context()); err != nil {
				t.Fatal(err)
			}
			do(t, s, znode.Set("/jobs/jid0000000001/configuration", []byte("{}"), -1))
		}, counts{released: 1}, []string{"/jobs/jid0000000001/configuration", "/jobs/jid0000000001/status"}},
		"a job was deleted, and its batch stands": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			removeAll(t, s, "/jobs/jid0000000001")
		}, counts{released: 1}, []string{"/ingest/mrtQ-05000000000001"}},
		"a job lost its entry": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Delete("/jobs/states/pending/05-jid0000000001", -1))
		}, counts{released: 1}, []string{"/jobs/states/pending/05-jid0000000001"}},
		"a job that nobody took says something else": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			lift(t, s)
			do(t, s, znode.Set("/jobs/jid0000000001/identifiers", []byte("{}"), -1))
		}, counts{released: 1}, []string{"/jobs/jid0000000001/identifiers"}},
		"a job was changed while the queue is held": {func(t *testing.T, s *site, _ newqueue.Dialect) {
			do(t, s, znode.Set("/jobs/jid0000000001/priority", []byte("3"), -1))
		}, counts{}, []string{"/jobs/jid0000000001/priority"}},
	} {
		for _, d := range newqueue.Dialects {
			t.Run(name+"/"+string(d), func(t *testing.T) {
				opt := options(permissive())
				opt.Dialect = d
				src := source(t, queue(t, fourRecords(t)))
				s := serve(t, znode.NewTree())
				mustMigrate(t, s, src, opt)
				c.change(t, s, d)
				v := verdict(t, src, treeOf(t, s), VerifyOptions{})
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
