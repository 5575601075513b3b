package minizk_test

import (
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// TestLoadedOwnersAreNotReused: a dump's ephemeral nodes may belong to session ids that this server
// would use next. The server must not give such an id to a new client, because the nodes would
// become that client's.
func TestLoadedOwnersAreNotReused(t *testing.T) {
	first := run(t, minizk.Options{})
	want(t, "create", do(t, raw(t, first), newNode("/eph", "", 1)), jute.OK)
	dump := first.Snapshot()
	s := run(t, minizk.Options{})
	must(t, s.Load(dump))
	a := raw(t, s)
	if owner := nodeAt(t, s, "/eph").Stat.EphemeralOwner; owner == a.Session.SessionID {
		t.Errorf("the new session %#x owns a node that it did not create", owner)
	}
	want(t, "close", do(t, a, jute.Request{Op: jute.OpCloseSession}), jute.OK)
	if nodeAt(t, s, "/eph") == nil {
		t.Error("the node was deleted with another client's session")
	}
	s.Advance(41 * time.Second) // its own session has no client
	if nodeAt(t, s, "/eph") != nil {
		t.Error("the node outlives its session")
	}
}
