package ledger

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Ledger is what all runs together say: which records were migrated, and to which jobs.
// Fill it with [Ledger.Add], run by run and entry by entry.
type Ledger struct {
	Runs []migration.Run // oldest first

	entries []Migrated
	left    []migration.Counts // what is left of each run
	newest  map[string]int32   // index of a record's newest entry
	batches map[string]*Batch
	byUUID  map[string]*Batch
	used    map[string]bool   // the names below /batch-uuids that runs gave
	given   map[string]string // the last name that a run gave to a child of /jobs, /batches and the access queues
}

// Migrated says that a run migrated a record.
type Migrated struct {
	Record string // path of the legacy record
	Job    string // path of the job or request; "" if a rollback or a withdrawal removed it
	Batch  string // bid; "" for an access request
	Hash   migration.Hash
	Czxid  int64          // of the record: with the same name, another one has another
	Key    migration.Hash // of its key; zero if it has none
	Run    int32          // index in [Ledger.Runs]
	older  int32          // index of the record's entry before this one, -1 if there is none
	// HandedOver says that the job alone has the work: the record is not in the legacy queue any
	// more. Kept says that its bytes are at [migration.Run.KeptPath], and KeptHash which: if it had changed, and somebody decided that
	// the job has its work, they are not those that were migrated.
	HandedOver, Kept bool
	KeptHash         migration.Hash
}

// Batch is a batch that a run created.
type Batch struct {
	ID   string // bid
	UUID string // its name below /batch-uuids
	Run  int32  // index in [Ledger.Runs]
	Own  int    // how many jobs that run created in it, and no rollback removed
	Jobs int    // how many it should get from that run
}

// New returns a ledger of these runs, oldest first, without entries.
func New(runs []migration.Run) *Ledger {
	records := 0 // to make room for at once, but not for what a damaged record of a run says
	for _, r := range runs {
		records += max(r.Created.Records(), 0)
	}
	return &Ledger{Runs: runs, entries: make([]Migrated, 0, min(records, 1<<20)), left: make([]migration.Counts, len(runs)), newest: map[string]int32{}, batches: map[string]*Batch{}, byUUID: map[string]*Batch{}, used: map[string]bool{}, given: map[string]string{}}
}

// Add adds the next entry of a run. path is its znode. The error is a [*DamageError].
func (l *Ledger) Add(run int, path string, data []byte) error {
	if err := decode(data, func(line Line) error { return l.add(int32(run), line) }); err != nil {
		return &DamageError{Path: path, What: err.Error()}
	}
	return nil
}

// Append adds the lines of the next entry of a run, which was written just now.
func (l *Ledger) Append(run int, lines []Line) error {
	for _, line := range lines {
		if err := l.add(int32(run), line); err != nil {
			return err
		}
	}
	return nil
}

// UsedName reports whether a run has given a batch this name below /batch-uuids, also if the batch was removed since.
func (l *Ledger) UsedName(uuid string) bool { return l.used[uuid] }

func (l *Ledger) add(run int32, line Line) error {
	switch line.Kind {
	case JobCreated:
		older := int32(-1)
		if i, there := l.newest[line.Record]; there {
			older = i
			line.Record = l.entries[i].Record
		} else {
			line.Record = strings.Clone(line.Record)
		}
		if b := l.batches[line.Batch]; b != nil {
			line.Batch = b.ID
			if b.Run == run {
				b.Own++
			}
		} else { // the batch of an earlier run, which was rolled back since
			line.Batch = strings.Clone(line.Batch)
		}
		l.left[run].Add(countOf(line.Job, 1))
		job := strings.Clone(line.Job)
		l.give(job)
		l.newest[line.Record] = int32(len(l.entries))
		l.entries = append(l.entries, Migrated{Record: line.Record, Job: job, Batch: line.Batch, Hash: line.Hash, Czxid: line.Czxid, Key: line.Key, Run: run, older: older})
	case BatchCreated:
		b := &Batch{ID: strings.Clone(line.Batch), UUID: strings.Clone(line.UUID), Run: run, Jobs: line.Jobs}
		l.batches[b.ID], l.byUUID[b.UUID], l.used[b.UUID] = b, b, true
		l.left[run].Batches++
		l.give(newqueue.BatchPath(b.ID))
	case JobRemoved:
		return l.remove(line)
	case HandedOver:
		e, _ := l.entryOf(line)
		if e == nil {
			return fmt.Errorf("record %s was handed over to %s, and no entry created that from it", line.Record, line.Job)
		}
		e.HandedOver, e.Kept, e.KeptHash = true, line.Kept, line.Hash
	case BatchRemoved:
		b := l.batches[line.Batch]
		if b == nil {
			return fmt.Errorf("batch %s was removed, and no entry created it", line.Batch)
		}
		delete(l.batches, b.ID)
		l.left[b.Run].Batches--
		if l.byUUID[b.UUID] == b {
			delete(l.byUUID, b.UUID)
		}
	}
	return nil
}

