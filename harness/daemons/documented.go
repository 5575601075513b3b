package daemons

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// These are workers of dialect design. They make the documented transitions, through
// package client. Each transition is one transaction, and the worker pauses before it.

func (w *World) documented() []*Actor {
	all := []*Actor{
		w.actor("watcher", services.BatchReport, (*Turn).watchBatches),
		w.actor("report", services.BatchReport, func(t *Turn) { t.reportDocumented(newqueue.BatchReporting) }),
	}
	for s := newqueue.JobPending; s != newqueue.JobCompleted; s = newqueue.Success(s, newqueue.Design) {
		all = append(all, w.actor(string(s), services.Worker(s, ""), func(t *Turn) { t.workOn(s) }))
	}
	all = append(all, w.actor("update report", services.UpdateBatchReport, func(t *Turn) { t.reportDocumented(newqueue.BatchUpdateReporting) }))
	return append(all,
		w.actor("access large", services.Access, func(t *Turn) { t.assembleDocumented(newqueue.AccessLarge) }),
		w.actor("access small", services.Access, func(t *Turn) { t.assembleDocumented(newqueue.AccessSmall) }))
}

// queue is the queue as the turn's session sees it. A worker acquires an item at once:
// stopping before that would be the same as not to begin the turn.
func (t *Turn) queue() (context.Context, *client.Queue) {
	return context.Background(), t.queueOver(t.conn())
}

func (t *Turn) queueOver(s Session) *client.Queue {
	return client.Open(s, newqueue.Design, client.WithRoot(t.root))
}

type oneItem struct {
	Session
	folder, name string
}

// Children is that of the session, without the folder's other items.
func (o oneItem) Children(path string) ([]string, *zk.Stat, error) {
	if path == o.folder {
		return []string{o.name}, &zk.Stat{}, nil
	}
	return o.Session.Children(path)
}

// acquireFirst acquires the first item of a folder that a worker for a state can have, as acquire
// would if it saw them all. It returns nil if the worker has none.
func acquireFirst[T any](t *Turn, folder, state string, acquire func(*client.Queue) (*T, error)) *T {
	session := t.conn()
	names, _ := t.children(folder)
	for name := range t.search(folder, state, names) {
		v, err := acquire(t.queueOver(oneItem{session, t.root + folder, name}))
		if t.acquired(err) {
			return v
		}
		if errors.Is(err, client.ErrHeld) {
			return nil
		}
	}
	return nil
}

// must ends the turn if a transition could not be made, because the worker has lost its
// lock, or the item was changed meanwhile. Another turn finds the item again.
func (t *Turn) must(err error) {
	if err != nil {
		panic(lostError{fmt.Errorf("%s: %w", t.actor.Name, err)})
	}
}

// acquired reports whether a worker has an item. It has none while the queue is held.
// Items that can't be read are troubles.
func (t *Turn) acquired(err error) bool {
	var bad *client.NodeError
	if errors.As(err, &bad) {
		t.trouble(services.NotFound, bad.Path, err)
	} else if err != nil && !errors.Is(err, client.ErrNoneAvailable) && !errors.Is(err, client.ErrHeld) {
		t.must(err)
	}
	return err == nil
}

// jobID returns whose work a job is: see [World.Executions]. A job without jobID that gets a
// manifest on its way stays the same work.
func (w *World) jobID(j *client.Job) string {
	id, known := w.works[j.Path()]
	if !known {
		own, _ := value(j.Configuration.Other, "jobID")
		id = cmp.Or(own, j.Inventory.ManifestURL, j.Path())
		w.works[j.Path()] = id
	}
	return id
}

func (t *Turn) jobIDs(q *client.Queue, jids []string) []string {
	var all []string
	for _, jid := range jids {
		j, err := q.Job(context.Background(), jid)
		t.must(err)
		all = append(all, t.world.jobID(j))
	}
	return all
}

