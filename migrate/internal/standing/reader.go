package standing

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Standing is a migrated record, its job, and what becomes of them.
type Standing struct {
	Entry *ledger.Migrated
	Run   *migration.Run
	Facts
	Decision
	// RecordRead is the record as it was read; its There is false if it is not in the legacy queue.
	RecordRead source.Fetched
	// Left says that the record was listed, and was gone when it was read: only another list shows what became of it.
	Left bool
	// Other is another record that has its name now; its There is false if there is none. No run has migrated it.
	Other source.Fetched
	// JobRead is the job as it was read. It has no znodes if the record alone decides.
	JobRead target.Job
	// KeptNode is what is kept of the record, if it was read; its Path is "" if it was not, or if nothing is there. Only if
	// Kept is set it has the record's bytes.
	KeptNode znode.Node

	// Named is what has its name now, whichever record that is.
	Named source.Fetched

	namesake bool // see [migration.Note]; known if somebody must decide
}

// Reader reads records and jobs, and decides about them.
type Reader struct {
	Target *target.Target
	Names  *target.Names // of what the target holds, as it was read after Target
	// Src is nil if the legacy queue is in another ensemble. Then no record was handed over, and each counts as it was migrated.
	Src *source.Source
	// Decide is [DecideRelease] or [DecideRollback].
	Decide func(Facts, migration.Answer) Decision
	// Answers are about single records, by the path of the record or of its job. Vanished is about all of Missing, which are the records that were not there when the
	// command began: nobody has decided about those that leave the legacy queue while it runs.
	Answers  map[string]migration.Answer
	Vanished migration.Answer
	Missing  map[string]bool
	// WorkersStopped says that no legacy worker is at work, whatever the records show.
	WorkersStopped bool
	// ReadJobs also reads jobs whose records alone decide.
	ReadJobs bool
	// MayBeUnknown goes on if a record can't be read. Otherwise that is an error.
	MayBeUnknown bool
	// SearchEverywhere looks for the entries of damaged jobs everywhere.
	SearchEverywhere bool

	renames *Renames         // nil before it was needed
	others  *others          // what other targets keep; nil before it was needed
	locked  map[string]bool  // the jobIDs that legacy locks name
	queues  map[string]int64 // the czxids of the legacy queue's nodes
}

const partSize part.Size = 1000

