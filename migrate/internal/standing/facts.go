// Package standing says how a migrated record stands: what it is now in the legacy queue, in the ledger and as a job, and what
// follows. All commands take that from here.
//
//	facts.go      what a record and its job are now, from what was read; it is pure
//	decide.go     the tables: what becomes of them; it is pure, too
//	queue.go      what a queue node is now, and which records a release is about
//	reader.go     reads both, and decides
//	renamed.go    what is in the legacy queue under another name
//	elsewhere.go  what other targets have taken
package standing

import (
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// RecordCondition is what a migrated record is now.
type RecordCondition string

// What a record can be. It is Unknown if it is there and can't be read.
const (
	AsMigrated RecordCondition = "as-migrated" // the same bytes, and the same znode
	Changed    RecordCondition = "changed"     // and there: a legacy worker has it, or did it
	Renamed    RecordCondition = "renamed"     // in the legacy queue under another name: it counts as changed
	Absent     RecordCondition = "absent"      // not in the legacy queue
	Unknown    RecordCondition = "unknown"
)

// What else a record can be: [Facts.Word] says it of one that was migrated, and who finds it in no ledger of one that was not.
const (
	HandedOver  RecordCondition = "handed-over" // it left the legacy queue for its job
	ThereAgain  RecordCondition = "again"       // and is there again
	Taken       RecordCondition = "taken"       // another target has it
	NotMigrated RecordCondition = "not-migrated"
)

// JobCondition is what the job of a migrated record is now.
type JobCondition string

// What a job can be.
const (
	NotBegun JobCondition = "not-begun" // as the run left it, or held all the time
	Begun    JobCondition = "begun"     // or finished
	Gone     JobCondition = "gone"      // finished and cleaned up, or deleted
)

// Facts are what is known of a record and its job.
type Facts struct {
	Record RecordCondition
	Job    JobCondition
	// Another says that another record has this one's name: their keys differ, or the queue was made again, so that its names began again. Then
	// this one is absent.
	Another bool
	// QueueAgain says that its queue was made again.
	QueueAgain bool
	// Finished says that the record was completed or deleted when it was migrated, so that nobody has to work on it.
	Finished bool
	// AlwaysHeld says that the queue of the job was held all the time since it was created.
	AlwaysHeld bool
	// HandedOver says that the record was handed over. Kept says that its bytes are kept.
	HandedOver, Kept bool
	// Worked says that a legacy worker has the record: it is consumed, and was not when it was migrated, or a legacy
	// lock names its jobID.
	Worked bool
	// Locked says that a session has a lock of the job.
	Locked bool
	// Restored says that the target was restored from a backup. Kept bytes show that the record was handed over since.
	Restored bool
	// Elsewhere says that the record is not there because another target's release has handed it over.
	Elsewhere bool
}

// Word returns how the record stands, in one word.
func (f Facts) Word() RecordCondition {
	switch {
	case f.Elsewhere:
		return Taken
	case !f.HandedOver || f.Record == Unknown:
		return f.Record
	case f.Record == Absent:
		return HandedOver
	}
	return ThereAgain
}

// BlocksLate reports whether no other record can be migrated before a release or a rollback has passed this one: a plan refuses the names of
// another queue, and a name that two records have.
func (f Facts) BlocksLate() bool { return !f.HandedOver && (f.Another || f.QueueAgain) }

// FactsOf returns what the ledger and the legacy queue show of a migrated record. read is the znode that has its name now, and queues
// are the czxids of the queue nodes. Nothing is known of its job.
func FactsOf(e *ledger.Migrated, run *migration.Run, read source.Fetched, queues map[string]int64) Facts {
	f := Facts{Record: Absent, HandedOver: e.HandedOver, Kept: e.Kept, Restored: run.Restored}
	unreadable := read.Err != nil && read.Err.Kind == migration.Unreadable
	same := read.There && !unreadable && ledger.HashOf(read.SHA256()) == e.Hash
	tells := run.Origin.OneEnsemble && !run.Restored // a czxid does
	f.QueueAgain = tells && QueueOf(run, znode.Parent(e.Record), queues) == MadeAgain
	switch {
	case !read.There:
	case unreadable:
		f.Record = Unknown
	case !same && isAnother(e, read, f.QueueAgain):
		f.Another = true
	case same && (read.Stat.Czxid == e.Czxid || !tells || e.HandedOver): // who puts back a record that was handed over gives it another czxid
		f.Record = AsMigrated
	default:
		f.Record = Changed
	}
	if f.Record == AsMigrated && read.Err == nil {
		status := read.Legacy.Header.Status
		f.Finished = status == legacy.Completed || status == legacy.Deleted
	}
	return f
}

// EntryOf returns the entry of the record that a znode is, if several had its name; nil if it is none of the ledger's.
func EntryOf(l *ledger.Ledger, read source.Fetched) *ledger.Migrated {
	return l.FindKey(read.Path, keyOf(read))
}

// isAnother reports whether the znode that has a record's name is another record. If one of the two has no key, it is after the queue was
// made again.
func isAnother(e *ledger.Migrated, read source.Fetched, madeAgain bool) bool {
	key := keyOf(read)
	if key == (migration.Hash{}) || e.Key == (migration.Hash{}) {
		return madeAgain
	}
	return key != e.Key
}

// withJob adds what the job shows. released says that its queue was released, as the run's record has it.
func (f Facts) withJob(j target.Job, released bool) Facts {
	if j.Gone() {
		f.Job = Gone
		return f
	}
	state, written := j.Status()
	f.Locked = j.Locked() != ""
	f.Job = Begun
	waiting := !written || state == string(newqueue.JobPending) || state == string(newqueue.JobHeld)
	// An administrator touches it, and begins nothing. Of a restored queue only the run's record shows that it was held.
	held := f.AlwaysHeld || f.Restored && !released
	if j.ActedOn(f.Restored) == "" || held && !f.Locked && waiting {
		f.Job = NotBegun
	}
	if f.Record == Absent && !written && (state == string(newqueue.JobCompleted) || state == string(newqueue.JobDeleted)) {
		f.Finished = true
	}
	return f
}
