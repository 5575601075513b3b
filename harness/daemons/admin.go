package daemons

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// Action is something that an administrator does, with the admin tool or by hand.
type Action string

// The actions. The item of each is the id of a job or batch, the path of a request, or
// a [newqueue.QueueHold]. CleanUp has no item.
const (
	HoldJob        Action = "hold a job"
	ReleaseJob     Action = "release a job"
	RequeueJob     Action = "requeue a job"
	FailJob        Action = "fail a job"
	DeleteJob      Action = "delete a job"
	SetPriority    Action = "set the priority of a job" // to a random one
	UpdateReport   Action = "ask for an update report"
	DeleteBatch    Action = "delete a batch"
	RequeueRequest Action = "requeue a request"
	DeleteRequest  Action = "delete a request"
	PauseQueue     Action = "pause a queue"
	UnpauseQueue   Action = "unpause a queue" // deletes the hold's znode, whatever is in it
	CleanUp        Action = "clean up"
)

// offers says for which states of an item the admin tool offers an action.
var offers = []struct {
	action Action
	of     string // jobs, batches or requests; "" is anything else
	states []string
}{
	{HoldJob, "jobs", []string{"pending"}},
	{ReleaseJob, "jobs", []string{"held"}},
	{RequeueJob, "jobs", []string{"failed"}},
	{FailJob, "jobs", []string{"estimating", "provisioning", "downloading", "processing", "storing", "recording", "notify"}},
	{DeleteJob, "jobs", []string{"held", "failed"}},
	{SetPriority, "jobs", []string{"pending", "held", "estimating", "provisioning", "downloading", "processing", "failed"}},
	{UpdateReport, "batches", []string{"failed"}},
	{DeleteBatch, "batches", []string{"held", "failed"}},
	{RequeueRequest, "requests", []string{"failed"}},
	{DeleteRequest, "requests", []string{"failed"}},
	{action: PauseQueue}, {action: UnpauseQueue}, {action: CleanUp},
}

// Do lets an administrator do something. The error is that it could not be done, or that
// dialect design has no such action.
func (w *World) Do(a Action, item string) error {
	_, err := w.Begin(a, item).Finish()
	return err
}

// Begin begins the turn of an administrator, as [Actor.Begin] does.
func (w *World) Begin(a Action, item string) *Turn {
	return w.own.begin(func(t *Turn) { t.did, t.err = true, t.do(a, item) })
}

