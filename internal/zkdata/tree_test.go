package zkdata

import "testing"

// TestIsSession checks ephemeralOwners as servers make them: sessions of
// servers with every id (SessionTrackerImpl.initializeNextSessionId),
// containers, and TTLs in both encodings.
func TestIsSession(t *testing.T) {
	tree := emptyTree()
	for server := range int64(256) {
		for _, up := range []uint64{1000, 3600000, 86400000, 1 << 34} { // of the machine, in milliseconds
			id := int64(up<<24>>8) | server<<56
			tree.sessions[id] = 4000
			if !tree.isSession(id) {
				t.Errorf("session %x of server %d is not taken for a session", uint64(id), server)
			}
		}
	}
	for name, owner := range map[string]int64{
		"none": 0, "a container's": containerOwner,
		"the shortest TTL": ttlOwner(1), "a day": ttlOwner(86400000), "the longest TTL": ttlOwner(1<<40 - 1),
		"a day, with emulate353TTLNodes": -1<<63 | 86400000,
	} {
		if tree.isSession(owner) {
			t.Errorf("%s, %x, is taken for a session", name, uint64(owner))
		}
	}
}

// TestSystem: ZooKeeper's own znodes, and others with similar names.
func TestSystem(t *testing.T) {
	for path, want := range map[string]bool{"/zookeeper": true, "/zookeeper/quota": true, "/zookeepers": false, "/a/zookeeper": false, "": false, "/": false} {
		if system([]byte(path)) != want {
			t.Errorf("%q: %t", path, !want)
		}
	}
}
