// Package features holds the scenarios, in Gherkin, that say what mrtq and the
// new queue do, in the words of those who run them. harness/accept has the steps
// of the new queue's, and harness/accept/migration those of the migration's.
package features

import "embed"

// Files are all *.feature files.
//
//go:embed *.feature
var Files embed.FS

// Corpus is a legacy queue as the JVM services wrote it, as a dump, and Expected
// says what each of its records means.
var (
	//go:embed testdata/legacy.ndjson
	Corpus string
	//go:embed testdata/legacy.expected.ndjson
	Expected string
)
