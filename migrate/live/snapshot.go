// Package live looks at a target again and again while it is used: how many jobs
// are in which state, what is locked and held, and what a migration is doing.
//
// A [Looker] reads, over a session that cannot write, and never every job: the
// server counts a folder's children and tells of what changes. A [Snapshot] is
// what one look found. What a person or a program wants to know of a row of
// snapshots is a [View], which a pure function makes.
package live

import (
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate"
)

// Snapshot is a target as one look found it.
type Snapshot struct {
	At    time.Time
	There bool // the target's chroot is
	// NoQueue is what is there instead of a new queue, nil if there is one.
	NoQueue *migrate.NoQueue
	// Jobs are the folders of job states that are there, the documented ones
	// first and in the order of a job's life.
	Jobs    []Folder
	Access  []Folder // the access queues that are there
	Batches []Folder // /batches, if it is there
	Holds   []Hold
	// Locks are those that were looked at, LockFolders those below /locks, which
	// may hold more.
	Locks       []Lock
	LockFolders []LockFolder
	Migration   Migration
	// Source are the legacy queues that are there and the legacy locks, if they
	// are looked at.
	Source []Folder
}

// Folder is a znode whose children are counted.
type Folder struct {
	Path, Name string
	Stat       znode.Stat
	// Unlisted is why the names of the children are not known, "" if they are.
	Unlisted string
	Oldest   *Entry // nil if it is empty, or not known
}

// Created is how many children were ever made: the server counts them.
func (f Folder) Created() int64 {
	next, _ := f.Stat.NextSequence()
	return int64(next)
}

// Removed is how many children are gone.
func (f Folder) Removed() int64 { return f.Created() - int64(f.Stat.NumChildren) }

// Entry is the child of a folder that stands for the job, batch or access
// request that was made first.
type Entry struct {
	ID    string
	Made  time.Time // the job, batch or request itself
	Since time.Time // when it came into this folder
}

// Hold is an administrator's, or a migration's, hold on a queue or a collection.
type Hold struct {
	Path       string
	Name       string
	Collection bool // else a queue
	Since      time.Time
}

// LockKind is what a lock is on.
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

// LockKinds are all kinds.
var LockKinds = []LockKind{LockJob, LockBatch, LockAccess, LockStorage, LockInventory, LockLocalID}

// Lock is one lock.
type Lock struct {
	Kind    LockKind
	Path    string
	Since   time.Time
	Session int64 // 0 for one that outlives its session
}

// LockFolder is a folder of locks below /locks, and how many there are.
type LockFolder struct {
	Kind  LockKind
	Count int
}

// Migration is what the migration's own znodes tell.
type Migration struct {
	Run    *migrate.Run // the newest whose record can be read
	Damage string       // why the newest can't
	Path   string       // of the newest run's record, "" if there is none
	// Migrators are the sessions in the election. The first is at work, the others
	// stand by.
	Migrators []Migrator
}

// Migrator is one process in the election.
type Migrator struct {
	Path  string
	Owner string // what it says of itself
	Since time.Time
}

func millis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
