package advice

import (
	"errors"
	"slices"
	"strings"

	"mrtq/migrate"
)

// refusal is what to do if package migrate refuses something.
type refusal struct {
	is      error
	words   string
	command func(Adviser, Situation) string // nil if words are enough
}

// refusals has the way out of each refusal. The first row that applies to a reason counts.
var refusals = []refusal{
	{migrate.ErrDamaged, "Next:", Adviser.restoreLedger},
	{migrate.ErrRestored, "Next, if that is acceptable:", func(a Adviser, _ Situation) string { return a.Again(Switch("restored")) }},
	{migrate.ErrTwoEnsembles, "", Adviser.twoEnsembles},
	{migrate.ErrQueueGone, "Then:", func(a Adviser, _ Situation) string { return a.Again() }},
	{migrate.ErrOtherSource, "", Adviser.otherSource},
	{migrate.ErrNoRight, "Give credentials that may, with --auth-file, or change that ACL. Then run the same command again.", nil},
	{migrate.ErrNotReleased, "Next:", Adviser.release},
	{migrate.ErrCompleted, "The jobs stay.", nil},
	{migrate.ErrHoldsChanged, "Next, to look again:", func(a Adviser, _ Situation) string { return a.Again() }},
	{migrate.ErrContended, "The same command continues when there is less traffic.", nil},
	{migrate.ErrTakenOver, "Next, to see what the other one does:", Adviser.status},
	{migrate.ErrRolledBack, "Next, if you want to migrate again:", Adviser.PlanAgain},
	{migrate.ErrFinished, "Next, if you want that, look at the plan:", Adviser.PlanAgain},
	{migrate.ErrStale, "Next, for a new plan:", Adviser.PlanAgain},
	{migrate.ErrNoRun, "Next, to see the runs:", Adviser.status},
	{migrate.ErrNotNewest, "Next, to see the runs:", Adviser.status},
}

// WayOut says what to do about an error of package migrate, for each of its reasons; "" if the error says so
// itself.
func (a Adviser) WayOut(err error, s Situation) string {
	why := migrate.Reasons{err}
	errors.As(err, &why)
	var ways []string
	for _, reason := range why {
		if way := a.wayOut(reason, s); way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	return strings.Join(ways, " ")
}

func (a Adviser) wayOut(reason error, s Situation) string {
	for _, r := range refusals {
		switch {
		case !errors.Is(reason, r.is):
		case r.command == nil:
			return r.words
		default:
			return strings.TrimSpace(r.words + " " + r.command(a, s))
		}
	}
	return ""
}

func (a Adviser) status(s Situation) string { return a.Command("status", []string{s.Target}) }

// twoEnsembles is what to do if the queues are in two ensembles. verify and migrate only need the source.
func (a Adviser) twoEnsembles(s Situation) string {
	switch a.Name {
	case "verify":
		return "Next: " + a.verify(s)
	case "migrate":
		return a.Next(migrate.StepFinish, s)
	}
	return a.Next(migrate.StepRelease, s)
}

// otherSource is what to do if a queue node is not the one that was migrated, so that its records seem to have vanished.
func (a Adviser) otherSource(Situation) string {
	if a.Name == "migrate" {
		return "Give the source of that run, or roll it back first."
	}
	is := func(side string) string { return a.again(a.Name, Set("vanished", side)...) }
	return "If legacy workers have done the work of its records: " + is("legacy") + ". If the jobs have it: " + is("new")
}
