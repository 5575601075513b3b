package migrate

import (
	"hash/maphash"
	"slices"
)

// nameHash makes eight bytes of a name, with a seed that nobody knows: where many
// names have only to be told apart.
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
