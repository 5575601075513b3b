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

// Deployed is a dump of a legacy queue with records as the deployed services wrote them (mrt-ingest's
// HandlerSubmit and mrt-store's QueueUtil): ingest jobs of the types file, container and manifest, serialized
// as Java Properties (until February 2024) and as JSON (since then), some with few keys and some with all, and
// access requests. The inventory queue is empty, and no record is consumed.
//
//go:embed testdata/deployed.ndjson
var Deployed string
