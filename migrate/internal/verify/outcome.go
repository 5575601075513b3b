package verify

import (
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
)

// Outcome is what became of a legacy record that is in no ledger.
type Outcome string

// The outcomes.
const (
	OutcomeSkipped     Outcome = "skipped"     // by choice
	OutcomeFinished    Outcome = "finished"    // in the legacy queue, so nothing is left to do
	OutcomeQuarantined Outcome = "quarantined" // it can't be decoded, and its bytes are kept
	OutcomeNotMigrated Outcome = "not migrated"
)

// OutcomeOf says what became of a record that is in no ledger, and why. run is the
// current run; nil if there is none. d is what its choices decide about the record.
func OutcomeOf(run *migration.Run, d rules.Decision) (o Outcome, why string) {
	switch {
	case run == nil:
		return OutcomeNotMigrated, ""
	case d.Do == migration.Skip:
		return OutcomeSkipped, d.Reason
	case d.Do == migration.Quarantine:
		return OutcomeQuarantined, d.Reason
	case run.State == migration.RunDone && d.Do == migration.Migrate && d.State.Finished():
		return OutcomeFinished, "a legacy worker has finished it since " + run.ID + " began"
	case run.State == migration.RunRolledBack && d.Do == migration.Migrate && d.State.Finished():
		return OutcomeFinished, "a legacy worker has finished it" // nothing is left to do there, so jobs that stayed can run
	}
	return OutcomeNotMigrated, ""
}
