package ztree

import (
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/jute"
)

// TestReplay replays random changes, as from a snapshot that has some of them already: most do not
// fit the tree. The tree's tables and its digest agree with its nodes all the time.
func TestReplay(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/b/c", "/ä", "/b/a", "/b", "/zookeeper/quota/x"}
	all := []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
	rapid.Check(t, func(t *rapid.T) {
		tree := New()
		tree.Digest()
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
			kept, foreign := tree.Digest()
			tree.digest = nil
			if fresh, f := tree.Digest(); fresh != kept || f != foreign {
				t.Fatalf("the kept digest is %x (%d), the computed one %x (%d)", kept, foreign, fresh, f)
			}
		}
		tree.Prune("/zookeeper/quota")
		if b := tree.broken(); b != "" {
			t.Fatal("pruned: ", b)
		}
	})
}

// TestOwners checks owners as servers make them: sessions (SessionTrackerImpl.initializeNextSessionId),
// containers and TTLs.
func TestOwners(t *testing.T) {
	for owner, want := range map[int64]ownerKind{
		0: kindPersistent, ownerContainer: kindContainer, ttlMark | 1: kindTTL, ttlMark | maxTTL: kindTTL,
		1<<56 | 1<<34<<16: kindEphemeral, 0x7f<<56 | 1000<<16: kindEphemeral, -2<<56 | 1000<<16: kindEphemeral,
	} {
		if got := kindOf(owner); got != want {
			t.Errorf("%x is of kind %d, want %d", uint64(owner), got, want)
		}
	}
}
