package migrate

import (
	"slices"
	"time"

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
	StepFinishRetire   Step = "finish-retire"   // a retire was interrupted
	StepRestored       Step = "restored"        // the target was restored from a backup: it takes an explicit word to go on
	StepStopLegacy     Step = "stop-legacy"     // a legacy worker works on migrated records, before the release
	StepHold           Step = "hold"            // the same, after it
	StepLookAtTwice    Step = "look-at-twice"   // the same, and the new queues are held
	StepMigrateRest    Step = "migrate-rest"    // records are not migrated
	StepRelease        Step = "release"
	StepAcceptActedOn  Step = "accept-acted-on" // the same, if what was acted on is as it should be
	StepReleaseOthers  Step = "release-others"  // only other owners hold the queues
	StepKept           Step = "kept"            // a rollback kept jobs: their records must not run
	StepPlan           Step = "plan"            // nothing was migrated, or everything was rolled back
	StepDecide         Step = "decide"          // a plan has problems
	StepMigrate        Step = "migrate"         // a plan is ready
	StepVerify         Step = "verify"          // everything is migrated
	StepKeep           Step = "keep"            // the quarantine file lacks the bytes of records
	StepRepairHeld     Step = "repair-held"     // the target does not match the source, and was not released
	StepRepair         Step = "repair"          // the same, after a release
	StepRepairOlder    Step = "repair-older"    // the same, and the newest run is rolled back
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
	{func(s *Status) bool { return s.isIn(ledger.Retiring) }, StepFinishRetire},
	{func(s *Status) bool { return s.twice() && s.isIn(ledger.Done) && !s.released }, StepStopLegacy},
	{func(s *Status) bool { return s.twice() && !s.allHeld }, StepHold},
	{(*Status).twice, StepLookAtTwice},
	{func(s *Status) bool {
		return s.isIn(ledger.Done) && s.legacyHas(func(l LegacyStatus) []string { return slices.Concat(l.Late, l.Missed) })
	}, StepMigrateRest},
	{(*Status).keptRecords, StepKept},
	{func(s *Status) bool { return s.Current() == nil || s.isIn(ledger.RolledBack) }, StepPlan},
	{func(s *Status) bool { return s.Restored && s.held(true) }, StepRestored},
	{func(s *Status) bool { return s.held(true) }, StepRelease},
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

// VerdictStep says what to do after a verification; "" if nothing is left undone.
func VerdictStep(v *Verdict) Step {
	before := v.State == ledger.Done && len(v.Released) == 0
	for _, row := range []struct {
		applies bool
		step    Step
	}{
		{v.Run == "", StepPlan},
		{v.State == ledger.Running, StepFinish},
		{v.State == ledger.RollingBack, StepFinishRollback},
		{v.State == ledger.Retiring, StepFinishRetire},
		{v.Count(verify.NotKept) > 0 && v.Count(verify.NotKept) == len(v.Differences), StepKeep},
		{v.CountGroup(verify.Damage) > 0 && before, StepRepairHeld},
		{v.CountGroup(verify.Damage) > 0 && v.State == ledger.RolledBack, StepRepairOlder},
		{v.CountGroup(verify.Damage) > 0, StepRepair},
		{v.Count(verify.Changed)+v.Count(verify.Vanished) > 0 && before, StepStopLegacy},
		{v.Count(verify.Changed)+len(v.Vanished) > 0 && v.State == ledger.Done && !v.AllHeld, StepHold},
		{v.Count(verify.Changed)+len(v.Vanished) > 0, StepLookAtTwice},
		{v.Count(verify.Restored) > 0, StepRestored},
		{keptRecords(v), StepKept},
		{v.State == ledger.RolledBack, StepPlan},
		{v.Count(verify.Missed)+len(v.Late) > 0, StepMigrateRest},
		{v.Count(verify.ActedOn) > 0, StepAcceptActedOn},
		{len(v.Released) < len(newqueue.QueueHolds), StepRelease},
	} {
		if row.applies {
			return row.step
		}
	}
	return ""
}

// keptRecords reports whether legacy workers may run records whose jobs are the new queue's: every run
// was rolled back, and some records are in the source as they were migrated. Retire removes these.
func keptRecords(v *Verdict) bool {
	return v.AllBack && v.Records.Migrated+v.Records.Removed > v.Count(verify.Changed)+len(v.Notices)
}

// keptRecords is the same. Without a source, only the ledger says that jobs were kept, and their records
// not retired.
func (s *Status) keptRecords() bool {
	if s.Legacy == nil {
		return s.allBack && slices.ContainsFunc(s.Runs, func(r RunStatus) bool { return r.Tracked > r.Retired && !s.retiredSince(r.Finished) })
	}
	return slices.ContainsFunc(s.Legacy, func(l LegacyStatus) bool { return l.Kept > 0 })
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

// UndoStep says what to do after a rollback.
func UndoStep(u *Undo) Step {
	if len(u.Keeps) > 0 || u.keptEarlier {
		return StepKept
	}
	return StepPlan
}

// retiredSince reports whether a retire has ended since. It has named the records that it does not remove.
func (s *Status) retiredSince(since time.Time) bool {
	return slices.ContainsFunc(s.Runs, func(r RunStatus) bool { return !r.Retire.At.IsZero() && !r.Retire.At.Before(since) })
}

// isIn reports whether the current run is in a state.
func (s *Status) isIn(state RunState) bool { return s.Current() != nil && s.Current().State == state }

// legacyHas reports whether any legacy queue has some of these records.
func (s *Status) legacyHas(some func(LegacyStatus) []string) bool {
	return slices.ContainsFunc(s.Legacy, func(l LegacyStatus) bool { return len(some(l)) > 0 })
}

// twice reports whether records could run twice.
func (s *Status) twice() bool {
	return s.legacyHas(func(l LegacyStatus) []string { return l.Twice })
}

// held reports whether there is a hold of a run, or one that no run owns.
func (s *Status) held(byRun bool) bool {
	return slices.ContainsFunc(s.Holds, func(h HoldStatus) bool {
		return byRun == h.OfRun()
	})
}
