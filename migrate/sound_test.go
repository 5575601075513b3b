package migrate_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// work is one thing that a worker, a service or an administrator does, as the published design
// allows it. It returns an error if that is not possible now.
type work struct {
	name string
	do   func(w *worker) error
}

// worker does random works. It knows nothing of what a migration made.
type worker struct {
	*site
	ctx  context.Context
	q    *newqueue.Queue
	rand *rand.Rand
	held []interface{ Unlock(context.Context) error } // locks that it still has
}

func newWorker(s *site, seed uint64, opts ...newqueue.Option) *worker {
	return &worker{site: s, ctx: s.t.Context(), q: s.queue(opts...), rand: rand.New(rand.NewPCG(seed, 1))}
}

// pick is a random child whose name begins so.
func (w *worker) pick(parent, prefix string) (string, error) {
	names := slices.DeleteFunc(w.tree().Children(parent), func(name string) bool {
		_, ok := newqueue.ParseSequenceID(prefix, name)
		return !ok
	})
	if len(names) == 0 {
		return "", fmt.Errorf("nothing in %s", parent)
	}
	return names[w.rand.IntN(len(names))], nil
}

func (w *worker) job() (*newqueue.Job, error) {
	jid, err := w.pick(newqueue.JobsPath, newqueue.JobPrefix)
	if err != nil {
		return nil, err
	}
	return w.q.Job(w.ctx, jid)
}

// jobWork is a work on a random job.
func jobWork(name string, do func(w *worker, j *newqueue.Job) error) work {
	return work{name, func(w *worker) error {
		j, err := w.job()
		if err != nil {
			return err
		}
		return do(w, j)
	}}
}

// lockedWork is what a worker does with a job before its step is over.
func lockedWork(name string, do func(w *worker, j *newqueue.Job) error) work {
	return jobWork(name, func(w *worker, j *newqueue.Job) error {
		acquired, err := w.q.AcquireJob(w.ctx, j.Status.State)
		if err != nil {
			return err
		}
		if err := do(w, acquired); err != nil {
			return err
		}
		return acquired.Unlock(w.ctx)
	})
}

func batchWork(name string, do func(w *worker, bid string) error) work {
	return work{name, func(w *worker) error {
		bid, err := w.pick(newqueue.BatchesPath, newqueue.BatchPrefix)
		if err != nil {
			return err
		}
		return do(w, bid)
	}}
}

