package verify

import (
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
)

// Outcome is what became of a legacy record (docs/life.md, "Words").
type Outcome string

// The outcomes, in the order in which tables show them.
const (
	WasMigrated    Outcome = "migrated"    // its job is there
	WasRemoved     Outcome = "removed"     // it was migrated, and its job was finished and cleaned up, or deleted
	WasChanged     Outcome = "changed"     // it was migrated, and has changed since
	WillBeCreated  Outcome = "to create"   // a plan creates a job for it
	WasSkipped     Outcome = "skipped"     // by choice
	WasQuarantined Outcome = "quarantined" // it can't be decoded, and its bytes are kept
	IsBlocked      Outcome = "blocked"     // it keeps the plan from being carried out
	CameLate       Outcome = "late"        // after the newest run began
	WasMissed      Outcome = "missed"      // it was there when the newest run began, and was not migrated
	NotMigrated    Outcome = "not migrated"
)

// Outcomes are all outcomes, in the order in which tables show them.
var Outcomes = []Outcome{WasMigrated, WasRemoved, WasChanged, WillBeCreated, WasSkipped, WasQuarantined, IsBlocked, CameLate, WasMissed, NotMigrated}

// OutcomeOf says what became of a record that is in no ledger, and why. newest is the newest
// run; nil if there is none. d is what its choices decide about the record.
func OutcomeOf(newest *ledger.Run, record string, d rules.Decision) (o Outcome, why string) {
	switch {
	case newest == nil:
		return NotMigrated, ""
	case d.Do == rules.Skip:
		return WasSkipped, d.Reason
	case d.Do == rules.Quarantine:
		return WasQuarantined, d.Reason
	case newest.Settled() != ledger.Done:
		return NotMigrated, ""
	case !newest.HadRecord(record):
		return CameLate, "it came after " + newest.ID + " began"
	}
	return WasMissed, "it was there when " + newest.ID + " began"
}
