package minizk_test

import (
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func TestSnapshotAndLoad(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	do(t, a, newNode("/q", "data", 0))
	for range 3 {
		do(t, a, newNode("/q/n-", "x", 2))
	}
	do(t, a, jute.Request{Op: jute.OpDelete, Path: "/q/n-0000000001", Version: -1})
	do(t, a, jute.Request{Op: jute.OpSetData, Path: "/q", Version: -1}) // null
	do(t, a, jute.Request{Op: jute.OpSetACL, Path: "/q", ACL: []znode.ACL{{Perms: 31, Scheme: "ip", ID: "127.0.0.1"}}, Version: -1})
	do(t, a, newNode("/eph", "", 1))
	snap := value(s.Snapshot())(t)
	s2 := run(t, minizk.Options{})
	must(t, s2.Load(snap))
	snap2 := value(s2.Snapshot())(t)
	if d := znode.Diff(snap, snap2, "/"); len(d) != 0 {
		t.Errorf("not the same: %v", d)
	}
	for n := range snap.All("/q") {
		if stat := snap2.Get(n.Path).Stat; stat != n.Stat {
			t.Errorf("%s: the stat is %+v, was %+v", n.Path, stat, n.Stat)
		}
	}
	b := raw(t, s2)
	p, _, err := b.Do(packet(newNode("/q/n-", "x", 2)))
	if err != nil || string(p.Body[4:]) != "/q/n-0000000003" {
		t.Errorf("the next sequential node is %q, %v", p.Body, err)
	}
	if newest := snap.Get("/q").Stat.Pzxid; s2.Zxid() <= newest {
		t.Errorf("zxid %d, the dump's was %d", s2.Zxid(), newest)
	}
	// The ephemeral node without a client is deleted when its session expires.
	s2.Advance(41 * time.Second)
	if nodeAt(t, s2, "/eph") != nil || nodeAt(t, s2, "/q") == nil {
		t.Error("want /eph gone and /q kept")
	}
}

// TestLoadedOwnersAreNotReused: a dump's ephemeral nodes may belong to session ids that this server
// would use next. The server must not give such an id to a new client, because the nodes would
// become that client's.
func TestLoadedOwnersAreNotReused(t *testing.T) {
	first := run(t, minizk.Options{})
	want(t, "create", do(t, raw(t, first), newNode("/eph", "", 1)), jute.OK)
	dump := value(first.Snapshot())(t)
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
}
