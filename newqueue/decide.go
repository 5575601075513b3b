package newqueue

import (
	"fmt"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// This file decides what a row of a table means for a given tree. It does no I/O:
// moveJob, moveBatch and moveAccess read and write.

// jobSnap holds what was read about a job before a decision.
type jobSnap struct {
	id, bid   string
	status    JobStatus
	version   int32 // of the status
	priority  int
	priorityV int32
	batch     BatchState       // "" if the batch does not exist
	batchV    int32            // of the batch's status
	has       map[string]int32 // the optional properties that exist, and their versions
	subtree   []string         // /jobs/JID and all below it but the lock, for a deletion
}

// change is what a worker writes together with its transition.
type change struct {
	message     string
	priority    *int
	spaceNeeded *int64
	inventory   *Inventory
	store       *Store
	from        JobState // the state that the caller expects; "" for any
}

// decideJob turns a transition of a job into the operations of one transaction,
// and returns the new status.
func decideJob(t states.Transition, s jobSnap, c change, d Dialect, now time.Time) ([]znode.Op, JobStatus, error) {
	if err := permitJob(t, s); err != nil {
		return nil, JobStatus{}, err
	}
	path := JobPath(s.id)
	status := nextJobStatus(t, s.status, c.message, d, now)
	ops := lockOps(t.Who, path)
	switch t.Nodes {
	case states.NodesStay:
		data, err := status.Object(d).Marshal()
		if err != nil {
			return nil, JobStatus{}, err
		}
		ops = append(ops, znode.Set(path+"/status", data, s.version))
	case states.NodesAlone:
		ops = append(ops, znode.Check(path+"/status", s.version))
	}
	if s.batch != "" && asksBatch(t) && t.Nodes != states.NodesAlone {
		// The batch's state decides whether the answer has a warning, and
		// whether a report still needs the job.
		ops = append(ops, znode.Check(BatchPath(s.bid)+"/status", s.batchV))
	}
	priority, changes, err := changeOps(s, c, d)
	if err != nil {
		return nil, JobStatus{}, err
	}
	ops = append(ops, changes...)
	ops = append(ops, placeOps(t, s, priority)...)
	if t.Nodes == states.NodesGo {
		ops = append(ops, znode.Check(path+"/status", s.version))
		ops = append(ops, deleteAll(s.subtree)...)
	}
	return ops, status, nil
}

// asksBatch reports whether a job's transition depends on its batch's state.
func asksBatch(t states.Transition) bool { return t.To == states.Deleted || t.From == states.Completed }

// permitJob refuses a transition if the row's guard excludes it.
func permitJob(t states.Transition, s jobSnap) error {
	switch {
	case t.Guard == states.OnceStepped && s.status.LastSuccessful == "":
		return fmt.Errorf("%w: no step of it has succeeded yet; submit it again", ErrNotResumable)
	case t.Guard == states.OnceReported && s.batch != BatchCompleted && s.batch != "":
		return ErrNotReported
	}
	return nil
}

func nextJobStatus(t states.Transition, s JobStatus, message string, d Dialect, now time.Time) JobStatus {
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
		s.LastSuccessful = JobState(machines[d][EntityJob].Before(at))
	}
	switch t.Retry {
	case states.RetryZero:
		s.RetryCount = 0
	case states.RetryNext:
		s.RetryCount++
	}
	return s
}

// lockOps release a worker's lock. For every other caller they prove that no
// worker holds it: creating a lock that exists fails, and so does the whole
// transaction.
func lockOps(who states.Actor, entity string) []znode.Op {
	lock := entity + "/lock"
	if who.HoldsLock() {
		return []znode.Op{znode.Delete(lock, -1)}
	}
	return []znode.Op{znode.Create(lock, empty), znode.Delete(lock, -1)}
}