// works are what the published design allows, beside the transitions of the state machines.
var works = []work{
	jobWork("a worker dies with a job", func(w *worker, j *newqueue.Job) error {
		acquired, err := w.q.AcquireJob(w.ctx, j.Status.State)
		if err == nil {
			w.held = append(w.held, acquired)
		}
		return err
	}),
	jobWork("set priority", func(w *worker, j *newqueue.Job) error { return w.q.SetPriority(w.ctx, j.ID, w.rand.IntN(100)) }),
	lockedWork("set space needed", func(w *worker, j *newqueue.Job) error { return j.Set(w.ctx, newqueue.WithSpaceNeeded(1<<40)) }),
	lockedWork("the identifiers are minted", func(w *worker, j *newqueue.Job) error {
		return j.Set(w.ctx, newqueue.WithIdentifiers(newqueue.Identifiers{PrimaryID: "ark:/99999/minted"}))
	}),
	lockedWork("Process writes what is to be recorded", func(w *worker, j *newqueue.Job) error {
		return j.Set(w.ctx, newqueue.WithInventory(newqueue.Inventory{ManifestURL: "http://store/m/1", Mode: "add"}))
	}),
	lockedWork("Process writes what is to be stored", func(w *worker, j *newqueue.Job) error {
		return j.Set(w.ctx, newqueue.WithStore(newqueue.Store{ManifestURL: "http://ingest/m/1", Mode: "add"}))
	}),
	lockedWork("Process rewrites the configuration", func(w *worker, j *newqueue.Job) error {
		o, err := newqueue.ParseObject(w.data(j.Path() + "/configuration"))
		if err != nil {
			return err
		}
		o["objectID"] = "ark:/99999/minted"
		data, err := o.Marshal()
		if err != nil {
			return err
		}
		w.set(j.Path()+"/configuration", data)
		return nil
	}),
	jobWork("resume", func(w *worker, j *newqueue.Job) error { _, err := w.q.ResumeJob(w.ctx, j.ID); return err }),
	jobWork("delete a job", func(w *worker, j *newqueue.Job) error { _, err := w.q.DeleteJob(w.ctx, j.ID); return err }),
	batchWork("a batch gets one more job", func(w *worker, bid string) error {
		_, err := w.q.CreateJob(w.ctx, bid, newqueue.NewJob{Priority: 5, Configuration: newqueue.Configuration{ProfileName: "p"}})
		return err
	}),
	batchWork("workers fail all jobs of a batch", func(w *worker, bid string) error {
		failed := newqueue.ErrNotFound
		for _, state := range w.dialect.JobStates() {
			for j, err := range w.q.AcquireJobs(w.ctx, state) {
				if err != nil {
					break // the last one
				}
				do := j.Unlock
				if j.BatchID == bid && state.Folder() == newqueue.FolderProcessing {
					do, failed = func(ctx context.Context) error { return j.Fail(ctx, "bad digest") }, nil
				}
				if err := do(w.ctx); err != nil {
					return err
				}
			}
		}
		return failed
	}),
	batchWork("report a batch that is emptied", func(w *worker, bid string) error {
		return w.q.MoveBatch(w.ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting)
	}),
	batchWork("delete a batch", func(w *worker, bid string) error { _, err := w.q.DeleteBatch(w.ctx, bid); return err }),
	{"a new batch", func(w *worker) error {
		_, err := w.q.CreateBatch(w.ctx, newqueue.Submission{BatchID: fmt.Sprint("bid-new-", w.rand.Int()), ProfileName: "p"})
		return err
	}},
	{"a batch's jobs are created", func(w *worker) error { return process(w.t.(*testing.T), w.q, "", "p") }},
	{"send a report", func(w *worker) error {
		b, err := w.q.AcquireBatch(w.ctx, newqueue.BatchReporting)
		if err != nil {
			return err
		}
		return finish(w, b)
	}},
	batchWork("send an update report after the failed jobs were deleted", func(w *worker, bid string) error {
		failed := w.tree().Children(newqueue.BatchFolderPath(bid, newqueue.FolderFailed))
		if err := w.q.MoveBatch(w.ctx, bid, newqueue.BatchFailed, newqueue.BatchUpdateReporting); err != nil {
			return err
		}
		for _, jid := range failed {
			if _, err := w.q.DeleteJob(w.ctx, jid); err != nil {
				return err
			}
		}
		b, err := w.q.AcquireBatch(w.ctx, newqueue.BatchUpdateReporting)
		if err != nil {
			return err
		}
		return finish(w, b)
	}),
	{"the hourly cleanup of batches", func(w *worker) error { _, err := w.q.CleanupBatches(w.ctx); return err }},
	{"the hourly cleanup of jobs", func(w *worker) error { _, err := w.q.CleanupJobs(w.ctx); return err }},
	{"repair batches", func(w *worker) error { _, err := w.q.RepairBatches(w.ctx); return err }},
	{"the hourly cleanup of requests", func(w *worker) error {
		_, err := w.q.CleanupRequests(w.ctx, newqueue.AccessQueues[w.rand.IntN(2)])
		return err
	}},
	{"lock an object", func(w *worker) error { return w.q.Lock(w.ctx, newqueue.StorageLock("ark:/99999/1")) }},
	{"unlock an object", func(w *worker) error { return w.q.Unlock(w.ctx, newqueue.StorageLock("ark:/99999/1")) }},
	{"lock an inventory object", func(w *worker) error { return w.q.Lock(w.ctx, newqueue.InventoryLock("ark:/99999/1")) }},
	{"hold a collection", func(w *worker) error { return w.q.Lock(w.ctx, newqueue.CollectionLock("p")) }},
	{"a worker lets its item go", func(w *worker) error {
		if len(w.held) == 0 {
			return newqueue.ErrNotLocked
		}
		last := w.held[len(w.held)-1]
		w.held = w.held[:len(w.held)-1]
		return last.Unlock(w.ctx)
	}},
}

func finish(w *worker, b *newqueue.Batch) error {
	r, err := b.Report(w.ctx)
	if err != nil {
		return err
	}
	return b.Finish(w.ctx, r)
}

