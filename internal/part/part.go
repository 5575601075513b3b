// Package part has the sizes of parts: how many things are read, compared or written together if there are more. In tests all parts
// are small, so that a few things cross every border between two parts.
//
//	const recordsPerRead part.Size = 1000
//	…
//	for some := range slices.Chunk(records, recordsPerRead.N()) {
package part

// Size is how many things a part has at most.
type Size int

// inTests is how many things a part has at most in tests: a part has more than one, and three things don't fit.
const inTests = 2

// small is not "" in a test. [Small] sets it, and the linker in a command that a test builds: -ldflags "-X mrtq/internal/part.small=yes".
var small string

// Small makes all parts of this process small, or as large as they are outside of tests. Only tests call it, before anything
// else runs.
func Small(yes bool) {
	if small = ""; yes {
		small = "yes"
	}
}

// N is how many things a part has at most: s outside of tests.
func (s Size) N() int {
	if small != "" {
		return min(int(s), inTests)
	}
	return int(s)
}
