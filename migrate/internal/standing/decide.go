package standing

// Action is what is to be done.
type Action string

// The acts.
const (
	Nothing  Action = ""
	HandOver Action = "hand-over" // the record leaves the legacy queue, and the job has the work
	Mark     Action = "mark"      // the same, and there is no record any more
	Withdraw Action = "withdraw"  // the job goes, and the record has the work
	GiveBack Action = "give-back" // the job goes, and the record comes back
	Stay     Action = "stay"      // the job stays, as the only copy
	Wait     Action = "wait"      // until the legacy worker is done
	Ask      Action = "ask"       // somebody must decide
)

// Question is what somebody must decide about a record.
type Question string

// The questions.
const (
	JobGone  Question = "job-gone" // the record is as it was, and its job is not there
	Both     Question = "both"     // both sides acted
	Vanished Question = "vanished" // the record is not there, and nobody has begun its job
	Again    Question = "again"    // the record was handed over, and is in the legacy queue again
	Taken    Question = "taken"    // another target's release has handed the record over
)

// Says returns what the question is about, in a clause about the record; "" if it is no question.
func (q Question) Says() string {
	return map[Question]string{
		JobGone:  "it is as it was migrated, and its job was removed: an administrator deleted it, or a worker finished it",
		Both:     "it has changed since it was migrated, and its job was begun: both queues have begun its work",
		Vanished: "it is not in the legacy queue any more, and nobody has begun its job: a legacy worker has done its work, or somebody deleted or renamed it",
		Again:    "it was handed over, and is in the legacy queue again",
		Taken:    "another target was released first and has its work; its folder in mrtq-handed-over names it",
	}[q]
}

// Answer is what somebody decided about a record.
type Answer string

// The answers.
const (
	Undecided    Answer = ""
	AnswerNew    Answer = "new"    // the job has the work
	AnswerLegacy Answer = "legacy" // the legacy queue has it, or has done it
)

// Answers are all answers, but [Undecided].
var Answers = []Answer{AnswerNew, AnswerLegacy}

// Decision is what becomes of a record and its job.
type Decision struct {
	Action Action
	// Question is set if somebody must decide, or has decided.
	Question Question
	// Why says why an answer can't be carried out yet; "" if it can.
	Why string
}

type cell struct {
	record RecordCondition
	job    JobCondition
}

// row is what a table says of a cell. If the record was finished, done counts instead, if it is set.
type row struct {
	do   Action
	asks Question
	done Action
}

// release says what a release does (docs/life.md, "The release").
var release = map[cell]row{
	{AsMigrated, NotBegun}: {do: HandOver},
	{AsMigrated, Begun}:    {do: HandOver},
	{AsMigrated, Gone}:     {asks: JobGone, done: HandOver},
	{Changed, NotBegun}:    {do: Withdraw},
	{Changed, Begun}:       {asks: Both},
	{Changed, Gone}:        {asks: Both},
	{Absent, NotBegun}:     {asks: Vanished, done: Mark},
	{Absent, Begun}:        {do: Mark},
	{Absent, Gone}:         {do: Mark},
}

// back says what a rollback does with a record that was not handed over (docs/life.md, "The way back").
var back = map[cell]row{
	{AsMigrated, NotBegun}: {do: Withdraw},
	{AsMigrated, Begun}:    {do: HandOver},
	{AsMigrated, Gone}:     {asks: JobGone, done: Withdraw},
	{Changed, NotBegun}:    {do: Withdraw},
	{Changed, Begun}:       {asks: Both},
	{Changed, Gone}:        {asks: Both},
	{Absent, NotBegun}:     {asks: Vanished, done: Withdraw},
	{Absent, Begun}:        {do: Mark},
	{Absent, Gone}:         {do: Withdraw},
}

// DecideRelease decides what a release does with a record and its job.
func DecideRelease(f Facts, a Answer) Decision {
	switch f.Record {
	case Unknown:
		return Decision{}
	case Renamed:
		f.Record = Changed
	}
	if f.HandedOver {
		if f.Record == Absent {
			return Decision{}
		}
		return decided(Again, f, a)
	}
	if f.Record == AsMigrated && f.Worked && f.Job != Gone {
		return Decision{Action: Wait}
	}
	return release[cell{f.Record, f.Job}].decide(f, a)
}

// DecideRollback decides what a rollback does with a record and its job. If force is set, jobs that were begun go back too,
// unless a session has locked them.
func DecideRollback(f Facts, a Answer, force bool) Decision {
	if f.Record == Renamed {
		f.Record = Changed
	}
	if f.Job == Begun && force && !f.Locked && (f.Record == AsMigrated || f.Kept) {
		f.Job = NotBegun
	}
	if f.HandedOver {
		switch back := f.Job == NotBegun && f.Record != Changed; {
		case back && f.Kept:
			return Decision{Action: GiveBack}
		case back && f.Record == AsMigrated: // somebody else has given it back
			return Decision{Action: Withdraw}
		case f.Record == Absent:
			return Decision{Action: Stay}
		}
		return decided(Again, f, a)
	}
	if f.Record == AsMigrated && f.Worked && f.Job == Begun { // it was consumed when it was migrated, and its worker still has it
		return decided(Both, f, a)
	}
	return back[cell{f.Record, f.Job}].decide(f, a)
}

func (r row) decide(f Facts, a Answer) Decision {
	switch {
	case f.Elsewhere && f.Job != Gone: // whoever finished it
		return decided(Taken, f, a)
	case f.Finished && r.done != "":
		return Decision{Action: r.done}
	case f.Record == Changed && f.Job == Gone && f.AlwaysHeld: // an administrator deleted the job, which nobody had begun
		return Decision{Action: Withdraw}
	case r.asks == Vanished && f.Restored && f.Kept: // it was handed over since the backup was made
		return Decision{Action: Mark}
	case r.asks != "":
		return decided(r.asks, f, a)
	}
	return Decision{Action: r.do}
}

// decided is what an answer to a question does. The side that loses must not be at work.
func decided(q Question, f Facts, a Answer) Decision {
	d := Decision{Action: Ask, Question: q}
	switch a {
	case AnswerNew:
		if q == Taken {
			d.Why = "roll the other target back first; if that was deleted, delete its folder"
			return d
		}
		if f.Worked && f.Record != Absent {
			d.Why = "a legacy worker has the record"
			return d
		}
		if d.Action = HandOver; f.Record == Absent {
			d.Action = Mark
		}
	case AnswerLegacy:
		if f.Locked {
			d.Why = "a worker has locked the job"
			return d
		}
		d.Action = Withdraw
	}
	return d
}
