package newqueue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// jobSnap holds what was read about a job before a decision, and what the caller
// changes with the transition.
type jobSnap struct {
	snap
	job       *Job
	status    JobStatus // once decided, the new one
	priority  int
	priorityV int32
	batch     BatchState       // "" if the batch does not exist
	batchV    int32            // of the batch's status
	has       map[string]int32 // the changed properties that exist, and their versions
	change
}

func (q *Queue) snapJob(jid string) *jobSnap {
	j := q.newJob(jid)
	return &jobSnap{snap: snap{item: &j.item, entity: EntityJob}, job: j}
}

func (s *jobSnap) read(ctx context.Context) (state string, err error) {
	if !s.worker {
		if err := s.job.loadStatus(ctx); err != nil {
			return "", err
		}
	}
	s.status = s.job.Status
	s.priorityV, err = parsed(ctx, s.q, s.path+"/priority", &s.priority, ParsePriority)
	return string(s.status.State), err
}

func (s *jobSnap) prepare(ctx context.Context, t states.Transition) error {
	if err := s.readProperties(ctx); err != nil || t.BatchEntry == states.PlaceStays && !asksBatch(t) {
		return err
	}
	b := s.q.newBatch(s.job.BatchID)
	err := b.loadStatus(ctx)
	if s.batch = ""; errors.Is(err, ErrNotFound) {
		return nil
	}
	s.batch, s.batchV = b.Status.State, b.version
	return err
}

// readProperties reads which of the changed properties exist.
func (s *jobSnap) readProperties(ctx context.Context) error {
	s.has = map[string]int32{}
	for _, p := range s.properties {
		stat, ok, err := s.q.stat(ctx, s.path+"/"+p.name)
		if err != nil {
			return err
		}
		if ok {
			s.has[p.name] = stat.Version
		}
	}
	return nil
}

// asksBatch reports whether a job's transition depends on its batch's state.
func asksBatch(t states.Transition) bool { return t.To == states.Deleted || t.From == states.Completed }

func (s *jobSnap) decide(t states.Transition) ([]znode.Op, error) {
	switch {
	case t.Guard == states.OnceStepped && s.status.LastSuccessful == "":
		return nil, fmt.Errorf("%w: no step of it has succeeded yet; submit it again", ErrNotResumable)
	case t.Guard == states.OnceReported && s.batch != BatchCompleted && s.batch != "":
		return nil, ErrNotReported
	}
	s.status = nextJobStatus(s.q.machines[EntityJob], t, s.status, s.message, s.q.clock())
	ops, err := s.ops(t, s.status.Object(s.q.dialect))
	if err != nil {
		return nil, err
	}
	if s.batch != "" && asksBatch(t) && t.Nodes != states.NodesAlone {
		// The batch's state decides whether the answer has a warning, and
		// whether a report still needs the job.
		ops = append(ops, znode.Check(BatchPath(s.job.BatchID)+"/status", s.batchV))
	}
	// The name of the queue entry contains the priority.
	priority := s.priority
	if s.change.priority == nil {
		ops = append(ops, znode.Check(s.path+"/priority", s.priorityV))
	} else {
		priority = *s.change.priority
		if err := checkPriority(priority); err != nil {
			return nil, err
		}
		ops = append(ops, znode.Set(s.path+"/priority", Number(int64(priority)), s.priorityV))
	}
	changes, err := s.propertyOps()
	if err != nil {
		return nil, err
	}
	ops = append(append(ops, changes...), s.placeOps(t, priority)...)
	return append(ops, deleteAll(s.subtree)...), nil
}

func nextJobStatus(table states.Table, t states.Transition, s JobStatus, message string, now time.Time) JobStatus {
	s.State, s.LastModified, s.Message = JobState(t.To), now, message
	switch t.LastSuccess {
	case states.LSSNull:
		s.LastSuccessful = ""
	case states.LSSLeft:
		s.LastSuccessful = JobState(t.From)
	case states.LSSBefore:
		at := t.To
		if at == states.Failed {
			at = t.From
		}
		s.LastSuccessful = JobState(table.Before(at))
	}
	switch t.Retry {
	case states.RetryZero:
		s.RetryCount = 0
	case states.RetryNext:
		s.RetryCount++
	}
	return s
}

// propertyOps create or replace the properties that the worker changes.
func (s *jobSnap) propertyOps() (ops []znode.Op, err error) {
	for _, p := range s.properties {
		path := s.path + "/" + p.name
		if p.name == "store" && s.q.dialect != MrtZK {
			return nil, fmt.Errorf("store: %w in dialect %s", ErrValue, s.q.dialect)
		}
		if p.err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, p.err)
		}
		if v, ok := s.has[p.name]; ok {
			ops = append(ops, znode.Set(path, p.data, v))
		} else {
			ops = append(ops, znode.Create(path, p.data))
		}
	}
	return ops, nil
}

func checkPriority(n int) error {
	if n < 0 || n > MaxPriority {
		return fmt.Errorf("%d: %w", n, ErrPriority)
	}
	return nil
}

// placeOps move or remove the job's queue entry and its batch entry.
func (s *jobSnap) placeOps(t states.Transition, priority int) []znode.Op {
	from, to := JobState(t.From), JobState(t.To)
	ops := place(t.QueueEntry, JobEntryPath(from, s.priority, s.job.ID), JobEntryPath(to, priority, s.job.ID))
	if s.batch != "" { // otherwise its entry does not exist either
		ops = append(ops, place(t.BatchEntry, BatchEntryPath(s.job.BatchID, from.Folder(), s.job.ID), BatchEntryPath(s.job.BatchID, to.Folder(), s.job.ID))...)
	}
	return ops
}

// place makes, moves or removes an entry.
func place(what states.Place, from, to string) (ops []znode.Op) {
	if what == states.PlaceMoves || what == states.PlaceGoes {
		ops = append(ops, znode.Delete(from, -1))
	}
	if what == states.PlaceMoves || what == states.PlaceNew {
		ops = append(ops, znode.Create(to, empty))
	}
	return ops
}
