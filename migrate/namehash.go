package migrate

import (
	"hash/maphash"
	"slices"
)

// nameHash is a hash of eight bytes, with a random seed. It tells many names apart without
// keeping them.
type nameHash struct{ seed maphash.Seed }

func newNameHash() nameHash { return nameHash{maphash.MakeSeed()} }

func (h nameHash) of(name string) uint64 { return maphash.String(h.seed, name) }

// nameSet remembers names by their hashes.
type nameSet struct {
	nameHash
	hashes []uint64
}

func newNameSet() nameSet { return nameSet{nameHash: newNameHash()} }

func (s *nameSet) add(name string) { s.hashes = append(s.hashes, s.of(name)) }

// sort makes the set ready for [nameSet.has].
func (s *nameSet) sort() { slices.Sort(s.hashes) }

func (s *nameSet) has(name string) bool {
	_, there := slices.BinarySearch(s.hashes, s.of(name))
	return there
}