// transition makes a transition of one of the state machines, if something is in the state in
// which it begins.
func (w *worker) transition(e states.Entity, t states.Transition) error {
	switch e {
	case states.Job:
		if !t.Who.HoldsLock() {
			for j, err := range jobsIn(w, t.From) {
				if err != nil {
					return err
				}
				return w.q.MoveJob(w.ctx, j.ID, "", newqueue.JobState(t.To))
			}
			return newqueue.ErrNotFound
		}
		j, err := w.q.AcquireJob(w.ctx, newqueue.JobState(t.From))
		if err != nil {
			return err
		}
		w.mustVerify() // while the worker has it
		return j.MoveTo(w.ctx, newqueue.JobState(t.To))
	case states.Batch:
		if !t.Who.HoldsLock() {
			now := w.statesNow()
			for _, path := range slices.Sorted(maps.Keys(now)) {
				if znode.Within(path, "/batches") && now[path] == t.From && w.q.MoveBatch(w.ctx, znode.Name(path), "", newqueue.BatchState(t.To)) == nil {
					return nil
				}
			}
			return newqueue.ErrNotFound
		}
		b, err := w.q.AcquireBatch(w.ctx, newqueue.BatchState(t.From))
		if err != nil {
			return err
		}
		w.mustVerify()
		if err := b.MoveTo(w.ctx, newqueue.BatchState(t.To)); err != nil {
			_ = b.Unlock(w.ctx)
			return err
		}
		return nil
	}
	queue := newqueue.AccessQueues[w.rand.IntN(2)]
	if !t.Who.HoldsLock() {
		qid, err := w.pick(newqueue.AccessQueuePath(queue), newqueue.AccessPrefix)
		if err != nil {
			return err
		}
		return w.q.MoveRequest(w.ctx, queue, qid, "", newqueue.AccessState(t.To))
	}
	a, err := w.q.AcquireRequest(w.ctx, queue, newqueue.AccessState(t.From))
	if err != nil {
		return err
	}
	w.mustVerify()
	return a.MoveTo(w.ctx, newqueue.AccessState(t.To), "done")
}

func jobsIn(w *worker, state string) func(func(*newqueue.Job, error) bool) {
	return func(yield func(*newqueue.Job, error) bool) {
		jobs, err := w.q.Jobs(w.ctx, newqueue.JobState(state))
		if err != nil {
			yield(nil, err)
			return
		}
		if len(jobs) > 0 {
			yield(jobs[w.rand.IntN(len(jobs))], nil)
		}
	}
}

// statesNow are the states of all jobs, batches and requests, by path.
func (s *site) statesNow() map[string]string {
	all := map[string]string{}
	tree := s.tree()
	for _, parent := range []string{"/jobs", "/batches", "/access/small", "/access/large"} {
		for _, name := range tree.Children(parent) {
			if n := tree.Get(parent + "/" + name + "/status"); n != nil {
				all[parent+"/"+name] = strings.ToLower(fmt.Sprint(jsonOf(s.t, n.Data)["status"]))
			}
		}
	}
	return all
}

// observe notes the transitions that were made between two looks.
func observe(all []tried, before, after map[string]string, done map[string]bool) {
	parent := map[states.Entity]string{states.Job: "/jobs/", states.Batch: "/batches/", states.Access: "/access/"}
	for path, to := range after {
		for _, x := range all {
			if strings.HasPrefix(path, parent[x.entity]) && before[path] == x.t.From && to == x.t.To {
				done[x.name()] = true
			}
		}
	}
}

// workQueue is a legacy queue with enough of everything for long work.
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

// tried are all transitions of a dialect that a queue can be taken through from outside.
type tried struct {
	entity states.Entity
	t      states.Transition
}

func (x tried) name() string { return string(x.entity) + " " + x.t.String() }

func transitions(d newqueue.Dialect) (all []tried) {
	for _, e := range states.Entities {
		for _, t := range states.Of(e, string(d)) {
			if t.From != states.Created && t.To != states.Removed {
				all = append(all, tried{e, t})
			}
		}
	}
	return all
}

// After the release, nothing that a worker, a service or an administrator does is a
// difference, and each transition of the published design is made once at least. Then a rollback
// keeps what was worked on, and what it leaves obeys the layout.
func TestSoundQueueNeverDiffers(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		done := map[string]bool{}
		most, steps := uint64(8), 100
		if *torture {
			most = 100
		}
		for seed := range most {
			if !*torture && len(missing(d, done)) == 0 {
				break
			}
			s := serve(t, workQueue(t), d)
			s.mustMigrate(s.options())
			s.release()
			w := newWorker(s, seed)
			for step := range steps {
				then := s.statesNow()
				name := w.step(transitions(d), done)
				observe(transitions(d), then, s.statesNow(), done)
				if step%3 > 0 && !*torture {
					continue
				}
				if v := s.verify(); !v.OK() {
					t.Fatalf("seed %d, step %d: after %q: %v", seed, step, name, v.Differences)
				}
			}
			for n := range s.tree().All("/") { // the workers that died are gone, with their sessions
				if n.Stat.EphemeralOwner != 0 && znode.Name(n.Path) == "lock" {
					s.remove(n.Path)
				}
			}
			before := s.tree()
			undo := s.mustRollback(migrate.RollbackOptions{})
			keptIsListed(t, s, before, undo)
		}
		if left := missing(d, done); len(left) > 0 {
			t.Errorf("never done: %s", strings.Join(left, ", "))
		}
	})
}

