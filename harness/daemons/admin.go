package daemons

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// Action is something that an administrator does, with the admin tool or by hand.
type Action string

// The actions. The item of each is the id of a job or batch, the path of a request, or
// a [newqueue.QueueHold].
const (
	HoldJob        Action = "hold a job"
	ReleaseJob     Action = "release a job"
	RequeueJob     Action = "requeue a job"
	DeleteJob      Action = "delete a job"
	SetPriority    Action = "set the priority of a job" // to urgent
	UpdateReport   Action = "ask for an update report"
	RequeueRequest Action = "requeue a request"
	PauseQueue     Action = "pause a queue"
	UnpauseQueue   Action = "unpause a queue" // deletes the hold's znode, whatever is in it
)

const urgent = 1

// act is how an administrator does an action: as the Ruby library does it, and with package
// client. Without one of the two, that tool has no such action.
type act struct {
	ruby   func(t *Turn, item string)
	design func(t *Turn, q *client.Queue, item string) error
}

// The Ruby library takes no lock but for a requeue, does not look at a worker's, and checks no
// step (docs/deployed-services.md, "The admin tool").
var acts = map[Action]act{
	HoldJob: {ruby: jobTo("Held")},
	ReleaseJob: {jobTo("Pending"), func(_ *Turn, q *client.Queue, jid string) error {
		return q.MoveJob(context.Background(), jid, newqueue.JobHeld, newqueue.JobPending)
	}},
	RequeueJob: {(*Turn).requeue, func(_ *Turn, q *client.Queue, jid string) error {
		return failure(q.ResumeJob(context.Background(), jid))
	}},
	DeleteJob: {jobTo("Deleted"), func(_ *Turn, q *client.Queue, jid string) error {
		return failure(q.DeleteJob(context.Background(), jid))
	}},
	SetPriority: {(*Turn).reprioritize, func(_ *Turn, q *client.Queue, jid string) error {
		return q.SetPriority(context.Background(), jid, urgent)
	}},
	UpdateReport: {statusTo("/batches/", "UpdateReporting"), func(_ *Turn, q *client.Queue, bid string) error {
		return q.MoveBatch(context.Background(), bid, newqueue.BatchFailed, newqueue.BatchUpdateReporting)
	}},
	RequeueRequest: {statusTo("", "Pending"), func(_ *Turn, q *client.Queue, path string) error {
		queue, qid, _ := strings.Cut(strings.TrimPrefix(path, newqueue.AccessPath+"/"), "/")
		return q.MoveRequest(context.Background(), newqueue.AccessQueue(queue), qid, newqueue.AccessFailed, newqueue.AccessProcessing)
	}},
	PauseQueue: {(*Turn).pauseQueue, func(_ *Turn, q *client.Queue, hold string) error {
		err := q.Lock(context.Background(), newqueue.QueueLock(newqueue.QueueHold(hold)))
		if errors.Is(err, client.ErrLocked) {
			return nil
		}
		return err
	}},
	UnpauseQueue: {(*Turn).unpauseQueue, func(t *Turn, _ *client.Queue, hold string) error { t.unpauseQueue(hold); return nil }},
}

// Do lets an administrator do something. The error is that it could not be done, or that
// dialect design has no such action.
func (w *World) Do(a Action, item string) error {
	_, err := w.own.begin(func(t *Turn) { t.err = t.do(a, item) }).Finish()
	return err
}

func (t *Turn) do(a Action, item string) error {
	does := acts[a]
	switch design := t.world.Dialect == newqueue.Design; {
	case design && does.design == nil:
		return fmt.Errorf("dialect design has no way to %s", a)
	case design:
		_, q := t.queue()
		return does.design(t, q, item)
	case does.ruby == nil:
		return fmt.Errorf("the admin tool can't %s", a)
	}
	return try(func() { does.ruby(t, item) })
}

// LiftHolds releases the holds on the queues.
func (w *World) LiftHolds() error {
	for _, h := range newqueue.QueueHolds {
		if err := w.Do(UnpauseQueue, string(h)); err != nil {
			return err
		}
	}
	return nil
}

// moveStatus does what set_status of the Ruby library does. It keeps last_modified.
func (t *Turn) moveStatus(item, status string, more func(newqueue.Object)) {
	o := t.jsonProperty(item + "/status")
	if o["status"] == status {
		return
	}
	if more != nil {
		more(o)
	}
	o["status"], o["message"] = status, ""
	t.set(item+"/status", javaJSON(o))
}

// loadJob does what load of the Ruby library does, which demands a configuration.
func (t *Turn) loadJob(jid string) *job {
	j := t.job(jid)
	t.jsonProperty(j.path + "/configuration")
	j.load(true)
	return j
}

func failure[T any](_ T, err error) error { return err }

func jobTo(status string) func(*Turn, string) {
	return func(t *Turn, jid string) { t.rubyMove(t.loadJob(jid), status) }
}

func statusTo(folder, status string) func(*Turn, string) {
	return func(t *Turn, item string) { t.moveStatus(folder+item, status, nil) }
}

func (t *Turn) pauseQueue(hold string) {
	_ = try(func() { t.create(newqueue.QueueHoldPath(newqueue.QueueHold(hold)), "") }) // it ignores errors
}

func (t *Turn) unpauseQueue(hold string) {
	t.delete(newqueue.QueueHoldPath(newqueue.QueueHold(hold)))
}

// rubyMove does what set_status does with a job.
func (t *Turn) rubyMove(j *job, status string) {
	aside := func(s string) bool { return s == "Failed" || s == "Deleted" }
	t.moveStatus(j.path, status, func(o newqueue.Object) {
		if _, there := o["last_successful_status"]; !there {
			o["last_successful_status"] = nil
		}
		if !aside(status) && !aside(j.status) {
			o["last_successful_status"] = j.status
		}
		o["retry_count"] = j.retry
	})
	j.status = status
	j.place(false)
}

// requeue moves a failed job to the state after its last successful one. For null and
// Pending that is Estimating: Initialize is skipped, which would have moved the payload
// to producer/. A job whose payload is not there is then stored without it, and
// reported as done (docs/deployed-services.md, "Failed jobs").
func (t *Turn) requeue(jid string) {
	j := t.loadJob(jid)
	last, _ := value(t.jsonProperty(j.path+"/status"), "last_successful_status")
	if !t.ephemeral(j.path + "/lock") {
		throwf("%s is locked", j.path)
	}
	to := success(last)
	if last == "" || last == "Pending" {
		to = "Estimating"
	}
	err := try(func() {
		if to == "" || to == "Completed" {
			throwf("the tool knows no state after %s", last)
		}
		j.retry++
		t.rubyMove(j, to)
	})
	t.unlock(j.path)
	throw(err)
}

// reprioritize does what set_status_with_priority does, with a job's own status.
func (t *Turn) reprioritize(jid string) {
	j := t.loadJob(jid)
	j.setPriority(urgent)
	j.place(false)
}
