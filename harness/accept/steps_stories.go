package accept

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mrtq/internal/layout/merritt"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

func (w *world) adminGivesPriority(name string, priority int) error {
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error {
		return a.q.SetPriority(ctx, path.Base(w.names["job "+name]), priority)
	})
}

func (w *world) jobIsQueued(name, state string, priority int) error {
	at := w.names["job "+name]
	return errors.Join(w.done(),
		w.wantNode(at+"/priority", []byte(strconv.Itoa(priority))),
		w.wantGone(entry(state, priorityIn(w.before, at), path.Base(at))),
		w.wantNode(entry(state, priority, path.Base(at)), []byte{}))
}

func (w *world) aSecondBatch(jobs string) error {
	if err := w.newBatch("second batch", "processing"); err != nil {
		return err
	}
	for _, name := range strings.Fields(jobs) {
		if err := w.newJob("job "+name, "second batch", seed{state: "pending", priority: usualPriority}); err != nil {
			return err
		}
	}
	return nil
}

// workerRespectsHolds lets a worker acquire a pending batch or job. The worker holds it
// if its collection is held.
func (w *world) workerRespectsHolds(what string) error {
	return w.worker(func(ctx context.Context, a *actor) error {
		if what == "batch" {
			return a.holdBatch(ctx)
		}
		j, err := a.q.AcquireJob(ctx, newqueue.JobPending)
		if err != nil {
			return err
		}
		held, err := a.q.IsLocked(ctx, newqueue.CollectionLock(j.Configuration.ProfileName))
		switch {
		case err != nil:
			return err
		case held:
			return j.Hold(ctx)
		}
		return j.Succeed(ctx)
	})
}

func (a *actor) holdBatch(ctx context.Context) error {
	b, err := a.q.AcquireBatch(ctx, newqueue.BatchPending)
	if err != nil {
		return err
	}
	held, err := a.q.IsLocked(ctx, newqueue.CollectionLock(b.Submission.ProfileName))
	if err != nil || !held {
		return errors.Join(err, b.Unlock(ctx))
	}
	return b.Hold(ctx, "")
}

