package migration

import (
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

const runPrefix = "run"

// RunID returns the id of a run with this number.
func RunID(number int32) string { return newqueue.SequenceID(runPrefix, number) }

// IsRunID reports whether a name is the id of a run.
func IsRunID(name string) bool {
	_, ok := newqueue.ParseSequenceID(runPrefix, name)
	return ok
}

// RunState is what happened to a run (docs/life.md, "States").
type RunState string

// The states of a run. A done run can be released, queue by queue: see [Run.Releases].
const (
	RunRunning     RunState = "running"
	RunDone        RunState = "done"
	RunRollingBack RunState = "rolling-back"
	RunRolledBack  RunState = "rolled-back"
)

// Run is the record of one run, the data of /migration/runs/RUN.
type Run struct {
	Format int      `json:"format"`
	ID     string   `json:"run"`
	State  RunState `json:"state"`
	// Source is the legacy queue, as the operator gave it, and Origin where it is.
	Source   string           `json:"source"`
	Origin   Origin           `json:"origin"`
	Dialect  newqueue.Dialect `json:"dialect"`
	Choices  Choices          `json:"choices"`
	Time     string           `json:"time"`           // the unit of the records' times: auto, s or ms
	ACL      []znode.ACL      `json:"acl,omitempty"`  // of every znode that the run creates; none means open to all
	Note     string           `json:"note,omitempty"` // of the operator: who, and why
	Owner    string           `json:"owner"`          // the migrator that wrote the run's last transaction
	Started  time.Time        `json:"started"`
	Finished time.Time        `json:"finished,omitzero"`
	Created  Counts           `json:"created"`              // so far
	Total    int              `json:"total"`                // how many jobs and requests there will be in the end
	Removed  Counts           `json:"rolled_back,omitzero"` // by its rollback so far, and what releases withdrew
	Stayed   int              `json:"kept,omitempty"`       // jobs and requests that its rollback kept, or found removed by other clients
	Releases []Release        `json:"releases,omitempty"`
	// Completed is when somebody said that there is no way back any more. The bytes of the records
	// that were handed over are removed then.
	Completed time.Time `json:"completed,omitzero"`
	// Next has, for each legacy queue node, the number that its next record would have got
	// when the run began. A record with a lower number was there.
	Next map[string]uint32 `json:"next"`
	// Read is the newest transaction in the legacy queue's ensemble before the run first read its records. What was written to a record
	// later may be newer than what the run made of it.
	Read int64 `json:"read"`
	// Entries is how many entries its ledger has.
	Entries int `json:"entries"`
	// Version is the version that the run's znode has with this record. If the znode has
	// another one, the target was restored from a backup, znode by znode.
	Version int32 `json:"version"`
	// Restored says that the target was restored so, now or before a migrator went on. Then the transactions
	// of the run's znodes don't show which of them were created together.
	Restored bool `json:"restored,omitempty"`

	Stat znode.Stat `json:"-"` // as it was read
}

// Counts are numbers of items in the new queue.
type Counts struct {
	Jobs    int `json:"jobs"`
	Access  int `json:"access"`
	Batches int `json:"batches"`
}

// Records returns the number of records that the jobs and requests were made from.
func (c Counts) Records() int { return c.Jobs + c.Access }

// Add adds other counts.
func (c *Counts) Add(d Counts) {
	c.Jobs, c.Access, c.Batches = c.Jobs+d.Jobs, c.Access+d.Access, c.Batches+d.Batches
}

// Release is one release of queues of a run.
type Release struct {
	At     time.Time            `json:"at"`
	By     string               `json:"by"`
	Queues []newqueue.QueueHold `json:"queues"`
}

// RestoredUnnoted reports whether the run's znode was put back from a backup, and no migrator went on since, so that its
// version is not the one that the record names.
func (r Run) RestoredUnnoted() bool { return r.Stat.Version != r.Version }

// Number returns the run's number.
func (r Run) Number() int32 {
	n, _ := newqueue.ParseSequenceID(runPrefix, r.ID)
	return n
}

// Unfinished reports whether the run or its rollback still has to be finished.
func (r Run) Unfinished() bool { return r.State == RunRunning || r.State == RunRollingBack }

// CanGoBack reports whether there is a run that a rollback can take back: it was neither rolled back nor completed.
func (r *Run) CanGoBack() bool { return r != nil && r.State != RunRolledBack && r.Completed.IsZero() }

// ReleasedAt returns when a queue of the run was released; zero if it was not.
func (r Run) ReleasedAt(h newqueue.QueueHold) time.Time {
	for _, release := range r.Releases {
		if slices.Contains(release.Queues, h) {
			return release.At
		}
	}
	return time.Time{}
}

// ReleasedQueues returns the queues that [Run.ReleasedAt] has times of.
func (r Run) ReleasedQueues() (queues []newqueue.QueueHold) {
	for _, q := range newqueue.QueueHolds {
		if !r.ReleasedAt(q).IsZero() {
			queues = append(queues, q)
		}
	}
	return queues
}

// HadRecord reports whether a record was there when the run began, as its number
// shows. ZooKeeper's counter wraps, so numbers are compared without sign.
func (r Run) HadRecord(path string) bool {
	next, listed := r.Next[znode.Parent(path)]
	key, err := legacy.ParseKey(znode.Name(path))
	return !listed || err != nil || uint32(key.Sequence) < next
}
