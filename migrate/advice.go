package migrate

import (
	"slices"

	"mrtq/migration"
	"mrtq/newqueue"
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
	StepMigrateRest    NextStep = "migrate-rest"    // records are not migrated
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
	StepRepairOlder    NextStep = "repair-older"   // the same, and the newest run is rolled back
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

func advise(s *Status) NextStep {
	rest := s.legacyHas(func(l LegacyStatus) bool { return len(l.NotMigrated) > 0 })
	rolledBack := s.isIn(migration.RunRolledBack)
	return steps{
		{s.Migrators > 0, StepWait},
		{s.Damage != "", StepRestoreLedger},
		{s.NoQueue != nil && len(s.NoQueue.Legacy) > 0, StepLegacyQueue},
		{s.NoQueue != nil, StepNoQueue},
		{s.isIn(migration.RunRunning), StepFinish},
		{s.isIn(migration.RunRollingBack), StepFinishRollback},
		{s.Restored && (s.undecided() || !rolledBack), StepRestored}, // no answer is taken before
		{s.undecided(), StepDecideRecords},
		{s.Uncompleted > 0 && !s.Restored && !s.held(true) && s.Due == 0, StepComplete},
		{s.isIn(migration.RunDone) && rest, StepMigrateRest},
		{s.Current() == nil || rolledBack && (rest || !s.held(true)), StepPlan},
		{s.Restored, StepRestored},
		{s.held(true) || s.Due > 0, StepRelease},
		{s.held(false), StepReleaseOthers},
	}.first()
}

// VerdictStep says what to do first after a verification; "" if nothing is left undone.
func VerdictStep(v *migration.Verdict) NextStep {
	damaged := v.CountGroup(migration.DamageGroup) > v.Count(migration.DifferenceNotKept)
	return steps{
		{v.Run == "", StepPlan},
		{v.State == migration.RunRunning, StepFinish},
		{v.State == migration.RunRollingBack, StepFinishRollback},
		{damaged && v.State == migration.RunRolledBack, StepRepairOlder},
		{damaged && v.State == migration.RunDone && len(v.Released) == 0, StepRepairHeld},
		{damaged, StepRepair},
		{v.Count(migration.DifferenceNotKept) > 0, StepKeep},
		{v.Count(migration.DifferenceRestored) > 0, StepRestored},
		{v.CountGroup(migration.UndecidedGroup) > 0, StepDecideRecords},
		{v.State == migration.RunRolledBack, StepPlan},
		{v.Uncompleted > 0 && v.Due == 0 && len(v.Released) == len(newqueue.QueueHolds), StepComplete},
		{len(v.NotMigrated) > 0, StepMigrateRest},
		{v.Count(migration.DifferenceActedOn) > 0, StepLookFirst},
		{len(v.Released) < len(newqueue.QueueHolds) || v.Due > 0, StepRelease},
	}.first()
}

// PlanStep says what to do with a plan; "" if there is nothing to do.
func PlanStep(p *migration.Plan) NextStep {
	return steps{
		{p.Blocked(), StepDecide},
		{!p.Empty(), StepMigrate},
		{p.Previous != nil && p.Previous.State == migration.RunDone, StepVerify},
	}.first()
}

func (s *Status) isIn(state migration.RunState) bool {
	return s.Current() != nil && s.Current().State == state
}

func (s *Status) legacyHas(is func(LegacyStatus) bool) bool { return slices.ContainsFunc(s.Legacy, is) }

func (s *Status) undecided() bool {
	return s.legacyHas(func(l LegacyStatus) bool { return len(l.Undecided) > 0 })
}

func (s *Status) held(byRun bool) bool {
	return slices.ContainsFunc(s.Holds, func(h migration.Hold) bool {
		return byRun == h.OfRun()
	})
}
