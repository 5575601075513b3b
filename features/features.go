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

// Migration has the names of the files about the migration, in the order in which an operator meets what they describe.
var Migration = []string{"migration.feature", "handover.feature", "services.feature"}

// Queues has dumps of legacy queues, by the names of their files.
var Queues = map[string]string{"legacy.ndjson": corpus, "deployed.ndjson": Deployed, "unfit.ndjson": unfit, "late.ndjson": late}

var (
	// corpus has 21 records as the JVM services wrote them, in all formats.
	//
	//go:embed testdata/legacy.ndjson
	corpus string

	// Deployed is a dump of a legacy queue with records as the deployed services wrote them (mrt-ingest's
	// HandlerSubmit and mrt-store's QueueUtil): ingest jobs of the types file, container and manifest, serialized
	// as Java Properties (until February 2024) and as JSON (since then), some with few keys and some with all, and
	// access requests. The inventory queue is empty, and no record is consumed.
	//
	//go:embed testdata/deployed.ndjson
	Deployed string

	// unfit has records on which the deployed services can't work, each for another reason, and sound ones.
	//
	//go:embed testdata/unfit.ndjson
	unfit string

	// late has one record, which a depositor submits.
	//
	//go:embed testdata/late.ndjson
	late string
)
