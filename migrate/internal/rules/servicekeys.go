package rules

import (
	"strings"

	"mrtq/legacy"
)

// serviceKeys are the properties that a batch's submission of dialect mrt-zk also has, under
// their own names, because the deployed services read them there, or once read them
// (HandlerSubmit of both sides). Every property is in the configuration of its job, too.
var serviceKeys = []sharedField{
	{"profile", true},              // every ingest daemon, the collection hold, the report, the admin's lists
	{"type", true},                 // Initialize, Estimate, Download
	{"filename", false},            // Initialize (Verify, mrt-ingest.txt), the admin's lists
	{"submitter", true},            // the mail, mrt-ingest.txt, the admin's lists
	{"responseForm", true},         // nobody: its reader drops it
	{"notification", true},         // the report: who gets the mail
	{"notificationFormat", true},   // the callback's format
	{"retainTargetURL", true},      // the identifier service: the string "true"
	{"objectID", false},            // the report of a verbose profile; else identifiers has it
	{"localID", false},             // the same
	{"DataCiteResourceType", true}, // nobody: only the legacy services did
	// The object's metadata:
	{"creator", false}, {"title", false}, {"date", false}, {"note", false},
	{"DCcontributor", true}, {"DCcoverage", true}, {"DCcreator", true}, {"DCdate", true}, {"DCdescription", true},
	{"DCformat", true}, {"DCidentifier", true}, {"DClanguage", true}, {"DCpublisher", true}, {"DCrelation", true},
	{"DCrights", true}, {"DCsource", true}, {"DCsubject", true}, {"DCtitle", true}, {"DCtype", true},
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
