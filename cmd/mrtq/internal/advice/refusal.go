package advice

import (
	"errors"

	"mrtq/migrate"
)

// refusals has the way out of each refusal. The first row that applies to a reason counts.
var refusals = []struct {
	is   error
	next func(Adviser, Situation) Next
}{
	{migrate.ErrNoQueue, words("check the address and its chroot")},
	{migrate.ErrDamaged, func(a Adviser, s Situation) Next { return a.Next(migrate.StepRestoreLedger, s) }},
	{migrate.ErrRestored, row("accept that jobs that finished after the backup was made will run again", func(a Adviser, _ Situation) string { return a.Again(Switch("restored")) })},
	{migrate.ErrTwoEnsembles, Adviser.twoEnsembles},
	{migrate.ErrQueueGone, row("create the missing queue node", same)},
	{migrate.ErrOtherSource, Adviser.otherSource},
	{migrate.ErrNoPermission, row("give credentials that have this permission, with --auth-file, or change that ACL", same)},
	{migrate.ErrFollowed, words("end it when nothing arrives any more")},
	{migrate.ErrNotReleased, row("", Adviser.release)},
	{migrate.ErrHoldsChanged, row("", same)},
	{migrate.ErrSessionLost, row("make sure that a server can be reached", same)},
	{migrate.ErrContended, row("wait until there is less traffic", same)},
	{migrate.ErrRefused, row("", same)},
	{migrate.ErrTakenOver, row("", Adviser.status)},
	{migrate.ErrRolledBack, row("decide whether you want to migrate again", Adviser.PlanAgain)},
	{migrate.ErrStale, row("find out who changed the queue", Adviser.PlanAgain)},
	{migrate.ErrNoRun, row("", Adviser.status)},
}

// WayOut returns what to do about an error of package migrate: about the first of its reasons that
// does not say so itself.
func (a Adviser) WayOut(err error, s Situation) Next {
	why := migrate.Reasons{err}
	errors.As(err, &why)
	for _, reason := range why {
		for _, r := range refusals {
			if errors.Is(reason, r.is) {
				return r.next(a, s)
			}
		}
	}
	return Next{}
}

func same(a Adviser, _ Situation) string { return a.Again() }

func (a Adviser) status(s Situation) string { return a.Command("status", []string{s.Target}) }

// twoEnsembles is what to do if the queues are in two ensembles. verify and migrate only need the source.
func (a Adviser) twoEnsembles(s Situation) Next {
	switch a.Name {
	case "verify":
		return a.Next(migrate.StepVerify, s)
	case "migrate":
		return a.Next(migrate.StepFinish, s)
	}
	return a.Next(migrate.StepRelease, s)
}

// otherSource is what to do if a queue node is not the one that was migrated, so that its records seem to have vanished.
func (a Adviser) otherSource(Situation) Next {
	if a.Name == "migrate" {
		return Next{First: "give the source of that run, or roll it back first"}
	}
	is := func(side string) string { return a.rerun(a.Name, Set("vanished", side)...) }
	return Next{Ways: []Way{{"If legacy workers have done the work of its records", is("legacy")}, {"If the jobs have it", is("new")}}}
}