// workerPassesOver lets a worker look at every job in provisioning and move those for
// which it has room.
func (w *world) workerPassesOver(room int64) error {
	return w.act("worker", func(ctx context.Context, a *actor, answer *outcome) error {
		for j, err := range a.q.AcquireJobs(ctx, newqueue.JobProvisioning) {
			if err != nil {
				return err
			}
			answer.looked = append(answer.looked, j.ID)
			if j.SpaceNeeded > room {
				continue
			}
			room -= j.SpaceNeeded
			if err := j.Succeed(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) hasLookedAt(names string) error {
	if want := w.ids(names); !slices.Equal(w.last.looked, want) {
		return fmt.Errorf("the worker looked at %v, expected %v", w.last.looked, want)
	}
	return nil
}

func (w *world) findsIdentifier(ark string) error {
	if got := w.actors["other worker"].job.Identifiers.PrimaryID; got != ark {
		return fmt.Errorf("the worker found %q", got)
	}
	return nil
}

func (w *world) thereIsToSend(what string) error {
	if got := w.last.report.Changed(); got != (what == "something") {
		return fmt.Errorf("the report has Changed %t", got)
	}
	return nil
}

func (w *world) workerAcquiresAndReports(state string) error {
	return w.act("worker", func(ctx context.Context, a *actor, answer *outcome) error {
		b, err := a.q.AcquireBatch(ctx, newqueue.BatchState(state))
		if err != nil {
			return err
		}
		if answer.report, err = b.Report(ctx); err != nil {
			return err
		}
		return b.Finish(ctx, answer.report)
	})
}

// chain returns a job's states in order, if every step succeeds.
func (s spelling) chain() []string {
	if s.mrtZK() {
		return strings.Fields("pending estimating provisioning downloading processing storing recording notify completed")
	}
	return strings.Fields("pending estimating provisioning downloading processing recording notify completed")
}

// workersTakeOn lets workers move a job step by step. Each step is an act, and it
// compares the whole tree after each. The next Then reports what was wrong.
func (w *world) workersTakeOn(name, to string) error {
	at, chain := w.names["job "+name], w.chain()
	for i := slices.Index(chain, w.stateOf(w.seen, at)); chain[i] != to; i++ {
		if i < 0 || i+1 == len(chain) {
			return fmt.Errorf("job %s can't get to %s", name, to)
		}
		if err := w.workOn(at, chain[i], func(ctx context.Context, j *client.Job) error { return j.Succeed(ctx) }); err != nil {
			return err
		}
		w.note(w.succeeded(at, chain[i], chain[i+1]))
	}
	return nil
}

// workOn lets a worker acquire the next job in a state and do something with it. It must
// be the job at the given path.
func (w *world) workOn(at, state string, do func(context.Context, *client.Job) error) error {
	return w.worker(func(ctx context.Context, a *actor) error {
		j, err := a.q.AcquireJob(ctx, newqueue.JobState(state))
		if err == nil && j.Path() != at {
			err = fmt.Errorf("the next job in %s is %s, expected %s", state, j.Path(), at)
		}
		if err != nil {
			return err
		}
		return do(ctx, j)
	})
}

// succeeded expects everything that a successful step changes
// (docs/new-layout.md, "Two dialects").
func (w *world) succeeded(at, from, to string) error {
	w.names["job"] = at
	wrong := []error{w.done(), w.jobMoves(at, to, priorityIn(w.before, at), "")}
	if from != "pending" || w.mrtZK() {
		wrong = append(wrong, w.wantField(at+"/status", "last_successful_status", w.state(from)))
	}
	if to == "completed" {
		wrong = append(wrong, w.batchEntryMoves("processing", "completed"))
	}
	return errors.Join(append(wrong, w.settle())...)
}

func (w *world) jobFailsThere(name, why string) error {
	at := w.names["job "+name]
	err := w.workOn(at, w.stateOf(w.seen, at), func(ctx context.Context, j *client.Job) error { return j.Fail(ctx, why) })
	if err != nil {
		return err
	}
	w.names["job"] = at
	w.note(errors.Join(w.done(), w.jobMoves(at, "failed", priorityIn(w.before, at), why),
		w.batchEntryMoves("processing", "failed"), w.settle()))
	return nil
}

// note keeps an error of an act that has several steps. A Then reports it.
func (w *world) note(err error) {
	if err != nil {
		w.onTheWay = append(w.onTheWay, err)
	}
}

func (w *world) asDocumented() error {
	wrong := w.onTheWay
	w.onTheWay = nil
	for _, p := range merritt.Problems(w.seen, w.dialect) {
		if !strings.Contains(p.Path, "of_another_client") { // written by hand, not as a worker would
			wrong = append(wrong, errors.New(p.String()))
		}
	}
	return errors.Join(wrong...)
}

func (w *world) writtenOnce() error {
	var wrong []string
	for n := range w.seen.All("/") {
		switch path.Base(n.Path) {
		case "submission", "configuration", "bid":
		default:
			if path.Dir(n.Path) != "/batch-uuids" {
				continue
			}
		}
		if n.Stat.Version != 0 || n.Stat.Czxid != n.Stat.Mzxid {
			wrong = append(wrong, fmt.Sprintf("%s has version %d", n.Path, n.Stat.Version))
		}
	}
	return failure("static znodes were written again", wrong)
}

func (w *world) batchAndJobsAre(state, jobs, states string) error {
	wrong := []error{w.asDocumented()}
	if got := w.stateOf(w.seen, w.names["batch"]); got != state {
		wrong = append(wrong, fmt.Errorf("the batch is %s", got))
	}
	want := strings.Fields(states)
	for i, name := range strings.Fields(jobs) {
		if got := w.stateOf(w.seen, w.names["job "+name]); i >= len(want) || got != want[i] {
			wrong = append(wrong, fmt.Errorf("the job %s is %s", name, got))
		}
	}
	return errors.Join(wrong...)
}

func (w *world) eachAcquired() error {
	for _, name := range []string{"A", "B", "C"} {
		if err := w.arrange("worker of "+name, acquireJob("notify")); err != nil {
			return err
		}
	}
	return nil
}

// allSucceedAtOnce starts the watchers first, so that they wait for the jobs.
func (w *world) allSucceedAtOnce() error {
	bid := path.Base(w.names["batch"])
	var watchers, workers []*actor
	for _, name := range []string{"A", "B", "C"} {
		a, err := w.actor("watcher " + name)
		if err != nil {
			return err
		}
		watchers, workers = append(watchers, a), append(workers, w.actors["worker of "+name])
	}
	return w.act("watcher A", func(ctx context.Context, _ *actor, answer *outcome) error {
		var running sync.WaitGroup
		fired, wrong := make([]bool, len(watchers)), make([]error, len(watchers)+len(workers))
		for i, a := range watchers {
			running.Go(func() { fired[i], wrong[i] = a.q.ReportWhenEmptied(ctx, bid) })
		}
		for i, a := range workers {
			running.Go(func() { wrong[len(watchers)+i] = a.job.Succeed(ctx) })
		}
		running.Wait()
		for _, f := range fired {
			if f {
				answer.fired++
			}
		}
		return errors.Join(wrong...)
	})
}

func (w *world) watchFiredOnce() error {
	if err := w.done(); err != nil || w.last.fired != 1 {
		return errors.Join(err, fmt.Errorf("it fired %d times", w.last.fired))
	}
	return nil
}

func (w *world) watcherWaits() error {
	bid := path.Base(w.names["batch"])
	return w.act("watcher", func(ctx context.Context, a *actor, answer *outcome) error {
		fired, err := a.q.ReportWhenEmptied(ctx, bid)
		if fired {
			answer.fired++
		}
		return err
	})
}

func (w *world) watchHasNotFired() error {
	if err := w.done(); err != nil || w.last.fired != 0 {
		return errors.Join(err, fmt.Errorf("it fired %d times", w.last.fired))
	}
	return nil
}

func (w *world) jobsAreCompleted(names string) error {
	var wrong []error
	for _, name := range strings.Fields(names) {
		at := w.names["job "+name]
		w.names["job"] = at
		wrong = append(wrong,
			w.jobMoves(at, "completed", usualPriority, ""),
			w.wantField(at+"/status", "last_successful_status", w.state("notify")),
			w.batchEntryMoves("processing", "completed"),
			w.wantGone(at+"/lock"))
	}
	return errors.Join(wrong...)
}

// jobIsDeleted expects that the job's znodes are removed, or in mrt-zk that the job is
// marked as deleted (J21, J22).
func (w *world) jobIsDeleted(folder string) error {
	if !w.mrtZK() {
		return w.jobIsRemoved()
	}
	return errors.Join(w.jobIs("job", "deleted", ""), w.batchEntryMoves(folder, "deleted"))
}