// All yields what becomes of records and their jobs, in the order of entries.
func (l *Reader) All(ctx context.Context, entries []*ledger.Migrated) iter.Seq2[Standing, error] {
	return func(yield func(Standing, error) bool) {
		for part, err := range l.Parts(ctx, entries) {
			if err != nil {
				yield(Standing{}, err)
				return
			}
			for _, c := range part {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// Parts is [Reader.All], with those that were read together. It reads ahead, so that the caller's writes and the
// next reads overlap.
func (l *Reader) Parts(ctx context.Context, entries []*ledger.Migrated) iter.Seq2[[]Standing, error] {
	l.locked = map[string]bool{}
	if l.Src != nil {
		l.queues = l.Src.Czxids()
		for _, lock := range l.Src.Locks {
			if lock.Err == nil {
				l.locked[string(lock.Legacy.Data)] = true
			}
		}
	}
	return source.Prefetch(ctx, func(ctx context.Context, send func([][]Standing) error) error {
		for part := range slices.Chunk(entries, partSize.N()) {
			cases, err := l.part(ctx, part)
			if err == nil {
				err = send([][]Standing{cases})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *Reader) part(ctx context.Context, entries []*ledger.Migrated) ([]Standing, error) {
	cases := make([]Standing, len(entries))
	for i, e := range entries {
		cases[i] = Standing{Entry: e, Run: &l.Target.Ledger.Runs[e.Run], JobRead: target.Job{Of: e}}
	}
	if err := l.readRecords(ctx, cases); err != nil {
		return nil, err
	}
	for i := range cases {
		c := &cases[i]
		if c.Facts = l.recordFacts(c); c.Record == Unknown && !l.MayBeUnknown {
			return nil, Unreadable(c.Entry.Record, c.RecordRead)
		}
		c.Named = c.RecordRead
		if c.Another {
			if isNew(l.Target.Ledger, c.Entry, c.RecordRead) {
				c.Other = c.RecordRead
			}
			c.RecordRead = source.Fetched{}
		}
	}
	if err := l.readKept(ctx, cases); err != nil {
		return nil, err
	}
	if err := l.readElsewhere(ctx, cases); err != nil {
		return nil, err
	}
	if err := l.readRenames(ctx, cases); err != nil {
		return nil, err
	}
	if err := l.readJobs(ctx, cases); err != nil {
		return nil, err
	}
	for i := range cases {
		c := &cases[i]
		answer, byName := l.Answers[c.Entry.Job], l.Answers[c.Entry.Record]
		if answer == migration.AnswerNone && byName != migration.AnswerNone && !l.hasNamesake(c) {
			answer = byName
		}
		if answer == migration.AnswerNone && c.Record == Absent && l.Missing[c.Entry.Record] {
			answer = l.Vanished
		}
		c.Decision = l.Decide(c.Facts, answer)
		if c.namesake = c.Action == Ask && l.hasNamesake(c); c.namesake && answer != byName && c.Why == "" {
			c.Why = fmt.Sprintf("another record had its name, too, so the answer must name its job: --record-is new=%[1]s or legacy=%[1]s", c.Entry.Job)
		}
		if l.Src == nil && c.Action != Withdraw {
			c.Decision = Decision{Action: Stay}
		}
	}
	return cases, nil
}

// hasNamesake reports whether somebody may have to decide about another record of a record's name, too: one that was not handed over, or that
// what has the name may be.
func (l *Reader) hasNamesake(c *Standing) bool {
	for e := range l.Target.Ledger.Named(c.Entry.Record) {
		if e != c.Entry && (!e.HandedOver || c.Named.There && !FactsOf(e, &l.Target.Ledger.Runs[e.Run], c.Named, l.queues).Another) {
			return true
		}
	}
	return false
}

func (l *Reader) readRecords(ctx context.Context, cases []Standing) error {
	if l.Src == nil {
		return nil
	}
	var there []*Standing
	var paths []string
	for i := range cases {
		if c := &cases[i]; l.Src.Has(c.Entry.Record) {
			there, paths = append(there, c), append(paths, c.Entry.Record)
		}
	}
	for f, err := range l.Src.Fetch(ctx, slices.Values(paths)) {
		if err != nil {
			return err
		}
		there[0].RecordRead, there[0].Left, there = f, !f.There, there[1:]
	}
	return nil
}

func (l *Reader) readRenames(ctx context.Context, cases []Standing) error {
	for i := range cases {
		c := &cases[i]
		if l.Src == nil || c.Record != Absent || c.HandedOver && !c.Another {
			continue
		}
		if l.renames == nil {
			r, err := findRenames(ctx, l.Target, l.Src)
			if err != nil {
				return err
			}
			l.renames = &r
		}
		if l.IsRenamed(c.Other.Path) {
			c.Other = source.Fetched{}
		}
		if f := l.renames.To(c.Entry.Record); f.There && !c.HandedOver && !c.Elsewhere {
			c.Record, c.RecordRead = Renamed, f
			c.Worked = l.isWorked(c.Record, f)
		}
	}
	return nil
}

// IsRenamed reports whether a record of the legacy queue is a migrated one that was renamed, as [Reader.All] has found out from all
// records that are gone.
func (l *Reader) IsRenamed(record string) bool {
	return l.renames != nil && l.renames.From(record) != ""
}

// readKept reads the kept bytes of records that could come back, or that a backup doesn't know of.
func (l *Reader) readKept(ctx context.Context, cases []Standing) error {
	var kept []*Standing
	var paths []string
	for i := range cases {
		c := &cases[i]
		if c.Kept && (l.ReadJobs || c.Record != Absent) || c.Restored {
			kept, paths = append(kept, c), append(paths, c.Run.KeptPath(c.Entry.Job))
		}
	}
	nodes, err := l.Target.Reader.WithChroot("/").MarkUnreadable().WithACLs().GetAll(ctx, paths)
	if err != nil {
		return err
	}
	for i, c := range kept {
		if len(nodes) > 0 && nodes[0].Path == paths[i] {
			c.KeptNode, nodes = nodes[0], nodes[1:]
		}
		if c.KeptNode.Unreadable != "" {
			return UnreadableKept(c.Entry.Record, c.KeptNode.Path, c.KeptNode.Unreadable)
		}
		want := c.Entry.Hash // a backup doesn't know of it
		if c.HandedOver {
			want = c.Entry.KeptHash
		}
		c.Kept = c.KeptNode.Path != "" && ledger.HashOf(sha256.Sum256(c.KeptNode.Data)) == want
	}
	return nil
}

// Unreadable says that a record could not be read, so that nobody knows whether it has changed.
func Unreadable(record string, read source.Fetched) error {
	return fmt.Errorf("the legacy record %s can't be read: %s; give credentials that can read it, or a dump that was made with them", record, read.Err.Msg)
}

// UnreadableKept says that the kept bytes of a record could not be read, so that nobody knows whether they are the record's.
func UnreadableKept(record, kept, why string) error {
	return fmt.Errorf("the kept bytes of %s can't be read: %s: %s; give credentials that can read them", record, kept, why)
}

// KeptProblem says why a record that was handed over can't be given back: there says whether anything is at its kept path.
func KeptProblem(there bool) string {
	if there {
		return "its kept bytes are not those that were handed over"
	}
	return "its kept bytes are missing"
}

func (l *Reader) readJobs(ctx context.Context, cases []Standing) error {
	var unsure []*Standing
	var entries []*ledger.Migrated
	for i := range cases {
		c := &cases[i]
		if l.ReadJobs || c.HandedOver && c.Record != Absent || !c.HandedOver && c.Record != AsMigrated {
			unsure, entries = append(unsure, c), append(entries, c.Entry)
		} else if c.Job = Begun; !l.Names.Has(c.Entry.Job) {
			c.Job = Gone
		}
	}
	jobs, err := l.Target.Jobs(ctx, entries, l.SearchEverywhere)
	if err != nil {
		return err
	}
	for i, j := range jobs {
		c := unsure[i]
		c.JobRead, c.Facts = j, c.withJob(j, !c.Run.ReleasedAt(c.Queue()).IsZero())
	}
	return nil
}

func (l *Reader) recordFacts(c *Standing) (f Facts) {
	if l.Src == nil {
		f = Facts{Record: AsMigrated, HandedOver: c.Entry.HandedOver, Kept: c.Entry.Kept, Restored: c.Run.Restored}
	} else {
		f = FactsOf(c.Entry, c.Run, c.RecordRead, l.queues)
	}
	f.AlwaysHeld = l.Target.AlwaysHeld(c.Run, c.Queue())
	f.Worked = !f.Another && l.isWorked(f.Record, c.RecordRead)
	return f
}

func (l *Reader) isWorked(is RecordCondition, read source.Fetched) bool {
	if !read.There || read.Err != nil {
		return false
	}
	id, _ := read.Legacy.Payload.Text("jobID")
	return read.Legacy.Header.Status == legacy.Consumed && !l.WorkersStopped && (is != AsMigrated || l.locked[id])
}

// Queue returns the queue of the job.
func (c *Standing) Queue() newqueue.QueueHold { return rules.KindOf(c.Entry.Job).Hold() }

// Note returns what there is to say, and why.
func (c *Standing) Note(why string) migration.Note {
	n := migration.Note{Record: c.Entry.Record, Job: c.Entry.Job, Question: c.Question, Why: cmp.Or(c.Why, why), Queue: c.Queue(), Namesake: c.namesake}
	if !c.JobRead.Gone() {
		n.State, _ = c.JobRead.Status()
	}
	return n
}

// Twice reports whether both queues may have done the work, because somebody lifted a hold by hand: the job was begun before the record
// was handed over, and the record is gone. Nothing is left to decide.
func (c *Standing) Twice() bool {
	return c.Action == Mark && c.Question == "" && c.Job == Begun && !c.HandedOver && !c.Restored
}

// TwiceSays is what there is to know about such a case, in a clause about the record.
const TwiceSays = "its job was begun before it was handed over, and it is gone: both queues may have done its work"

// Lost returns the znodes that the decision removes and that nothing else keeps: those of a job that was the last copy, or
// was begun, or whose record was overwritten, or a record that nobody keeps, or other bytes that were kept.
func (c *Standing) Lost() (nodes []znode.Node) {
	switch {
	case (c.Action == Withdraw || c.Action == GiveBack) && (c.Question != "" || c.Job == Begun || c.overwritten()):
		nodes = c.JobRead.All()
	case c.Action == HandOver && (c.Question == migration.QuestionAgain || c.Kept): // what is kept are other bytes, or the same
		nodes = []znode.Node{{Path: c.Entry.Record, Data: c.RecordRead.Data, Stat: c.RecordRead.Stat, ACL: c.RecordRead.ACL}}
	}
	if c.Action == Withdraw && c.Kept && c.KeptNode.Path != "" && !bytes.Equal(c.KeptNode.Data, c.RecordRead.Data) {
		nodes = append(nodes, c.KeptNode)
	}
	return nodes
}

// overwritten reports whether the work of a record is not in its znode any more: it has no key now, or can't be decoded. A record that had no key
// may have none.
func (c *Standing) overwritten() bool {
	var none migration.Hash
	return c.Record == Changed && keyOf(c.RecordRead) == none && (c.Entry.Key != none || c.RecordRead.Err != nil)
}
