package rules

import (
	"testing"

	"mrtq/legacy"
	"mrtq/migrate/migration"
)

// TestDecide: what becomes of a record, by its status, its queue and the choice about it. As pending, what should be held would run.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		status                    legacy.Status
		choice                    string
		ingest, inventory, access string // the state, or what is done in place of a migration
		warned                    bool   // that others than ingest jobs can't be held
	}{
		{legacy.Pending, "", "pending", "recording", "pending", false},
		{legacy.Held, "", "held", "failed", "pending", true},
		{legacy.Failed, migration.AsFailed, "failed", "failed", "failed", false},
		{legacy.Failed, migration.AsHeld, "held", "failed", "failed", true},
		{legacy.Failed, migration.AsPending, "pending", "recording", "pending", false},
		{legacy.Consumed, migration.Leave, migration.Skip, migration.Skip, migration.Skip, false},
		{legacy.Consumed, migration.AsHeld, "held", "failed", "failed", true},
		{legacy.Consumed, migration.AsPending, "pending", "recording", "pending", false},
		{legacy.Consumed, migration.AsFailed, "failed", "failed", "failed", false},
		{legacy.Completed, migration.Migrate, "completed", "completed", "completed", false},
		{legacy.Completed, migration.Skip, migration.Skip, migration.Skip, migration.Skip, false},
		{legacy.Deleted, migration.Migrate, "deleted", "deleted", "deleted", false},
		{legacy.Deleted, migration.Skip, migration.Skip, migration.Skip, migration.Skip, false},
	} {
		for queue, want := range map[migration.QueueKind]string{migration.Ingest: c.ingest, migration.Inventory: c.inventory, migration.AccessSmall: c.access, migration.AccessLarge: c.access} {
			r := migration.Record{Queue: queue, Legacy: legacy.Record{Header: legacy.Header{Status: c.status}}}
			d := Decide(r, migration.Choices{Consumed: c.choice, Failed: c.choice, Completed: c.choice, Deleted: c.choice})
			got := d.State.Name()
			if d.Do != migration.Migrate {
				got = d.Do
			}
			if got != want || (d.State.Warning != "") != (c.warned && queue != migration.Ingest) || (d.Reason == "") != (d.Do == migration.Migrate) {
				t.Errorf("%s %s, %s: %+v, expected %s", queue, c.status, c.choice, d, want)
			}
		}
	}
	for kind, want := range map[legacy.Kind]string{legacy.BadPayload: migration.Quarantine, migration.Unreadable: migration.Block} {
		r := migration.Record{Err: &legacy.Error{Kind: kind}}
		if quarantined, blocked := Decide(r, migration.Choices{Undecodable: migration.Quarantine}), Decide(r, migration.Choices{Undecodable: migration.Block}); quarantined.Do != want || blocked.Do != migration.Block {
			t.Errorf("%s: %+v, %+v", kind, quarantined, blocked)
		}
	}
}