func (t *Turn) do(a Action, item string) error {
	if t.world.Dialect == newqueue.MrtZK {
		return t.ruby(a, item)
	}
	return t.documented(a, item)
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

// administer is one turn of an administrator who does something at random that the
// admin tool offers.
func (t *Turn) administer() {
	items := map[string]map[string]string{"jobs": t.states("/jobs"), "batches": t.states("/batches"), "requests": {}}
	for _, q := range newqueue.AccessQueues {
		for qid, state := range t.states(newqueue.AccessQueuePath(q)) {
			items["requests"][newqueue.AccessRequestPath(q, qid)] = state
		}
	}
	first := t.world.draw(len(offers))
	for _, o := range slices.Concat(offers[first:], offers[:first]) {
		var possible []string
		for item, state := range items[o.of] {
			if slices.Contains(o.states, strings.ToLower(state)) {
				possible = append(possible, item)
			}
		}
		switch o.action {
		case PauseQueue, UnpauseQueue:
			for _, h := range newqueue.QueueHolds {
				possible = append(possible, string(h))
			}
		case CleanUp:
			possible = []string{""}
		}
		if len(possible) > 0 {
			slices.Sort(possible)
			t.did = true
			_ = t.do(o.action, possible[t.world.draw(len(possible))]) // a refusal is a page with a message
			return
		}
	}
}

// ruby acts as the Ruby library does. It takes no lock but for a requeue, does not look
// at a worker's, and checks no step (docs/deployed-services.md, "The admin tool").
func (t *Turn) ruby(a Action, item string) error {
	switch a {
	case HoldJob:
		return t.moveJob(item, "Held")
	case ReleaseJob:
		return t.moveJob(item, "Pending")
	case DeleteJob:
		return t.moveJob(item, "Deleted")
	case RequeueJob:
		return t.requeue(item)
	case FailJob:
		return t.failJob(item)
	case SetPriority:
		return t.reprioritize(item)
	case UpdateReport:
		return t.moveStatus("/batches/"+item, "UpdateReporting", nil)
	case DeleteBatch:
		return t.moveStatus("/batches/"+item, "Deleted", nil)
	case RequeueRequest:
		return t.moveStatus(item, "Pending", nil)
	case DeleteRequest:
		return t.moveStatus(item, "Deleted", nil)
	case PauseQueue:
		_ = t.create(newqueue.QueueHoldPath(newqueue.QueueHold(item)), "") // it ignores errors
		return nil
	case UnpauseQueue:
		t.delete(newqueue.QueueHoldPath(newqueue.QueueHold(item)))
		return nil
	case CleanUp:
		t.clean(true)
		return nil
	}
	return fmt.Errorf("the admin tool can't %s", a)
}

// moveStatus does what set_status of the Ruby library does. It keeps last_modified.
func (t *Turn) moveStatus(item, status string, more func(newqueue.Object)) error {
	o, err := t.jsonProperty(item + "/status")
	if err != nil {
		return err
	}
	if o["status"] == status {
		return nil
	}
	if more != nil {
		more(o)
	}
	o["status"], o["message"] = status, ""
	return t.set(item+"/status", javaJSON(o))
}

// loadJob does what load of the Ruby library does, which demands a configuration.
func (t *Turn) loadJob(jid string) (*job, error) {
	j := t.job(jid)
	if _, err := t.jsonProperty(j.path + "/configuration"); err != nil {
		return nil, err
	}
	return j, j.load(true)
}

func (t *Turn) moveJob(jid, status string) error {
	j, err := t.loadJob(jid)
	if err != nil {
		return err
	}
	return t.rubyMove(j, status)
}

// rubyMove does what set_status does with a job.
func (t *Turn) rubyMove(j *job, status string) error {
	aside := func(s string) bool { return s == "Failed" || s == "Deleted" }
	err := t.moveStatus(j.path, status, func(o newqueue.Object) {
		if _, there := o["last_successful_status"]; !there {
			o["last_successful_status"] = nil
		}
		if !aside(status) && !aside(j.status) {
			o["last_successful_status"] = j.status
		}
		o["retry_count"] = j.retry
	})
	if err != nil {
		return err
	}
	j.status = status
	return j.place(false)
}

// requeue moves a failed job to the state after its last successful one. For null and
// Pending that is Estimating: Initialize is skipped, which would have moved the payload
// to producer/. A job whose payload is not there is then stored without it, and
// reported as done (docs/deployed-services.md, "The payload").
func (t *Turn) requeue(jid string) error {
	j, err := t.loadJob(jid)
	if err != nil {
		return err
	}
	o, err := t.jsonProperty(j.path + "/status")
	if err != nil {
		return err
	}
	if !t.ephemeral(j.path + "/lock") {
		return fmt.Errorf("%s is locked", j.path)
	}
	last, _ := value(o, "last_successful_status")
	to := success(last)
	if last == "" || last == "Pending" {
		to = "Estimating"
	}
	if to == "" || to == "Completed" {
		err = fmt.Errorf("the tool knows no state after %s", last)
	} else {
		j.retry++
		err = t.rubyMove(j, to)
	}
	t.unlock(j.path)
	return err
}

// failJob makes an active job Failed, and removes the locks that its worker holds.
func (t *Turn) failJob(jid string) error {
	if err := t.moveJob(jid, "Failed"); err != nil {
		return err
	}
	ids, err := t.jsonProperty("/jobs/" + jid + "/identifiers")
	if err != nil {
		return err
	}
	if ark, there := value(ids, "primary_id"); there && ark != "" {
		t.delete("/locks/storage/" + lockName(ark))
		t.delete("/locks/inventory/" + lockName(ark))
	}
	t.unlock("/jobs/" + jid)
	return nil
}

// reprioritize does what set_status_with_priority does, with a job's own status.
func (t *Turn) reprioritize(jid string) error {
	j, err := t.loadJob(jid)
	if err != nil {
		return err
	}
	if err := j.setPriority(int64(t.world.draw(newqueue.MaxPriority + 1))); err != nil {
		return err
	}
	return j.place(false)
}

// documented acts through package client.
func (t *Turn) documented(a Action, item string) error {
	ctx, q := t.queue()
	var err error
	switch a {
	case ReleaseJob:
		err = q.MoveJob(ctx, item, newqueue.JobHeld, newqueue.JobPending)
	case RequeueJob:
		_, err = q.ResumeJob(ctx, item)
	case DeleteJob:
		_, err = q.DeleteJob(ctx, item)
	case SetPriority:
		err = q.SetPriority(ctx, item, t.world.draw(newqueue.MaxPriority+1))
	case UpdateReport:
		err = q.MoveBatch(ctx, item, newqueue.BatchFailed, newqueue.BatchUpdateReporting)
	case DeleteBatch:
		_, err = q.DeleteBatch(ctx, item)
	case RequeueRequest, DeleteRequest:
		queue, qid, _ := strings.Cut(strings.TrimPrefix(item, "/access/"), "/")
		if a == RequeueRequest {
			return q.MoveRequest(ctx, newqueue.AccessQueue(queue), qid, newqueue.AccessFailed, newqueue.AccessProcessing)
		}
		return q.DeleteRequest(ctx, newqueue.AccessQueue(queue), qid)
	case PauseQueue:
		if err = q.Lock(ctx, newqueue.QueueLock(newqueue.QueueHold(item))); errors.Is(err, client.ErrLocked) {
			err = nil
		}
	case UnpauseQueue:
		t.delete(newqueue.QueueHoldPath(newqueue.QueueHold(item)))
	case CleanUp:
		t.cleanDocumented()
	default:
		err = fmt.Errorf("dialect design has no way to %s", a)
	}
	return err
}
