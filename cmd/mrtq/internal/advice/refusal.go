package advice

import (
	"errors"

	"mrtq/migrate"
)

// refusal is what to do if package migrate refuses something.
type refusal struct {
	is      error
	words   string
	command func(Adviser, Situation) string // nil if words are enough
}

// refusals has the way out of each refusal. The first row that applies counts.
var refusals = []refusal{
	{migrate.ErrDamaged, "Next:", Adviser.restoreLedger},
	{migrate.ErrRestored, "Next, if that is acceptable:", func(a Adviser, _ Situation) string { return a.Again(Switch("restored")) }},
	{migrate.ErrNotKept, "Next:", func(a Adviser, s Situation) string {
		s.Quarantined = true
		return a.Again(s.quarantine()...)
	}},
	{migrate.ErrNotRetired, "Next, to remove these records from the legacy queue:", Adviser.retire},
	{migrate.ErrHoldsChanged, "Next, to look again:", func(a Adviser, _ Situation) string { return a.Again() }},
	{migrate.ErrContended, "The same command continues when there is less traffic.", nil},
	{migrate.ErrTakenOver, "Next, to see what the other one does:", Adviser.status},
	{migrate.ErrRolledBack, "Next, if you want to migrate again:", Adviser.PlanAgain},
	{migrate.ErrFinished, "Next, if you want that, look at the plan:", Adviser.PlanAgain},
	{migrate.ErrStale, "Next, for a new plan:", Adviser.PlanAgain},
	{migrate.ErrRetiring, "Next, to finish that:", Adviser.retire},
	{migrate.ErrNotReleased, "Next, to verify and release:", Adviser.release},
	{migrate.ErrOtherSource, "Name all queues of the source, as migrate was given them, or give the right SOURCE.", nil},
	{migrate.ErrNoRun, "Next, to see the runs:", Adviser.status},
	{migrate.ErrNotNewest, "Next, to see the runs:", Adviser.status},
}

// WayOut says what to do about an error of package migrate; "" if the error says so
// itself.
func (a Adviser) WayOut(err error, s Situation) string {
	for _, r := range refusals {
		switch {
		case !errors.Is(err, r.is):
		case r.command == nil:
			return r.words
		default:
			return r.words + " " + r.command(a, s)
		}
	}
	return ""
}

func (a Adviser) status(s Situation) string { return a.Command("status", []string{s.Target}) }
