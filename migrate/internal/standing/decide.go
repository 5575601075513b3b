package standing

import "mrtq/migrate/migration"

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

// Decision is what becomes of a record and its job.
type Decision struct {
	Action Action
	// Question is set if somebody must decide, or has decided.
	Question migration.Question
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
	asks migration.Question
	done Action
}

// release says what a release does (docs/life.md, "The release").
var release = map[cell]row{
	{AsMigrated, NotBegun}: {do: HandOver},
	{AsMigrated, Begun}:    {do: HandOver},
	{AsMigrated, Gone}:     {asks: migration.QuestionJobGone, done: HandOver},
	{Changed, NotBegun}:    {do: Withdraw},
	{Changed, Begun}:       {asks: migration.QuestionBoth},
	{Changed, Gone}:        {asks: migration.QuestionBoth},
	{Absent, NotBegun}:     {asks: migration.QuestionVanished, done: Mark},
	{Absent, Begun}:        {do: Mark},
	{Absent, Gone}:         {do: Mark},
}

// back says what a rollback does with a record that was not handed over (docs/life.md, "The way back").
var back = map[cell]row{
	{AsMigrated, NotBegun}: {do: Withdraw},
	{AsMigrated, Begun}:    {do: HandOver},
	{AsMigrated, Gone}:     {asks: migration.QuestionJobGone, done: Withdraw},
	{Changed, NotBegun}:    {do: Withdraw},
	{Changed, Begun}:       {asks: migration.QuestionBoth},
	{Changed, Gone}:        {asks: migration.QuestionBoth},
	{Absent, NotBegun}:     {asks: migration.QuestionVanished, done: Withdraw},
	{Absent, Begun}:        {do: Mark},
	{Absent, Gone}:         {do: Withdraw},
}

// DecideRelease decides what a release does with a record and its job.
func DecideRelease(f Facts, a migration.Answer) Decision {
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
		return decided(migration.QuestionAgain, f, a)
	}
	if f.Record == AsMigrated && f.Worked && f.Job != Gone {
		return Decision{Action: Wait}
	}
	return release[cell{f.Record, f.Job}].decide(f, a)
}

// DecideRollback decides what a rollback does with a record and its job. If force is set, jobs that were begun go back too,
// unless a session has locked them.
func DecideRollback(f Facts, a migration.Answer, force bool) Decision {
	if f.Record == Renamed {
		f.Record = Changed
	}
	if f.Job == Begun && force && !f.Locked && (f.Record == AsMigrated || f.Kept) {
		f.Job = NotBegun
	}
	if f.HandedOver {
		switch back := f.Job == NotBegun && f.Record != Changed; {
		case back && f.Kept && !f.Another:
			return Decision{Action: GiveBack}
		case back && f.Record == AsMigrated: // somebody else has given it back
			return Decision{Action: Withdraw}
		case f.Record == Absent:
			return Decision{Action: Stay}
		}
		return decided(migration.QuestionAgain, f, a)
	}
	if f.Record == AsMigrated && f.Worked && f.Job == Begun { // it was consumed when it was migrated, and its worker still has it
		return decided(migration.QuestionBoth, f, a)
	}
	return back[cell{f.Record, f.Job}].decide(f, a)
}

func (r row) decide(f Facts, a migration.Answer) Decision {
	switch {
	case f.Elsewhere && f.Job != Gone: // whoever finished it
		return decided(migration.QuestionTaken, f, a)
	case f.Finished && r.done != "":
		return Decision{Action: r.done}
	case f.Record == Changed && f.Job == Gone && f.AlwaysHeld: // an administrator deleted the job, which nobody had begun
		return Decision{Action: Withdraw}
	case r.asks == migration.QuestionVanished && f.Restored && f.Kept: // it was handed over since the backup was made
		return Decision{Action: Mark}
	case r.asks != "":
		return decided(r.asks, f, a)
	}
	return Decision{Action: r.do}
}

// decided is what an answer to a question does. The side that loses must not be at work.
func decided(q migration.Question, f Facts, a migration.Answer) Decision {
	d := Decision{Action: Ask, Question: q}
	switch a {
	case migration.AnswerNew:
		if q == migration.QuestionTaken {
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
	case migration.AnswerLegacy:
		if f.Locked {
			d.Why = "a worker has locked the job"
			return d
		}
		d.Action = Withdraw
	}
	return d
}
