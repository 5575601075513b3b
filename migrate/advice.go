package migrate

import (
	"slices"

	"mrtq/migrate/migration"
)

// NextStep is what to do next.
type NextStep string

// The steps.
const (
	StepWait           NextStep = "wait"            // a migration is running
	StepRestoreLedger  NextStep = "restore-ledger"  // the migration's own records are damaged
	StepNoQueue        NextStep = "no-queue"        // there is no new queue at the address
	StepLegacyQueue    NextStep = "legacy-queue"    // the address is that of a legacy queue
	StepFinish         NextStep = "finish"          // a run was interrupted
	StepFinishRollback NextStep = "finish-rollback" // a rollback was interrupted
	StepRestored       NextStep = "restored"        // the target was restored from a backup: it takes an explicit word to go on
	StepDecideRecords  NextStep = "decide-records"  // somebody must decide which queue has the work of records
	StepFollow         NextStep = "follow"          // records are not migrated, and their queue is released
	StepRelease        NextStep = "release"
	StepLookFirst      NextStep = "look-first"     // the same, if what was acted on is as it should be
	StepAwaitLegacy    NextStep = "await-legacy"   // the same, when no legacy worker is at work any more
	StepComplete       NextStep = "complete"       // a completion was interrupted
	StepReleaseOthers  NextStep = "release-others" // only other owners hold the queues
	StepPlan           NextStep = "plan"           // nothing was migrated, or everything was rolled back
	StepDecide         NextStep = "decide"         // a plan has problems
	StepMigrate        NextStep = "migrate"        // a plan is ready
	StepVerify         NextStep = "verify"         // everything is migrated
	StepKeep           NextStep = "keep"           // the quarantine file lacks the bytes of records
	StepRepairHeld     NextStep = "repair-held"    // the target does not match the source, and was not released
	StepRepair         NextStep = "repair"         // the same, after a release
	StepRepairKept     NextStep = "repair-kept"    // the same, and the newest run is rolled back
)

// steps are what to do in each situation. The first row that applies counts.
type steps []struct {
	applies bool
	step    NextStep
}

func (rows steps) first() NextStep {
	for _, row := range rows {
		if row.applies {
			return row.step
		}
	}
	return ""
}

// advise says what to do first, as status sees it; "" if nothing is left undone.
func advise(s *Status) NextStep {
	l := left{restored: s.Restored, undecided: len(s.Undecided()) > 0, uncompleted: s.Uncompleted > 0, due: s.Due > 0, holds: s.Holds,
		rest:   slices.ContainsFunc(s.Legacy, func(l LegacyStatus) bool { return len(l.NotMigrated) > 0 }),
		blocks: slices.ContainsFunc(s.Legacy, func(l LegacyStatus) bool { return l.blocksLate }), followed: s.Followers > 0}
	if run := s.Current(); run != nil {
		l.state = run.State
	}
	return append(steps{
		{s.Migrators > 0, StepWait},
		{s.Damage != "", StepRestoreLedger},
		{s.NoQueue != nil && len(s.NoQueue.Legacy) > 0, StepLegacyQueue},
		{s.NoQueue != nil, StepNoQueue},
		{l.state == migration.RunRunning, StepFinish},
		{l.state == migration.RunRollingBack, StepFinishRollback},
	}, l.steps()...).first()
}

// VerdictStep says what to do first after a verification; "" if nothing is left undone.
func VerdictStep(v *migration.Verdict) NextStep {
	damaged := v.CountGroup(migration.DamageGroup) > v.Count(migration.DifferenceNotKept)
	l := left{state: v.State, restored: v.Count(migration.DifferenceRestored) > 0, undecided: v.CountGroup(migration.UndecidedGroup) > 0, uncompleted: v.Uncompleted > 0,
		due: v.Due > 0, holds: v.Holds, rest: len(v.NotMigrated) > 0, blocks: v.BlocksLate, actedOn: v.Count(migration.DifferenceActedOn) > 0}
	return append(steps{
		{v.Run == "", StepPlan},
		{v.State == migration.RunRunning, StepFinish},
		{v.State == migration.RunRollingBack, StepFinishRollback},
		{damaged && v.State == migration.RunRolledBack, StepRepairKept},
		{damaged && v.State == migration.RunDone && len(v.Released) == 0, StepRepairHeld},
		{damaged, StepRepair},
		{v.Count(migration.DifferenceNotKept) > 0, StepKeep},
	}, l.steps()...).first()
}

// left is what is left to do if no run is unfinished and nothing is damaged. status and verify advise the same about it.
type left struct {
	state               migration.RunState // of the newest run; "" if there is none
	restored, undecided bool
	uncompleted, due    bool
	rest                bool // records are not migrated
	followed            bool // somebody moves them
	blocks              bool // they can't be, before a release
	actedOn             bool // jobs of held queues, as verify knows
	holds               []migration.Hold
}

func (l left) steps() steps {
	rolledBack, held := l.state == migration.RunRolledBack, l.held(true)
	return steps{
		{l.restored, StepRestored}, // no answer is taken before
		{l.undecided, StepDecideRecords},
		{l.uncompleted && !held && !l.due, StepComplete},
		{l.state == "" || rolledBack && (l.rest || !held) && !l.blocks, StepPlan},
		{l.actedOn, StepLookFirst},
		{held || l.due, StepRelease},
		{l.state == migration.RunDone && l.rest && !l.blocks && !l.followed, StepFollow},
		{l.held(false), StepReleaseOthers},
	}
}

func (l left) held(byRun bool) bool {
	return slices.ContainsFunc(l.holds, func(h migration.Hold) bool { return byRun == h.OfRun() })
}

// PlanStep says what to do with a plan; "" if there is nothing to do.
func PlanStep(p *migration.Plan) NextStep {
	return steps{
		{p.Blocked(), StepDecide},
		{!p.Empty(), StepMigrate},
		{p.Previous != nil && p.Previous.State == migration.RunDone, StepVerify},
	}.first()
}
