// Package features has the scenarios. They say in Gherkin what mrtq and the new
// queue do, in the words of the people who run them. Package harness/accept has the
// steps for the scenarios of the new queue, and harness/accept/migration those for
// the scenarios of the migration.
package features

import "embed"

// Files has all *.feature files, at its root.
//
//go:embed *.feature
var Files embed.FS

// Corpus is a dump of a legacy queue as the JVM services wrote it.
//
//go:embed testdata/legacy.ndjson
var Corpus string
