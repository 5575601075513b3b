package rules

import (
	"strings"

	"mrtq/legacy"
)

// serviceKey is a key that the deployed services read, or once read, in a configuration or
// a submission of dialect mrt-zk. It keeps the name and the type that it has in the legacy
// record (HandlerSubmit of both sides).
type serviceKey struct {
	key, readBy string
	// batch says whether the key is also in a batch's submission.
	batch inBatch
}

type inBatch int

const (
	notInBatch  inBatch = iota // it describes one job
	wideInBatch                // it should be the same in all of the batch's jobs
	ifShared                   // it describes one object: only if all jobs agree
)

// serviceKeys are all these keys. A property that isn't here is kept too, but no service
// reads it.
var serviceKeys = []serviceKey{
	{"jobID", "every ingest daemon: the job's directory, the callback", notInBatch},
	{"batchID", "every ingest daemon: the batch's directory, the profile; the report", notInBatch}, // the submission has it already
	{"profile", "every ingest daemon, the collection hold, the report, the admin's lists", wideInBatch},
	{"type", "Initialize, Estimate, Download", wideInBatch},
	{"filename", "Initialize (Verify, mrt-ingest.txt), the admin's lists", ifShared},
	{"update", "every ingest daemon, the report: as a boolean", notInBatch}, // see addUpdate and submission.shareUpdate
	{"submitter", "the mail, mrt-ingest.txt, the admin's lists", wideInBatch},
	{"responseForm", "nobody: its reader drops it", wideInBatch},
	{"notification", "the report: who gets the mail", wideInBatch},
	{"notificationFormat", "the callback's format", wideInBatch},
	{"creator", "the object's metadata", ifShared},
	{"title", "the object's metadata", ifShared},
	{"date", "the object's metadata", ifShared},
	{"note", "the object's metadata", ifShared},
	{"objectID", "the report of a verbose profile; else identifiers has it", ifShared},
	{"localID", "the report of a verbose profile; else identifiers has it", ifShared},
	{"digestType", "Initialize (Verify), Download", notInBatch},
	{"digestValue", "Initialize (Verify), Download", notInBatch},
	{"size", "nobody: a string is read and not used", notInBatch},
	{"DCcontributor", "the object's metadata", wideInBatch},
	{"DCcoverage", "the object's metadata", wideInBatch},
	{"DCcreator", "the object's metadata", wideInBatch},
	{"DCdate", "the object's metadata", wideInBatch},
	{"DCdescription", "the object's metadata", wideInBatch},
	{"DCformat", "the object's metadata", wideInBatch},
	{"DCidentifier", "the object's metadata", wideInBatch},
	{"DClanguage", "the object's metadata", wideInBatch},
	{"DCpublisher", "the object's metadata", wideInBatch},
	{"DCrelation", "the object's metadata", wideInBatch},
	{"DCrights", "the object's metadata", wideInBatch},
	{"DCsource", "the object's metadata", wideInBatch},
	{"DCsubject", "the object's metadata", wideInBatch},
	{"DCtitle", "the object's metadata", wideInBatch},
	{"DCtype", "the object's metadata", wideInBatch},
	{"DataCiteResourceType", "nobody: only the legacy services did", wideInBatch},
	{"retainTargetURL", `the identifier service: the string "true"`, wideInBatch},
	{"queuePriority", "nobody: the znode priority has it", notInBatch},
}

// keyUpdate is the one property for which the services demand a type: a boolean.
const keyUpdate = "update"

// updateFlag is the flag as a boolean: false if the record has none. ok is false if the
// record's value is neither true nor false.
func updateFlag(p legacy.Payload) (value, ok bool) {
	switch v := p[keyUpdate].(type) {
	case nil:
		return false, true
	case bool:
		return v, true
	case string:
		return strings.EqualFold(v, "true"), strings.EqualFold(v, "true") || strings.EqualFold(v, "false")
	}
	return false, false
}
