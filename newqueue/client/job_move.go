package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// warns reports whether the answer to a job's transition depends on its batch's state.
func warns(t states.Transition) bool { return t.To == states.Deleted && t.Who == states.Admin }

func (j *Job) decide(ctx context.Context, t states.Transition, a act) (p plan, err error) {
	now, err := j.nodes(ctx, "bid", "priority")
	if err != nil {
		return p, err
	}
	priority, err := j.priorityIn(now) // not that of the worker's job: an administrator may have changed it
	if err != nil {
		return p, err
	}
	if now["bid"] == nil {
		return p, &NodeError{j.path + "/bid", ErrNotFound}
	}
	j.BatchID = string(now["bid"].data)
	batch := j.q.newBatch(j.BatchID)
	if t.BatchEntry != states.EntryKept || warns(t) {
		if err := batch.loadStatus(ctx); err != nil && !errors.Is(err, ErrNotFound) {
			return p, err
		}
	}
	j.batch = batch.Status.State

	if t.Guard == states.OnceStepped && j.Status.LastSuccessful == "" {
		return p, j.guardError(t.To, t.Guard)
	}
	if j.batch != "" && warns(t) {
		// The batch's state decides whether the answer has a warning.
		p.ops = append(p.ops, znode.Check(batch.path+"/status", batch.version))
	}
	next := priority
	if a.worker && j.Priority != j.was.priority {
		next = j.Priority
		if err := checkPriority(next); err != nil {
			return p, err
		}
		p.ops = append(p.ops, znode.Set(j.path+"/priority", newqueue.FormatNumber(int64(next)), now["priority"].version))
	} else {
		p.ops = append(p.ops, znode.Check(j.path+"/priority", now["priority"].version))
	}
	if a.worker {
		changes, err := j.changes(ctx)
		if err != nil {
			return p, err
		}
		p.ops = append(p.ops, changes...)
	}

	// The name of the queue entry contains the priority.
	from, to := newqueue.JobState(t.From), newqueue.JobState(t.To)
	p.ops = append(p.ops, entryOps(t.QueueEntry, newqueue.JobEntryPath(from, priority, j.ID), newqueue.JobEntryPath(to, next, j.ID))...)
	if j.batch != "" { // otherwise its entry does not exist either
		p.ops = append(p.ops, entryOps(t.BatchEntry, newqueue.BatchEntryPath(j.BatchID, from.Folder(), j.ID), newqueue.BatchEntryPath(j.BatchID, to.Folder(), j.ID))...)
	}
	if t.Nodes == states.NodesRemoved {
		gone, err := j.remove(ctx)
		if err != nil {
			return p, err
		}
		p.ops = append(p.ops, gone...)
	}
	status := nextJobStatus(j.q.machines[states.Job], t, j.Status, a.message, j.q.clock())
	p.status = newqueue.ToObject(j.q.dialect, status)
	p.keep = func() {
		j.Status, j.Priority = status, next
		j.was = j.work()
	}
	return p, nil
}

func (j *Job) priorityIn(nodes map[string]*node) (priority int, err error) {
	err = j.parse(property{name: "priority", parse: into(&priority, newqueue.ParsePriority)}, nodes["priority"])
	return priority, err
}

func nextJobStatus(table states.Table, t states.Transition, s newqueue.JobStatus, message string, now time.Time) newqueue.JobStatus {
	s.State, s.LastModified, s.Message = newqueue.JobState(t.To), now, message
	switch t.LastSuccess {
	case states.LSSNull:
		s.LastSuccessful = ""
	case states.LSSLeft:
		s.LastSuccessful = newqueue.JobState(t.From)
	case states.LSSBefore:
		at := t.To
		if at == states.Failed {
			at = t.From
		}
		s.LastSuccessful = newqueue.JobState(table.Before(at))
	}
	switch t.Retry {
	case states.RetryZero:
		s.RetryCount = 0
	case states.RetryNext:
		s.RetryCount++
	}
	return s
}

func checkPriority(n int) error {
	if n < 0 || n > newqueue.MaxPriority {
		return fmt.Errorf("%d: %w", n, newqueue.ErrPriority)
	}
	return nil
}

func entryOps(what states.EntryChange, from, to string) (ops []znode.Op) {
	if what == states.EntryMoved || what == states.EntryRemoved {
		ops = append(ops, znode.Delete(from, -1))
	}
	if what == states.EntryMoved || what == states.EntryCreated {
		ops = append(ops, znode.Create(to, empty))
	}
	return ops
}