func (l *Ledger) give(path string) {
	parent, name := znode.Parent(path), znode.Name(path)
	l.given[parent] = max(l.given[parent], name)
}

// LastGiven returns the last sequential name that runs gave to a child of parent, whether it is
// still there or not; "" if they gave none. A name is never given twice: a client that was
// stopped while it worked on the one would go on with the other.
func (l *Ledger) LastGiven(parent string) string { return l.given[parent] }

// MayHaveGiven reports whether a job or request can be one that a run created, even if it was removed since.
func (l *Ledger) MayHaveGiven(job string) bool {
	name, last := znode.Name(job), l.LastGiven(znode.Parent(job))
	return len(name) == len(last) && name <= last
}

// entryOf finds the entry of a line's record and job, nil if there is none, and the index of the record's
// entry after it, -1 if there is none.
func (l *Ledger) entryOf(line Line) (e *Migrated, younger int32) {
	i, there := l.newest[line.Record]
	for younger = -1; there && i >= 0; younger, i = i, l.entries[i].older {
		if l.entries[i].Job == line.Job {
			return &l.entries[i], younger
		}
	}
	return nil, -1
}

// remove takes an entry back. If the record has an older one, that counts again.
func (l *Ledger) remove(line Line) error {
	e, younger := l.entryOf(line)
	switch {
	case e == nil:
		return fmt.Errorf("job %s was removed, and no entry created it from %s", line.Job, line.Record)
	case younger >= 0:
		l.entries[younger].older = e.older
	case e.older >= 0:
		l.newest[line.Record] = e.older
	default:
		delete(l.newest, line.Record)
	}
	if b := l.batches[e.Batch]; b != nil && b.Run == e.Run {
		b.Own--
	}
	l.left[e.Run].Add(countOf(e.Job, -1))
	e.Job = ""
	return nil
}

func countOf(job string, n int) migration.Counts {
	if znode.Within(job, newqueue.AccessPath) {
		return migration.Counts{Access: n}
	}
	return migration.Counts{Jobs: n}
}

// Check compares the entries of a run with what its record says, when all are added. The
// error is a [*DamageError].
func (l *Ledger) Check(run int) error {
	r := &l.Runs[run]
	said := migration.Counts{Jobs: r.Created.Jobs - r.Removed.Jobs, Access: r.Created.Access - r.Removed.Access, Batches: r.Created.Batches - r.Removed.Batches}
	if l.left[run] != said {
		return &DamageError{Path: RunPath(r.ID), What: fmt.Sprintf("it says that %+v are left, and the run's entries say %+v", said, l.left[run])}
	}
	return nil
}

// Len returns the number of records that were migrated.
func (l *Ledger) Len() int { return len(l.newest) }

// Find returns the newest entry of a record; nil if it was not migrated. The caller must
// not change it.
func (l *Ledger) Find(record string) *Migrated {
	i, there := l.newest[record]
	if !there {
		return nil
	}
	return &l.entries[i]
}

// Knows reports whether any run migrated a record, even if its job was removed since.
func (l *Ledger) Knows(record string) bool {
	return l.Find(record) != nil || slices.ContainsFunc(l.entries, func(e Migrated) bool { return e.Record == record })
}

// Withdrew reports whether a run migrated a record with these bytes whose job was removed since, so that the legacy queue has its work.
func (l *Ledger) Withdrew(h migration.Hash) bool {
	return slices.ContainsFunc(l.entries, func(e Migrated) bool { return e.Job == "" && e.Hash == h })
}

