// Package follow decides what becomes of a record that arrives in the legacy queue after the migration, and of its batch. It is pure.
//
//	record.go  whether a record moves to the new queue
//	batch.go   the batch that its job goes into
package follow

import (
	"mrtq/legacy"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/migration"
)

// Facts are what is known of a record that is in the legacy queue.
type Facts struct {
	// Is says how the record stands in the ledger; [standing.NotMigrated] if it is in none.
	Is standing.RecordCondition
	// Status is [legacy.Status] of a record that can be decoded, else 0. Unreadable says that not even its bytes can be read.
	Status     legacy.Status
	Decoded    bool
	Unreadable bool
	// Twin is the job, or the record, that has the same key; "" if there is none.
	Twin string
	// Consumed is a record that a legacy worker has and that has the same key; "" if there is none.
	Consumed string
	// Released says that its queue was released, and that no run holds it.
	Released bool
	// Problem is what keeps it from being migrated; "" if nothing does.
	Problem string
}

func (f Facts) is(s legacy.Status) bool { return f.Decoded && f.Status == s }

// rows are all that can be said of a record (docs/life.md, "Follow"). The first that applies counts.
var rows = []struct {
	applies func(Facts) bool
	fate    migration.Fate
	why     func(Facts) string
}{
	{func(f Facts) bool { return f.Unreadable }, migration.FateStays, says("it can't be read: give credentials that can")},
	{func(f Facts) bool { return f.Is != standing.NotMigrated && f.Is != standing.ThereAgain }, migration.FateLeft, says("")}, // to the release
	{func(f Facts) bool { return f.Is == standing.ThereAgain }, migration.FateStays, says(migration.QuestionAgain.Says())},
	{func(f Facts) bool { return f.is(legacy.Completed) || f.is(legacy.Deleted) }, migration.FateLeft, says("")},
	{func(f Facts) bool { return f.Twin != "" }, migration.FateStays, func(f Facts) string { return "it was submitted again: " + f.Twin + " has the same work" }},
	{func(f Facts) bool { return f.is(legacy.Consumed) }, migration.FateWaits, says("a legacy worker has it")},
	{func(f Facts) bool { return f.Consumed != "" }, migration.FateWaits, func(f Facts) string { return "a legacy worker has the same work: " + f.Consumed }},
	{func(f Facts) bool { return !f.Released }, migration.FateWaits, says("its queue is not released")},
	{func(f Facts) bool { return f.Problem != "" }, migration.FateStays, func(f Facts) string { return f.Problem }},
	{func(Facts) bool { return true }, migration.FateMoves, says("")},
}

func says(why string) func(Facts) string { return func(Facts) string { return why } }

// Decide returns what becomes of a record, and why; "" if it moves, or if there is nothing to do.
func Decide(f Facts) (fate migration.Fate, why string) {
	for _, row := range rows {
		if row.applies(f) {
			return row.fate, row.why(f)
		}
	}
	return migration.FateStays, "" // not reached: the last row applies to all
}
