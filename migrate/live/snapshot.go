// Package live watches a target while it is in use: how many jobs are in each
// state, which locks and holds there are, and how far a migration is.
//
// A [Looker] looks at a target again and again, and each look returns a
// [Snapshot]. A [History] keeps the snapshots of the last minute, and
// [History.View] turns them into a [View], which is what the command mrtq watch
// shows. A [SourceLooker] counts the records of the legacy queues in the same way.
//
//	looker := live.NewLooker(reader, time.Now)
//	var history live.History
//	for range time.Tick(time.Second) {
//		snapshot, err := looker.Look(ctx)
//		if err != nil {
//			return err
//		}
//		history = history.Add(snapshot)
//		show(history.View())
//	}
//
// reader is a [migrate.Reader]. Looking changes nothing, because such a session cannot
// write. It is also cheap. A look never reads every job: it takes the number of jobs from
// the Stat of their folder, and it sets watches, so that it need not read again what has
// not changed.
package live

import (
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
)

// Snapshot is what one look found in a target.
type Snapshot struct {
	At    time.Time // when the look began, by the caller's clock
	There bool      // whether the target's chroot exists
	// NoQueue is what is there instead of a new queue, nil if there is one.
	NoQueue *target.NoQueue
	// Jobs are the folders of job states that exist: first the documented states in
	// the order of a job's life, then any others.
	Jobs    []Folder
	Access  []Folder // the access queues that exist
	Batches []Folder // /batches, or nothing if it does not exist
	Holds   []Hold   // at most 100 on queues and 100 on collections
	// Locks are the locks that the look found, the oldest first. It looks for the
	// locks of only some jobs, batches and requests: see [Looker.Look].
	Locks []Lock
	// LockFolders count all locks below /locks. Locks has at most 100 from each.
	LockFolders []LockFolder
	Migration   Migration
	// Source are the legacy queues and the folder of the legacy locks that exist. A
	// Looker leaves it empty: the caller sets it to what [SourceLooker.Look]
	// returned.
	Source []Folder
}

// Folder is a znode whose children are counted.
type Folder struct {
	Path, Name string
	Stat       znode.Stat // NumChildren is the count
	// Unlisted says why the names of the children are not known. It is "" if they
	// are.
	Unlisted string
	Oldest   *Entry // nil if the folder is empty or its oldest child is not known
}

// Created returns how many children have been created in the folder since the
// folder itself was created. It comes from the folder's version for children.
func (f Folder) Created() int64 {
	next, _ := f.Stat.NextSequence()
	return int64(next)
}

// Removed returns how many children have been deleted since then.
func (f Folder) Removed() int64 { return f.Created() - int64(f.Stat.NumChildren) }

// Entry is a folder's child: a job, a batch or an access request.
type Entry struct {
	ID    string
	Made  time.Time // when the job, batch or request was created
	Since time.Time // when it came into this folder
}

// Hold is a hold on a queue or a collection, which an administrator or a migration
// has set.
type Hold struct {
	Path       string
	Name       string    // of the queue or the collection
	Collection bool      // whether it is on a collection
	Since      time.Time // when it was set
}

// LockKind is what a lock locks.
type LockKind string

// The kinds of locks.
const (
	LockJob       LockKind = "job"
	LockBatch     LockKind = "batch"
	LockAccess    LockKind = "access"
	LockStorage   LockKind = "storage"
	LockInventory LockKind = "inventory"
	LockLocalID   LockKind = "localid"
)

// LockKinds are all kinds of locks.
var LockKinds = []LockKind{LockJob, LockBatch, LockAccess, LockStorage, LockInventory, LockLocalID}

// Lock is one lock.
type Lock struct {
	Kind    LockKind
	Path    string
	Since   time.Time // when it was taken
	Session int64     // the session that holds it, 0 for a persistent lock
}

// LockFolder says how many locks a folder below /locks has.
type LockFolder struct {
	Kind  LockKind
	Count int
}

// Migration is what the migration's own znodes say.
type Migration struct {
	Run    *ledger.Run // the newest run, nil if there is none or its record can't be read
	Damage string      // why the newest run's record can't be read, "" if it can
	Path   string      // the znode of the newest run, "" if there is none
	// Migrators are the processes in the migration's election. The first runs,
	// the others wait.
	Migrators []Migrator
}

// Migrator is one process in the migration's election.
type Migrator struct {
	Path  string
	Owner string    // its own description of itself; known only for the running one
	Since time.Time // when it joined the election
}

func millis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
