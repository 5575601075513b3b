package migrate

import (
	"slices"

	"mrtq/migrate/internal/ledger"
)

// Step is what to do next.
type Step string

// The steps.
const (
	StepWait           Step = "wait"            // a migration is running
	StepRestoreLedger  Step = "restore-ledger"  // the migration's own records are damaged
	StepNoQueue        Step = "no-queue"        // there is no new queue at the address
	StepFinish         Step = "finish"          // a run was interrupted
	StepFinishRollback Step = "finish-rollback" // a rollback was interrupted
	StepStopLegacy     Step = "stop-legacy"     // a legacy worker works on migrated records
	StepMigrateRest    Step = "migrate-rest"    // records are not migrated
	StepRelease        Step = "release"
	StepReleaseOthers  Step = "release-others" // only other owners hold the queues
	StepKept           Step = "kept"           // a rollback kept jobs: their records must not run
	StepPlan           Step = "plan"           // nothing was migrated, or everything was rolled back
)

// advice is what to do in each situation. The first row that applies counts.
var advice = []struct {
	applies func(*Status) bool
	step    Step
}{
	{func(s *Status) bool { return s.AtWork > 0 }, StepWait},
	{func(s *Status) bool { return s.Damage != "" }, StepRestoreLedger},
	{func(s *Status) bool { return s.NoQueue != nil }, StepNoQueue},
	{func(s *Status) bool { return s.isIn(ledger.Running) }, StepFinish},
	{func(s *Status) bool { return s.isIn(ledger.RollingBack) }, StepFinishRollback},
	{func(s *Status) bool { return s.legacyHas(func(l LegacyStatus) []string { return l.Changed }) }, StepStopLegacy},
	{func(s *Status) bool {
		return s.isIn(ledger.Done) && s.legacyHas(func(l LegacyStatus) []string { return slices.Concat(l.Late, l.Missed) })
	}, StepMigrateRest},
	{func(s *Status) bool { return s.isIn(ledger.RolledBack) && s.Newest().Kept > 0 }, StepKept},
	{func(s *Status) bool { return s.Newest() == nil || s.isIn(ledger.RolledBack) }, StepPlan},
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

// isIn reports whether the newest run is in a state.
func (s *Status) isIn(state RunState) bool { return s.Newest() != nil && s.Newest().State == state }

// legacyHas reports whether any legacy queue has some of these records.
func (s *Status) legacyHas(some func(LegacyStatus) []string) bool {
	return slices.ContainsFunc(s.Legacy, func(l LegacyStatus) bool { return len(some(l)) > 0 })
}

// held reports whether there is a hold of a run, or one that no run owns.
func (s *Status) held(byRun bool) bool {
	return slices.ContainsFunc(s.Holds, func(h HoldStatus) bool {
		return byRun == slices.ContainsFunc(h.Owners, func(o ledger.Owner) bool { return ledger.IsRun(o.By) })
	})
}
