package verify

import (
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
)

// Outcome is what became of a legacy record (docs/life.md, "Words").
type Outcome string

// The outcomes, in the order in which tables show them.
const (
	WasMigrated    Outcome = "migrated"      // its job is there
	WasRemoved     Outcome = "removed"       // it was migrated, and its job was finished and cleaned up, or deleted
	AtLegacy       Outcome = "at work there" // it was migrated, and the legacy queue has its work: a release withdraws its job
	MustBeDecided  Outcome = "undecided"     // somebody must decide which queue has its work
	WillBeCreated  Outcome = "to create"     // a plan creates a job for it
	WasSkipped     Outcome = "skipped"       // by choice
	WasFinished    Outcome = "finished"      // in the legacy queue, so nothing is left to do
	WasQuarantined Outcome = "quarantined"   // it can't be decoded, and its bytes are kept
	IsBlocked      Outcome = "blocked"       // it keeps the plan from being carried out
	NotMigrated    Outcome = "not migrated"
)

// Outcomes are all outcomes, in the order in which tables show them.
var Outcomes = []Outcome{WasMigrated, WasRemoved, AtLegacy, MustBeDecided, WillBeCreated, WasSkipped, WasFinished, WasQuarantined, IsBlocked, NotMigrated}

// OutcomeOf says what became of a record that is in no ledger, and why. run is the
// current run; nil if there is none. d is what its choices decide about the record.
func OutcomeOf(run *ledger.Run, d rules.Decision) (o Outcome, why string) {
	switch {
	case run == nil:
		return NotMigrated, ""
	case d.Do == rules.Skip:
		return WasSkipped, d.Reason
	case d.Do == rules.Quarantine:
		return WasQuarantined, d.Reason
	case run.State == ledger.Done && d.Do == rules.Migrate && d.State.Finished():
		return WasFinished, "a legacy worker has finished it since " + run.ID + " began"
	case run.State == ledger.RolledBack && d.Do == rules.Migrate && d.State.Finished():
		return WasFinished, "a legacy worker has finished it" // nothing is left to do there, so jobs that stayed can run
	}
	return NotMigrated, ""
}
