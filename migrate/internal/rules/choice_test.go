package rules

import (
	"testing"

	"mrtq/legacy"
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
		{legacy.Failed, AsFailed, "failed", "failed", "failed", false},
		{legacy.Failed, AsHeld, "held", "failed", "failed", true},
		{legacy.Failed, AsPending, "pending", "recording", "pending", false},
		{legacy.Consumed, Leave, Skip, Skip, Skip, false},
		{legacy.Consumed, AsHeld, "held", "failed", "failed", true},
		{legacy.Consumed, AsPending, "pending", "recording", "pending", false},
		{legacy.Consumed, AsFailed, "failed", "failed", "failed", false},
		{legacy.Completed, Migrate, "completed", "completed", "completed", false},
		{legacy.Completed, Skip, Skip, Skip, Skip, false},
		{legacy.Deleted, Migrate, "deleted", "deleted", "deleted", false},
		{legacy.Deleted, Skip, Skip, Skip, Skip, false},
	} {
		for queue, want := range map[QueueKind]string{Ingest: c.ingest, Inventory: c.inventory, AccessSmall: c.access, AccessLarge: c.access} {
			r := Record{Queue: queue, Legacy: legacy.Record{Header: legacy.Header{Status: c.status}}}
			d := Decide(r, Choices{Consumed: c.choice, Failed: c.choice, Completed: c.choice, Deleted: c.choice})
			got := d.State.Name()
			if d.Do != Migrate {
				got = d.Do
			}
			if got != want || (d.State.Warning != "") != (c.warned && queue != Ingest) || (d.Reason == "") != (d.Do == Migrate) {
				t.Errorf("%s %s, %s: %+v, expected %s", queue, c.status, c.choice, d, want)
			}
		}
	}
	for kind, want := range map[legacy.Kind]string{legacy.BadPayload: Quarantine, Unreadable: Block} {
		r := Record{Err: &legacy.Error{Kind: kind}}
		if quarantined, blocked := Decide(r, Choices{Undecodable: Quarantine}), Decide(r, Choices{Undecodable: Block}); quarantined.Do != want || blocked.Do != Block {
			t.Errorf("%s: %+v, %+v", kind, quarantined, blocked)
		}
	}
}