func (t *Turn) workOn(s newqueue.JobState) {
	ctx, q := t.queue()
	j, err := q.AcquireJob(ctx, s)
	if !t.acquired(err) {
		return
	}
	t.did = true
	record := t.world.jobID(j)
	t.takes(record)
	end := newqueue.Success(s, newqueue.Design)
	held := false
	if s == newqueue.JobPending && j.Configuration.ProfileName != "" {
		held, err = q.IsLocked(ctx, newqueue.CollectionLock(j.Configuration.ProfileName))
		t.must(err)
	}
	switch {
	case held:
		end = newqueue.JobHeld
		t.before("hold", j.Path())
		t.must(j.Hold(ctx, ""))
	case s != newqueue.JobEstimating && s != newqueue.JobProvisioning && t.fails(record): // these two have no transition to failed
		end = newqueue.JobFailed
		t.before("fail", j.Path())
		t.must(j.Fail(ctx, "failed"))
	default:
		t.workDocumented(ctx, s, j, record)
		t.before("succeed with", j.Path())
		t.must(j.Succeed(ctx))
	}
	t.reaches(record, string(end))
	t.took(j.Path())
}

func (t *Turn) workDocumented(ctx context.Context, s newqueue.JobState, j *client.Job, record string) {
	switch s {
	case newqueue.JobEstimating:
		j.SpaceNeeded = 1 << 20
	case newqueue.JobProcessing:
		if j.Identifiers.PrimaryID == "" {
			j.Identifiers.PrimaryID = t.world.object("", "")
			t.before("set the identifiers of", j.Path())
			t.must(j.Save(ctx))
		}
		t.work("store", record, func(e *Execution) { e.Stored++ })
		j.Inventory = newqueue.Inventory{ManifestURL: "http://store.example.org/manifest/9501/" + j.Identifiers.PrimaryID}
	case newqueue.JobRecording:
		t.work("record", record, func(e *Execution) { e.Recorded++ })
	}
}

func (t *Turn) watchBatches() {
	ctx, q := t.queue()
	names, _ := t.children(newqueue.BatchesPath)
	for name := range t.search(newqueue.BatchesPath, "", names) {
		b, err := q.Batch(ctx, name)
		if errors.Is(err, client.ErrNotFound) { // the cleanup has removed it meanwhile
			continue
		}
		if !t.acquired(err) || b.Status.State != newqueue.BatchProcessing {
			continue
		}
		err = q.MoveBatch(ctx, b.ID, newqueue.BatchProcessing, newqueue.BatchReporting)
		if err == nil {
			t.took(b.Path())
			return
		}
		if !errors.Is(err, client.ErrLocked) && !errors.As(err, new(*client.StateError)) {
			t.must(err)
		}
	}
}

func (t *Turn) reportDocumented(s newqueue.BatchState) {
	ctx := context.Background()
	b := acquireFirst(t, newqueue.BatchesPath, string(s), func(q *client.Queue) (*client.Batch, error) { return q.AcquireBatch(ctx, s) })
	if b == nil {
		return
	}
	_, q := t.queue()
	r, err := b.Report(ctx)
	if errors.As(err, new(*client.StateError)) { // it has unfinished jobs
		t.must(b.Unlock(ctx))
		return
	}
	t.must(err)
	if r.Changed() {
		t.send(Email{Batch: b.ID, OK: len(r.Failed) == 0, Completed: t.jobIDs(q, r.Completed), Failed: t.jobIDs(q, r.Failed)})
	}
	t.before("finish", b.Path())
	t.must(b.Finish(ctx, r))
	t.took(b.Path())
}

// assembleDocumented is one turn of an access worker. It also goes on with a request
// that an administrator retried, or whose worker died.
func (t *Turn) assembleDocumented(queue newqueue.AccessQueue) {
	for _, s := range []newqueue.AccessState{newqueue.AccessProcessing, newqueue.AccessPending} {
		ctx := context.Background()
		a := acquireFirst(t, newqueue.AccessQueuePath(queue), string(s), func(q *client.Queue) (*client.Request, error) { return q.AcquireRequest(ctx, queue, s) })
		if a == nil {
			continue
		}
		token := cmp.Or(a.Token.Token, a.Path())
		t.takes(token)
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
		t.reaches(token, end)
		t.took(a.Path())
		return
	}
}

func (t *Turn) cleanDocumented() {
	ctx, q := t.queue()
	_, err := q.CleanupJobs(ctx)
	t.must(err)
	t.before("clean", "the batches")
	batches, err := q.CleanupBatches(ctx)
	for _, bid := range batches {
		t.removed(bid)
	}
	t.must(err)
	for _, queue := range newqueue.AccessQueues {
		t.before("clean", newqueue.AccessQueuePath(queue))
		_, err := q.CleanupRequests(ctx, queue)
		t.must(err)
	}
}
