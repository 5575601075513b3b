package offline

import "hash/maphash"

// filter is a Bloom filter of paths. A path that is not in it was certainly not added.
// About one in five hundred of the other paths seems to be in it, as long as no more
// paths were added than it was made for.
type filter struct {
	bits []uint64
	mask uint64 // of a bit's number
}

const (
	bitsPerPath = 12 // at least
	probes      = 6
)

func newFilter(paths int) filter {
	bits := uint64(64)
	for bits < uint64(paths)*bitsPerPath {
		bits *= 2
	}
	return filter{bits: make([]uint64, bits/64), mask: bits - 1}
}

// pathSeed is the same for all filters, which don't outlive the process.
var pathSeed = maphash.MakeSeed()

func hashOf(path string) uint64      { return maphash.String(pathSeed, path) }
func hashOfBytes(path []byte) uint64 { return maphash.Bytes(pathSeed, path) }

func (f *filter) add(hash uint64) {
	step := hash>>32 | 1
	for range probes {
		f.bits[hash&f.mask/64] |= 1 << (hash & 63)
		hash += step
	}
}

func (f *filter) has(hash uint64) bool {
	step := hash>>32 | 1
	for range probes {
		if f.bits[hash&f.mask/64]&(1<<(hash&63)) == 0 {
			return false
		}
		hash += step
	}
	return true
}