// missing are the works and transitions that were not done.
func missing(d newqueue.Dialect, done map[string]bool) (left []string) {
	for _, x := range transitions(d) {
		if !done[x.name()] {
			left = append(left, x.name())
		}
	}
	for _, x := range works {
		if !done[x.name] && (d == newqueue.MrtZK || !strings.Contains(x.name, "to be stored")) {
			left = append(left, x.name)
		}
	}
	return left
}

// step does one work or transition that is possible now, those first that were not done yet.
func (w *worker) step(all []tried, done map[string]bool) string {
	type choice struct {
		name string
		do   func() error
	}
	var fresh, known []choice
	add := func(name string, do func() error) {
		if done[name] {
			known = append(known, choice{name, do})
		} else {
			fresh = append(fresh, choice{name, do})
		}
	}
	for _, x := range all {
		add(x.name(), func() error { return w.transition(x.entity, x.t) })
	}
	for _, x := range works {
		add(x.name, func() error { return x.do(w) })
	}
	w.rand.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	w.rand.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
	if w.rand.IntN(2) > 0 { // not only new ones, so that states are reached again
		fresh, known = known, fresh
	}
	for _, c := range slices.Concat(fresh, known) {
		if c.do() == nil {
			done[c.name] = true
			return c.name
		}
	}
	w.t.Fatal("nothing is possible any more")
	return ""
}

// keptIsListed checks a rollback: every job of the run that is there is listed as kept, with
// its record, and what differed from what the run made is there as it was.
func keptIsListed(t *testing.T, s *site, before *znode.Tree, undo *migrate.Undo) {
	t.Helper()
	kept := map[string]bool{}
	for _, item := range undo.Keeps {
		kept[item.Job] = true
	}
	after := s.tree()
	for job := range kept {
		if a, b := dump(before, job), dump(after, job); before.Get(job) != nil && a != b {
			t.Errorf("%s was kept, and is another:\n%s%s", job, a, b)
		}
	}
	// The batches of kept jobs stay, so the layout is obeyed.
	for _, p := range merritt.Problems(after, s.dialect) {
		if !slices.ContainsFunc(merritt.Problems(before, s.dialect), func(q layout.Finding) bool { return q.Path == p.Path }) {
			t.Errorf("after the rollback: %s", p)
		}
	}
	if status := s.status(); status.Newest().Kept != len(kept) {
		t.Errorf("the run's record says that %d were kept, and %d are listed", status.Newest().Kept, len(kept))
	}
}

// While the queues are held, inventory, the cleanup and administrators act in spite of the
// hold. What they do is acted on, or a job is gone, but never damage.
func TestActedOnInSpiteOfTheHold(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, workQueue(t), d)
		s.mustMigrate(s.options())
		tree := s.tree()
		count, mild := map[string]int{}, map[string]bool{"acted-on": true, "job-gone": true, "acted-on job-gone": true}
		for seed := range uint64(3) {
			for _, x := range works {
				o := serve(t, tree, d)
				w := newWorker(o, seed, newqueue.IgnoreHolds())
				if x.do(w) != nil {
					continue
				}
				got := kinds(o.verify())
				count[got]++
				if got != "ok" && !mild[got] {
					t.Errorf("%s: %v", x.name, o.verify().Differences)
				}
			}
			for _, x := range transitions(d) {
				if x.t.Who.HoldsLock() {
					continue
				}
				o := serve(t, tree, d)
				if newWorker(o, seed, newqueue.IgnoreHolds()).transition(x.entity, x.t) != nil {
					continue
				}
				if got := kinds(o.verify()); !mild[got] {
					t.Errorf("%s %s: %v", x.entity, x.t, o.verify().Differences)
				}
				count["transition"]++
			}
		}
		if count["acted-on"] < 5 || count["transition"] < 3 {
			t.Errorf("too few were possible: %v", slices.Sorted(maps.Keys(count)))
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
			_, err := s.door().Create(lock, nil, flags, zk.WorldACL(zk.PermAll))
			s.must(err)
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