// All yields the newest entry of each record that was migrated, in the order in which they were made. A record with another key and the
// same name is another record.
func (l *Ledger) All() iter.Seq[*Migrated] {
	return func(yield func(*Migrated) bool) {
		for i := range l.entries {
			if e := &l.entries[i]; e.Job != "" && l.isNewestOfKey(e) && !yield(e) {
				return
			}
		}
	}
}

// Named yields those of [Ledger.All] that have a name, the newest first.
func (l *Ledger) Named(record string) iter.Seq[*Migrated] {
	return func(yield func(*Migrated) bool) {
		for i, there := l.newest[record]; there && i >= 0; i = l.entries[i].older {
			if e := &l.entries[i]; l.isNewestOfKey(e) && !yield(e) {
				return
			}
		}
	}
}

func (l *Ledger) isNewestOfKey(e *Migrated) bool {
	return l.IsNewest(e) || l.FindKey(e.Record, e.Key) == e
}

// IsNewest reports whether no newer entry has the name of this one's record.
func (l *Ledger) IsNewest(e *Migrated) bool { return l.Find(e.Record) == e }

// FindKey returns the newest entry of a record with this name and key that has a job; nil if there is none.
func (l *Ledger) FindKey(record string, key migration.Hash) *Migrated {
	for i, there := l.newest[record]; there && i >= 0; i = l.entries[i].older {
		if e := &l.entries[i]; e.Key == key && e.Job != "" && key != (migration.Hash{}) {
			return e
		}
	}
	return nil
}

// NotMigrated yields those paths of records that are not in the ledger.
func (l *Ledger) NotMigrated(records iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for record := range records {
			if l.Find(record) == nil && !yield(record) {
				return
			}
		}
	}
}

// OfRun yields all entries of a run that no rollback has taken back, in the order in which
// they were made. That includes entries of records that a later run migrated again.
func (l *Ledger) OfRun(run int) iter.Seq[*Migrated] {
	return func(yield func(*Migrated) bool) {
		for i := range l.entries {
			if e := &l.entries[i]; e.Job != "" && e.Run == int32(run) && !yield(e) {
				return
			}
		}
	}
}

// Batch returns the batch with this bid; nil if no run created it.
func (l *Ledger) Batch(bid string) *Batch { return l.batches[bid] }

// BatchByUUID returns the batch with this name below /batch-uuids; nil if no run created
// it.
func (l *Ledger) BatchByUUID(uuid string) *Batch { return l.byUUID[uuid] }

// Batches yields all batches that runs created, in no order.
func (l *Ledger) Batches() iter.Seq[*Batch] {
	return maps.Values(l.batches)
}

// Newest returns the newest run; nil if there is none.
func (l *Ledger) Newest() *migration.Run {
	if len(l.Runs) == 0 {
		return nil
	}
	return &l.Runs[len(l.Runs)-1]
}

// Current returns the run that something has to be done about: the unfinished one, else the one that stands, else the newest; nil if there is
// none. Older versions of mrtq could begin a run beside another one.
func (l *Ledger) Current() *migration.Run {
	return cmp.Or(l.last((*migration.Run).Unfinished), l.Standing(), l.Newest())
}

// Standing returns the newest run that is done, and neither rolled back nor completed; nil if there is none.
func (l *Ledger) Standing() *migration.Run {
	return l.last(func(r *migration.Run) bool { return r.State == migration.RunDone && r.Completed.IsZero() })
}

// LastKept returns the newest run of which a rollback kept jobs; nil if there is none.
func (l *Ledger) LastKept() *migration.Run {
	return l.last(func(r *migration.Run) bool { return r.State == migration.RunRolledBack && r.Stayed > 0 })
}

func (l *Ledger) last(is func(*migration.Run) bool) *migration.Run {
	for i := range slices.Backward(l.Runs) {
		if is(&l.Runs[i]) {
			return &l.Runs[i]
		}
	}
	return nil
}

// AllRolledBack reports whether there are runs, and all of them were rolled back.
func (l *Ledger) AllRolledBack() bool {
	return len(l.Runs) > 0 && !slices.ContainsFunc(l.Runs, func(r migration.Run) bool { return r.State != migration.RunRolledBack })
}

// FindRun returns the index of a run, -1 if there is no such run.
func (l *Ledger) FindRun(id string) int {
	return slices.IndexFunc(l.Runs, func(r migration.Run) bool { return r.ID == id })
}
