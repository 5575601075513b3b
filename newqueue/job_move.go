package newqueue

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// snapJob reads what is needed to decide on a transition. A worker's decision
// depends on the status that it acquired, every other caller's on the current
// one.
func (q *Queue) snapJob(ctx context.Context, jid string, by *Job) (jobSnap, error) {
	s := jobSnap{id: jid, has: map[string]int32{}}
	path := JobPath(jid)
	if by != nil {
		s.status, s.version, s.bid = by.Status, by.version, by.BatchID
	} else {
		n, err := q.get(ctx, path+"/status")
		if err != nil {
			return s, err
		}
		if s.status, err = ParseJobStatus(q.dialect, n.data); err != nil {
			return s, &NodeError{path + "/status", err}
		}
		s.version = n.version
		if n, err = q.get(ctx, path+"/bid"); err != nil {
			return s, err
		}
		s.bid = string(n.data)
	}
	n, err := q.get(ctx, path+"/priority")
	if err != nil {
		return s, err
	}
	if s.priority, err = ParsePriority(n.data); err != nil {
		return s, &NodeError{path + "/priority", err}
	}
	s.priorityV = n.version
	return s, nil
}

// snapOptional reads which optional properties exist.
func (q *Queue) snapOptional(ctx context.Context, s *jobSnap, names ...string) error {
	for _, name := range names {
		stat, ok, err := q.stat(ctx, JobPath(s.id)+"/"+name)
		if err != nil {
			return err
		}
		if ok {
			s.has[name] = stat.Version
		}
	}
	return nil
}

// snapBatch reads the state of the job's batch.
func (q *Queue) snapBatch(ctx context.Context, s *jobSnap) error {
	n, ok, err := q.maybe(ctx, BatchPath(s.bid)+"/status")
	if err != nil || !ok {
		return err
	}
	st, err := ParseBatchStatus(q.dialect, n.data)
	if err != nil {
		return &NodeError{BatchPath(s.bid) + "/status", err}
	}
	s.batch, s.batchV = st.State, n.version
	return nil
}

func (c change) optional() []string {
	var names []string
	if c.spaceNeeded != nil {
		names = append(names, "space_needed")
	}
	if c.inventory != nil {
		names = append(names, "inventory")
	}
	if c.store != nil {
		names = append(names, "store")
	}
	return names
}

// moveJob makes a transition of a job. by is the worker's acquired job, and nil
// for every other caller. target chooses the new state from the status that was
// read.
func (q *Queue) moveJob(ctx context.Context, jid string, by *Job, target func(JobStatus) (JobState, error), c change) (s jobSnap, status JobStatus, err error) {
	m := move{EntityJob, JobPath(jid), by != nil}
	err = m.retry(func() error {
		s, status, err = q.tryMoveJob(ctx, m, jid, by, target, c)
		return err
	})
	return s, status, err
}

func (q *Queue) tryMoveJob(ctx context.Context, m move, jid string, by *Job, target func(JobStatus) (JobState, error), c change) (jobSnap, JobStatus, error) {
	s, err := q.snapJob(ctx, jid, by)
	if err != nil {
		return s, JobStatus{}, err
	}
	to, err := target(s.status)
	if err != nil {
		return s, JobStatus{}, err
	}
	t, err := q.allowed(m, string(s.status.State), string(to))
	if err != nil {
		return s, JobStatus{}, err
	}
	if by != nil {
		if err := q.owns(ctx, by.lock); err != nil {
			return s, JobStatus{}, err
		}
	}
	if err := q.snapOptional(ctx, &s, c.optional()...); err != nil {
		return s, JobStatus{}, err
	}
	if t.BatchEntry != states.PlaceStays || asksBatch(t) {
		if err := q.snapBatch(ctx, &s); err != nil {
			return s, JobStatus{}, err
		}
	}
	if t.Nodes == states.NodesGo {
		if s.subtree, err = q.subtree(ctx, m.path); err != nil {
			return s, JobStatus{}, err
		}
		s.subtree = slices.DeleteFunc(s.subtree, func(p string) bool { return p == m.path+"/lock" })
	}
	ops, status, err := decideJob(t, s, c, q.dialect, q.now().Round(0))
	if err != nil {
		return s, JobStatus{}, err
	}
	done := q.jobMoved(t, s, ops)
	if by != nil {
		done = q.lockReleased(by.lock, done)
	}
	return s, status, q.commit(ctx, write{ops: ops, done: done})
}

// jobMoved finds out whether a transition happened.
func (q *Queue) jobMoved(t states.Transition, s jobSnap, ops []znode.Op) func(context.Context) (bool, error) {
	if t.Nodes == states.NodesAlone {
		return func(ctx context.Context) (bool, error) {
			_, ok, err := q.stat(ctx, JobEntryPath(JobState(t.From), s.priority, s.id))
			return !ok, err
		}
	}
	return q.written(JobPath(s.id)+"/status", s.version, ops, t.Nodes == states.NodesGo)
}
