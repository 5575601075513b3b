package ztree

import (
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/jute"
)

// TestReplay replays random changes, as from a snapshot that has some of them already: most do not
// fit the tree. The tree's tables agree with its nodes all the time.
func TestReplay(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/b/c", "/ä", "/b/a", "/b", "/zookeeper/quota/x"}
	all := []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
	rapid.Check(t, func(t *rapid.T) {
		tree := New()
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			c := &Change{
				Op: rapid.SampledFrom([]jute.OpCode{
					jute.OpCreate, jute.OpCreate, jute.OpCreate, jute.OpCreateTTL, jute.OpCreateContainer, jute.OpDelete, jute.OpSetData, jute.OpSetACL,
					jute.OpCreateSession, jute.OpCloseSession,
				}).Draw(t, "op"),
				Path: rapid.SampledFrom(paths).Draw(t, "path"),
				Data: []byte("data")[:rapid.IntRange(0, 4).Draw(t, "length")], ACL: all,
				Version: rapid.Int32Range(0, 3).Draw(t, "version"), ParentCversion: rapid.Int32Range(-1, 4).Draw(t, "cversion"),
				Ephemeral: rapid.Bool().Draw(t, "ephemeral"), TTL: 5,
			}
			session := rapid.SampledFrom([]int64{1, 2, ttlMark + 6}).Draw(t, "session")
			// Zxids that repeat are those of changes that the snapshot has.
			_ = tree.Replay(Tx{Zxid: rapid.Int64Range(1, 20).Draw(t, "zxid")}, session, c)
			if b := tree.broken(); b != "" {
				t.Fatal(b)
			}
		}
		tree.Prune("/zookeeper/quota")
		if b := tree.broken(); b != "" {
			t.Fatal("pruned: ", b)
		}
	})
}

// TestSessionsAndTTLs checks owners as servers make them: sessions of servers with every id
// (SessionTrackerImpl.initializeNextSessionId), containers, and TTLs in both encodings.
func TestSessionsAndTTLs(t *testing.T) {
	tree := New()
	for server := range int64(256) {
		for _, up := range []uint64{1000, 3600000, 86400000, 1 << 34} { // of the machine, in milliseconds
			id := int64(up<<24>>8) | server<<56
			tree.OpenSession(id)
			if kind := tree.kindOf(id); kind != kindEphemeral {
				t.Errorf("session %x of server %d is of kind %d", uint64(id), server, kind)
			}
		}
	}
	for name, c := range map[string]struct {
		owner int64
		want  ownerKind
	}{
		"none": {0, kindPersistent}, "a container": {ownerContainer, kindContainer},
		"the shortest TTL": {ttlMark | 1, kindTTL}, "the longest TTL": {ttlMark | maxTTL, kindTTL},
		"a day, with emulate353TTLNodes": {-1<<63 | 86400000, kindTTL},
	} {
		if got := tree.kindOf(c.owner); got != c.want {
			t.Errorf("%s, %x, is of kind %d, want %d", name, uint64(c.owner), got, c.want)
		}
	}
}
