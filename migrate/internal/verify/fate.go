package verify

import (
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
)

// Fate is why a record is in no ledger (docs/life.md, "Words").
type Fate string

// The fates.
const (
	IsSkipped    Fate = "skipped"    // by the run's choices
	InQuarantine Fate = "quarantine" // by the run's choices
	Waiting      Fate = "waiting"    // for a run, or for the rest of one
	Returned     Fate = "returned"   // to the legacy queue, by a rollback
	IsLate       Fate = "late"       // it came after the newest run was planned
	WasMissed    Fate = "missed"     // it was there when the newest run was planned
)

// FateOf says why a record is in no ledger. newest is the newest run; nil if there is none.
// do is what its choices say of the record.
func FateOf(newest *ledger.Run, record string, do string) Fate {
	switch {
	case newest == nil:
		return Waiting
	case do == rules.Skip:
		return IsSkipped
	case do == rules.Quarantine:
		return InQuarantine
	case newest.State == ledger.Running:
		return Waiting
	case newest.State != ledger.Done:
		return Returned
	case !newest.HadRecord(record):
		return IsLate
	}
	return WasMissed
}