// changeOps write the properties that the worker changes with the transition. If
// the priority does not change, they check that it still is the one that was
// read, because the name of the queue entry contains it.
func changeOps(s jobSnap, c change, d Dialect) (priority int, ops []znode.Op, err error) {
	path := JobPath(s.id)
	priority = s.priority
	if c.priority == nil {
		ops = append(ops, znode.Check(path+"/priority", s.priorityV))
	} else {
		if priority, err = checkedPriority(*c.priority); err != nil {
			return 0, nil, err
		}
		ops = append(ops, znode.Set(path+"/priority", Number(int64(priority)), s.priorityV))
	}
	if c.spaceNeeded != nil {
		if *c.spaceNeeded < 0 {
			return 0, nil, fmt.Errorf("space_needed %d: %w", *c.spaceNeeded, ErrValue)
		}
		ops = append(ops, s.put("space_needed", Number(*c.spaceNeeded)))
	}
	if c.inventory != nil {
		if ops, err = s.putObject(ops, "inventory", c.inventory.Object()); err != nil {
			return 0, nil, err
		}
	}
	if c.store != nil {
		if d != MrtZK {
			return 0, nil, fmt.Errorf("store: %w in dialect %s", ErrValue, d)
		}
		if ops, err = s.putObject(ops, "store", c.store.Object()); err != nil {
			return 0, nil, err
		}
	}
	return priority, ops, nil
}

func checkedPriority(n int) (int, error) {
	if n < 0 || n > MaxPriority {
		return 0, fmt.Errorf("%d: %w", n, ErrPriority)
	}
	return n, nil
}

// put creates or replaces an optional property.
func (s jobSnap) put(name string, data []byte) znode.Op {
	path := JobPath(s.id) + "/" + name
	if v, ok := s.has[name]; ok {
		return znode.Set(path, data, v)
	}
	return znode.Create(path, data)
}

func (s jobSnap) putObject(ops []znode.Op, name string, o Object) ([]znode.Op, error) {
	data, err := o.Marshal()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return append(ops, s.put(name, data)), nil
}

// placeOps create, move or remove the job's queue entry and its batch entry.
func placeOps(t states.Transition, s jobSnap, priority int) []znode.Op {
	var ops []znode.Op
	from, to := JobState(t.From), JobState(t.To)
	if t.QueueEntry == states.PlaceMoves || t.QueueEntry == states.PlaceGoes {
		ops = append(ops, znode.Delete(JobEntryPath(from, s.priority, s.id), -1))
	}
	if t.QueueEntry == states.PlaceMoves {
		ops = append(ops, znode.Create(JobEntryPath(to, priority, s.id), empty))
	}
	if s.batch == "" {
		return ops // the batch does not exist, and neither does its entry
	}
	if t.BatchEntry == states.PlaceMoves || t.BatchEntry == states.PlaceGoes {
		ops = append(ops, znode.Delete(BatchEntryPath(s.bid, from.Folder(), s.id), -1))
	}
	if t.BatchEntry == states.PlaceMoves {
		ops = append(ops, znode.Create(BatchEntryPath(s.bid, to.Folder(), s.id), empty))
	}
	return ops
}

// deleteAll deletes a subtree, children first. paths lists parents first.
func deleteAll(paths []string) []znode.Op {
	ops := make([]znode.Op, 0, len(paths))
	for _, p := range slices.Backward(paths) {
		ops = append(ops, znode.Delete(p, -1))
	}
	return ops
}

// resumeAt is the step at which a failed job resumes: the one after
// last_successful_status. If the client library resumed the job and it failed
// again, last_successful_status is Failed. That is no step, so an administrator
// has to choose one.
func resumeAt(table states.Table, s JobStatus) (JobState, error) {
	var at string
	switch last := s.LastSuccessful; last {
	case "", JobHeld:
		at = states.Pending
	default:
		at = table.Success(string(last))
	}
	if _, ok := table.Find(states.Failed, at); ok {
		return JobState(at), nil
	}
	if s.LastSuccessful == "" {
		return "", fmt.Errorf("%w: no step of it has succeeded yet; submit it again", ErrNotResumable)
	}
	return "", fmt.Errorf("%w: last_successful_status is %s, which names no step to resume at; choose a step with RetryJob", ErrNotResumable, s.LastSuccessful)
}
