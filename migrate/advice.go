package migrate

import (
	"slices"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/verify"
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
	rolledBack := s.isIn(ledger.RolledBack)
	return steps{
		{s.Migrators > 0, StepWait},
		{s.Damage != "", StepRestoreLedger},
		{s.NoQueue != nil && len(s.NoQueue.Legacy) > 0, StepLegacyQueue},
		{s.NoQueue != nil, StepNoQueue},
		{s.isIn(ledger.Running), StepFinish},
		{s.isIn(ledger.RollingBack), StepFinishRollback},
		{s.Restored && (s.undecided() || !rolledBack), StepRestored}, // no answer is taken before
		{s.undecided(), StepDecideRecords},
		{s.Uncompleted > 0 && !s.Restored && !s.held(true) && s.Due == 0, StepComplete},
		{s.isIn(ledger.Done) && rest, StepMigrateRest},
		{s.Current() == nil || rolledBack && (rest || !s.held(true)), StepPlan},
		{s.Restored, StepRestored},
		{s.held(true) || s.Due > 0, StepRelease},
		{s.held(false), StepReleaseOthers},
	}.first()
}

// VerdictStep says what to do first after a verification; "" if nothing is left undone.
func VerdictStep(v *Verdict) NextStep {
	damaged := v.CountGroup(verify.DamageGroup) > v.Count(verify.NotKept)
	return steps{
		{v.Run == "", StepPlan},
		{v.State == ledger.Running, StepFinish},
		{v.State == ledger.RollingBack, StepFinishRollback},
		{damaged && v.State == ledger.RolledBack, StepRepairOlder},
		{damaged && v.State == ledger.Done && len(v.Released) == 0, StepRepairHeld},
		{damaged, StepRepair},
		{v.Count(verify.NotKept) > 0, StepKeep},
		{v.Count(verify.Restored) > 0, StepRestored},
		{v.CountGroup(verify.UndecidedGroup) > 0, StepDecideRecords},
		{v.State == ledger.RolledBack, StepPlan},
		{v.Uncompleted > 0 && v.Due == 0 && len(v.Released) == len(newqueue.QueueHolds), StepComplete},
		{len(v.NotMigrated) > 0, StepMigrateRest},
		{v.Count(verify.ActedOn) > 0, StepLookFirst},
		{len(v.Released) < len(newqueue.QueueHolds) || v.Due > 0, StepRelease},
	}.first()
}

// PlanStep says what to do with a plan; "" if there is nothing to do.
func PlanStep(p *Plan) NextStep {
	return steps{
		{p.Blocked(), StepDecide},
		{!p.Empty(), StepMigrate},
		{p.Previous != nil && p.Previous.State == ledger.Done, StepVerify},
	}.first()
}

func (s *Status) isIn(state RunState) bool { return s.Current() != nil && s.Current().State == state }

func (s *Status) legacyHas(is func(LegacyStatus) bool) bool { return slices.ContainsFunc(s.Legacy, is) }

func (s *Status) undecided() bool {
	return s.legacyHas(func(l LegacyStatus) bool { return len(l.Undecided) > 0 })
}

func (s *Status) held(byRun bool) bool {
	return slices.ContainsFunc(s.Holds, func(h HoldStatus) bool {
		return byRun == h.OfRun()
	})
}
