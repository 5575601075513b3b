package migrate

import (
	"slices"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// Step is what to do next.
type Step string

// The steps.
const (
	StepWait           Step = "wait"            // a migration is running
	StepRestoreLedger  Step = "restore-ledger"  // the migration's own records are damaged
	StepNoQueue        Step = "no-queue"        // there is no new queue at the address
	StepLegacyQueue    Step = "legacy-queue"    // the address is that of a legacy queue
	StepFinish         Step = "finish"          // a run was interrupted
	StepFinishRollback Step = "finish-rollback" // a rollback was interrupted
	StepRestored       Step = "restored"        // the target was restored from a backup: it takes an explicit word to go on
	StepDecideRecords  Step = "decide-records"  // somebody must decide which queue has the work of records
	StepMigrateRest    Step = "migrate-rest"    // records are not migrated
	StepRelease        Step = "release"
	StepLookFirst      Step = "look-first"     // the same, if what was acted on is as it should be
	StepAwaitLegacy    Step = "await-legacy"   // the same, when no legacy worker is at work any more
	StepReleaseOthers  Step = "release-others" // only other owners hold the queues
	StepPlan           Step = "plan"           // nothing was migrated, or everything was rolled back
	StepDecide         Step = "decide"         // a plan has problems
	StepMigrate        Step = "migrate"        // a plan is ready
	StepVerify         Step = "verify"         // everything is migrated
	StepKeep           Step = "keep"           // the quarantine file lacks the bytes of records
	StepRepairHeld     Step = "repair-held"    // the target does not match the source, and was not released
	StepRepair         Step = "repair"         // the same, after a release
	StepRepairOlder    Step = "repair-older"   // the same, and the newest run is rolled back
)

// advice is what to do in each situation. The first row that applies counts.
var advice = []struct {
	applies func(*Status) bool
	step    Step
}{
	{func(s *Status) bool { return s.AtWork > 0 }, StepWait},
	{func(s *Status) bool { return s.Damage != "" }, StepRestoreLedger},
	{func(s *Status) bool { return s.NoQueue != nil && len(s.NoQueue.Legacy) > 0 }, StepLegacyQueue},
	{func(s *Status) bool { return s.NoQueue != nil }, StepNoQueue},
	{func(s *Status) bool { return s.isIn(ledger.Running) }, StepFinish},
	{func(s *Status) bool { return s.isIn(ledger.RollingBack) }, StepFinishRollback},
	{func(s *Status) bool {
		return s.legacyHas(func(l LegacyStatus) bool { return len(l.Undecided) > 0 })
	}, StepDecideRecords},
	{func(s *Status) bool {
		return s.isIn(ledger.Done) && s.legacyHas(func(l LegacyStatus) bool { return len(l.NotMigrated) > 0 })
	}, StepMigrateRest},
	{func(s *Status) bool {
		rest := s.legacyHas(func(l LegacyStatus) bool { return len(l.NotMigrated) > 0 })
		return s.Current() == nil || s.isIn(ledger.RolledBack) && (rest || !s.held(true))
	}, StepPlan},
	{func(s *Status) bool { return s.Restored && s.held(true) }, StepRestored},
	{func(s *Status) bool { return s.held(true) || s.due }, StepRelease},
	{func(s *Status) bool { return s.held(false) }, StepReleaseOthers},
}

// advise says what to do next; "" if nothing is left undone.
func advise(s *Status) Step {
	for _, row := range advice {
		if row.applies(s) {
			return row.step
		}
	}
	return ""
}

// VerdictStep says what to do first after a verification; "" if nothing is left undone.
func VerdictStep(v *Verdict) Step {
	damaged := v.CountGroup(verify.Damage) > v.Count(verify.NotKept)
	for _, row := range []struct {
		applies bool
		step    Step
	}{
		{v.Run == "", StepPlan},
		{v.State == ledger.Running, StepFinish},
		{v.State == ledger.RollingBack, StepFinishRollback},
		{damaged && v.State == ledger.RolledBack, StepRepairOlder},
		{damaged && v.State == ledger.Done && len(v.Released) == 0, StepRepairHeld},
		{damaged, StepRepair},
		{v.Count(verify.NotKept) > 0, StepKeep},
		{v.CountGroup(verify.UndecidedIn) > 0, StepDecideRecords},
		{v.Count(verify.Restored) > 0, StepRestored},
		{v.State == ledger.RolledBack, StepPlan},
		{len(v.NotMigrated) > 0, StepMigrateRest},
		{v.Count(verify.ActedOn) > 0, StepLookFirst},
		{len(v.Released) < len(newqueue.QueueHolds) || v.Due > 0, StepRelease},
	} {
		if row.applies {
			return row.step
		}
	}
	return ""
}

// PlanStep says what to do with a plan; "" if there is nothing to do.
func PlanStep(p *Plan) Step {
	switch {
	case p.Blocked():
		return StepDecide
	case !p.Empty():
		return StepMigrate
	case p.Previous != nil && p.Previous.State == ledger.Done:
		return StepVerify
	}
	return ""
}

// isIn reports whether the current run is in a state.
func (s *Status) isIn(state RunState) bool { return s.Current() != nil && s.Current().State == state }

// legacyHas reports whether any legacy queue is so.
func (s *Status) legacyHas(is func(LegacyStatus) bool) bool { return slices.ContainsFunc(s.Legacy, is) }

// held reports whether there is a hold of a run, or one that no run owns.
func (s *Status) held(byRun bool) bool {
	return slices.ContainsFunc(s.Holds, func(h HoldStatus) bool {
		return byRun == h.OfRun()
	})
}
