package daemons

import (
	"context"
	"errors"
	"fmt"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// These are workers of dialect design. They make the documented transitions, through
// package newqueue. Each transition is one transaction, and the worker pauses before it.

// documented returns one worker for each state that has one.
func (w *World) documented() []*Actor {
	all := []*Actor{
		w.actor("report", services.BatchReport, func(t *Turn) { t.reportDocumented(newqueue.BatchReporting) }),
		w.actor("batch", services.Batch, (*Turn).processBatch),
	}
	for _, s := range []newqueue.JobState{newqueue.JobPending, newqueue.JobEstimating, newqueue.JobProvisioning, newqueue.JobDownloading,
		newqueue.JobProcessing, newqueue.JobRecording, newqueue.JobNotify} {
		all = append(all, w.actor(string(s), services.Worker(s, ""), func(t *Turn) { t.workOn(s) }))
	}
	all = append(all, w.actor("update report", services.UpdateBatchReport, func(t *Turn) { t.reportDocumented(newqueue.BatchUpdateReporting) }))
	return append(all,
		w.actor("access large", services.Access, func(t *Turn) { t.assembleDocumented(newqueue.AccessLarge, newqueue.HoldAccessLarge) }),
		w.actor("access small", services.Access, func(t *Turn) { t.assembleDocumented(newqueue.AccessSmall, newqueue.HoldAccessSmall) }))
}

// queue is the queue as the turn's session sees it.
func (t *Turn) queue() *newqueue.Queue {
	return newqueue.Open(t.conn(), newqueue.Design, newqueue.WithRoot(t.root))
}

// must ends the turn if a transition could not be made, because the worker has lost its
// lock, or the item was changed meanwhile. Another turn finds the item again.
func (t *Turn) must(err error) {
	if err != nil {
		panic(lostError{fmt.Errorf("%s: %w", t.actor.Name, err)})
	}
}

// acquired reports whether a worker has an item. Items that can't be read are troubles.
func (t *Turn) acquired(err error) bool {
	var bad *newqueue.NodeError
	if errors.As(err, &bad) {
		t.trouble(services.NotFound, bad.Path, err)
	} else if err != nil && !errors.Is(err, newqueue.ErrNone) {
		t.must(err)
	}
	return err == nil
}

// jobID returns whose work a job is: see [World.Executions].
func jobID(j *newqueue.Job) string {
	if id, _ := value(j.Configuration.Other, "jobID"); id != "" {
		return id
	}
	if j.Inventory.ManifestURL != "" {
		return j.Inventory.ManifestURL
	}
	return j.Path()
}

func (t *Turn) jobIDs(q *newqueue.Queue, jids []string) []string {
	var all []string
	for _, jid := range jids {
		j, err := q.Job(context.Background(), jid)
		t.must(err)
		all = append(all, jobID(j))
	}
	return all
}

// workOn is one turn of the worker for the jobs of a state.
func (t *Turn) workOn(s newqueue.JobState) {
	if t.ingestHeld() {
		return
	}
	ctx, q := context.Background(), t.queue()
	t.before("acquire a job in", string(s))
	j, err := q.AcquireJob(ctx, s)
	if !t.acquired(err) {
		return
	}
	t.did = true
	record := jobID(j)
	t.note(record, func(e *Execution) {
		e.Batch, _ = value(j.Configuration.Other, "batchID")
		e.Workers = append(e.Workers, t.actor.Name)
	})
	end := newqueue.Success(s, newqueue.Design)
	var held bool
	if s == newqueue.JobPending && j.Configuration.ProfileName != "" {
		held, err = q.IsLocked(ctx, newqueue.CollectionLock(j.Configuration.ProfileName))
		t.must(err)
	}
	switch {
	case held:
		end = newqueue.JobHeld
		t.before("hold", j.Path())
		t.must(j.Hold(ctx))
	case s != newqueue.JobEstimating && t.fails(record): // estimating never fails
		end = newqueue.JobFailed
		t.before("fail", j.Path())
		t.must(j.Fail(ctx, "failed"))
	default:
		options := t.workDocumented(ctx, s, j, record)
		t.before("succeed with", j.Path())
		t.must(j.Succeed(ctx, options...))
	}
	t.note(record, func(e *Execution) { e.States = append(e.States, string(end)) })
	t.took(j.Path())
	if end == newqueue.JobCompleted || end == newqueue.JobFailed {
		t.before("report if emptied", newqueue.BatchPath(j.BatchID))
		if err := q.ReportIfEmptied(ctx, j.BatchID); err != nil && !errors.Is(err, newqueue.ErrStillProcessing) && !errors.As(err, new(*newqueue.StateError)) {
			t.must(err)
		}
	}
}

// workDocumented does a state's work, and returns what the worker changes with its
// transition.
func (t *Turn) workDocumented(ctx context.Context, s newqueue.JobState, j *newqueue.Job, record string) []newqueue.JobOption {
	switch s {
	case newqueue.JobEstimating:
		return []newqueue.JobOption{newqueue.WithSpaceNeeded(1 << 20)}
	case newqueue.JobProcessing:
		ids := j.Identifiers
		if ids.PrimaryID == "" {
			ids.PrimaryID = t.world.object("", "")
			t.before("set the identifiers of", j.Path())
			t.must(j.SetIdentifiers(ctx, ids))
		}
		t.work("store", record, func(e *Execution) { e.Stored++ })
		return []newqueue.JobOption{newqueue.WithInventory(newqueue.Inventory{ManifestURL: "http://store.example.org/manifest/9501/" + ids.PrimaryID})}
	case newqueue.JobRecording:
		t.work("record", record, func(e *Execution) { e.Recorded++ })
	}
	return nil
}

// processBatch is one turn of the batch worker, for a submission of one object.
func (t *Turn) processBatch() {
	if t.ingestHeld() {
		return
	}
	ctx, q := context.Background(), t.queue()
	t.before("acquire a", "pending batch")
	b, err := q.AcquirePendingBatch(ctx)
	if !t.acquired(err) {
		return
	}
	t.before("process", b.Path())
	_, err = b.Process(ctx, newqueue.NewJob{Priority: newqueue.DefaultPriority, Configuration: newqueue.Configuration{
		ProfileName: b.Submission.ProfileName, Submitter: b.Submission.Submitter, Other: newqueue.Object{"jobID": "jid-of-" + b.ID},
	}})
	t.must(err)
	t.took(b.Path())
}

// reportDocumented is one turn of a reporter.
func (t *Turn) reportDocumented(s newqueue.BatchState) {
	if t.ingestHeld() {
		return
	}
	ctx, q := context.Background(), t.queue()
	t.before("acquire a batch in", string(s))
	b, err := q.AcquireBatch(ctx, s)
	if !t.acquired(err) {
		return
	}
	r, err := b.Report(ctx)
	if errors.Is(err, newqueue.ErrStillProcessing) {
		t.must(b.Unlock(ctx))
		return
	}
	t.must(err)
	if r.Changed() {
		t.send(Mail{Batch: b.ID, OK: len(r.Failed) == 0, Completed: t.jobIDs(q, r.Completed), Failed: t.jobIDs(q, r.Failed)})
	}
	t.before("finish", b.Path())
	t.must(b.Finish(ctx, r))
	t.took(b.Path())
}

// assembleDocumented is one turn of an access worker. It also goes on with a request
// that an administrator retried, or whose worker died.
func (t *Turn) assembleDocumented(queue newqueue.AccessQueue, hold newqueue.QueueHold) {
	if t.held(newqueue.QueueHoldPath(hold)) {
		return
	}
	ctx, q := context.Background(), t.queue()
	for _, s := range []newqueue.AccessState{newqueue.AccessProcessing, newqueue.AccessPending} {
		t.before("acquire a request in", string(s))
		a, err := q.AcquireAccess(ctx, queue, s)
		if !t.acquired(err) {
			continue
		}
		token := a.Token.Token
		t.note(token, func(e *Execution) { e.Workers = append(e.Workers, t.actor.Name) })
		end := "processing"
		switch {
		case s == newqueue.AccessPending:
			t.before("start", a.Path())
			t.must(a.Succeed(ctx))
		case t.fails(token):
			end = "failed"
			t.before("fail", a.Path())
			t.must(a.Fail(ctx, "failed"))
		default:
			end = "completed"
			t.work("assemble", token, func(e *Execution) { e.Assembled++ })
			t.before("succeed with", a.Path())
			t.must(a.Succeed(ctx))
		}
		t.note(token, func(e *Execution) { e.States = append(e.States, end) })
		t.took(a.Path())
		return
	}
}

// cleanDocumented is one pass of the cleaning of dialect design.
func (t *Turn) cleanDocumented() {
	ctx, q := context.Background(), t.queue()
	t.before("clean", "the jobs")
	_, err := q.CleanupJobs(ctx)
	t.must(err)
	t.before("clean", "the batches")
	batches, err := q.CleanupBatches(ctx)
	t.must(err)
	for _, bid := range batches {
		t.removed(bid)
	}
	for _, queue := range newqueue.AccessQueues {
		t.before("clean", newqueue.AccessQueuePath(queue))
		_, err := q.CleanupAccess(ctx, queue)
		t.must(err)
	}
}
