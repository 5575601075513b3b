package services

import "strings"

// dublinCore are the keys that the services read as Dublin Core.
const dublinCore = "DCcontributor DCcoverage DCcreator DCdate DCdescription DCformat DCidentifier DClanguage " +
	"DCpublisher DCrelation DCrights DCsource DCsubject DCtitle DCtype"

// ingest are the daemons of mrt-ingest that fill an ingest request from a job
// (populateIngestRequest).
var ingest = []Daemon{Initialize, Estimate, Provision, Download, Process, Notify}

// Requirements are the requirements that Go checks: on the tree, on batches, on jobs and on access requests. The
// rules of merritt.yaml state the others. Callers must not change them.
var Requirements = forEach([]Requirement{
	{ID: "R01", Of: OfTree, Says: "the root nodes of the layout exist", Then: StopsQueue, By: []Daemon{Access}},
	{ID: "R02", Of: OfTree, Says: "no worker left a lock on a local id or an object", Then: Waits, By: []Daemon{Process, Store}},
	{ID: "R02", Of: OfTree, Says: "no worker left a lock on an object in inventory", Then: Fails, By: []Daemon{Inventory}},
	{ID: "R02", Of: OfBatch, Node: "lock", Says: "it does not exist, because no worker left one", Then: NeverReported, By: []Daemon{BatchReport}},
	{ID: "R05", Of: OfBatch, Node: "status", Says: "it is Processing or Reporting if a job is unfinished", faults: agreesUnfinished, Then: NeverReported, By: []Daemon{BatchReport}},
	{ID: "R05", Of: OfBatch, Node: "status", Says: "it is not Completed or Deleted if a job failed", faults: agreesFailed, Then: NeverCleaned, By: []Daemon{Cleanup}},
	{ID: "R05", Of: OfOpenBatch, Node: "submission", Says: "it holds a JSON object", faults: filledIfThere, Then: StuckReporting, By: []Daemon{BatchReport}},
	{ID: "R05", Of: OfDoneBatch, Node: "submission", Says: "it holds a JSON object", faults: filledIfThere, Then: NeverCleaned, By: []Daemon{Cleanup}},
	{ID: "R06", Of: OfBatch, Node: "submission", Key: "batchID", Type: batchFolder, Then: StuckReporting, By: []Daemon{BatchReport}},
	{ID: "R07", Of: OfBatch, Node: "submission", Says: "its batchID can be the name of a znode", faults: nameable, Then: ReportLost, By: []Daemon{BatchReport}},
	{ID: "R08", Of: OfOpenBatch, Node: "submission", Key: "update", Type: boolean, Default: "false", Then: StuckReporting, By: []Daemon{BatchReport}},
	{ID: "R09", Of: OfOpenBatch, Node: "submission", Key: "profile", Type: profile, Then: StuckReporting, By: []Daemon{BatchReport}},
	{ID: "R10", Of: OfOpenBatch, Node: "submission", Key: "submissionDate", Type: text, Default: "the earliest time of its records", Then: ReportLost, By: []Daemon{BatchReport}},
	{ID: "R10", Of: OfOpenBatch, Node: "submission", Key: "submitter", Type: text, Default: "an empty string", Then: ReportLost, By: []Daemon{BatchReport}},
	{ID: "R30", Of: OfBatch, Node: "submission", Key: "submissionDate", Type: dateText, Optional: true, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R11", Of: OfOpenBatch, Node: "submission", Key: dublinCore, Type: textOrNull, Optional: true, Then: StuckReporting, By: []Daemon{BatchReport}},
	{ID: "R02", Of: OfJob, Node: "lock", Says: "it does not exist, because no worker left one", Then: NotFound, By: []Daemon{Initialize}},
	{ID: "R12", Of: OfJob, Node: "status", Key: "last_successful_status", Type: jobOrNull, Optional: true, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R13", Of: OfFailedJob, Node: "status", Key: "message", Type: text, Default: "an empty string", Then: ReportLost, By: []Daemon{BatchReport}},
	{ID: "R18", Of: OfEarlyJob, Node: "configuration", Says: "it exists and is not empty", faults: filledIfThere, Then: Stuck, By: []Daemon{Initialize, Estimate}},
	{ID: "R18", Of: OfLaterJob, Node: "configuration", Says: "it exists and is not empty", faults: filledIfThere, Then: Fails, By: []Daemon{Provision, Download, Process, Notify}},
	{ID: "R19", Of: OfOpenJob, Node: "configuration", Key: "jobID", Type: folder, Then: Fails, By: ingest},
	{ID: "R20", Of: OfOpenJob, Node: "configuration", Says: "its batchID is that of its batch, without the number of a later batch", faults: batchID, Then: Fails, By: ingest},
	{ID: "R21", Of: OfOpenJob, Node: "configuration", Key: "profile", Type: profile, Then: Fails, By: ingest},
	{ID: "R22", Of: OfOpenJob, Node: "configuration", Key: "type", Type: packageType, faults: packageKind, Then: Fails, By: []Daemon{Initialize, Estimate, Download}},
	{ID: "R23", Of: OfOpenJob, Node: "configuration", Key: "filename", Type: filled, Then: Fails, By: []Daemon{Initialize}},
	{ID: "R23", Of: OfOpenJob, Node: "configuration", Says: "its filename has no slash if it is a manifest with a digest", faults: plainFilename, Then: Fails, By: []Daemon{Download}},
	{ID: "R24", Of: OfOpenJob, Node: "configuration", Key: "update", Type: boolean, Default: "false", Then: Fails, By: ingest},
	{ID: "R25", Of: OfOpenJob, Node: "configuration", Says: "its digestType is known if there is a digestValue", faults: digestType, Then: Fails, By: []Daemon{Initialize}},
	{ID: "R25", Of: OfOpenJob, Node: "configuration", Key: dublinCore, Type: textOrNull, Optional: true, Then: Fails, By: ingest},
	{ID: "R30", Of: OfDoneJob, Node: "configuration", Key: "profile", Type: text, Then: BreaksForNow, By: []Daemon{Admin}},
	{ID: "R30", Of: OfJob, Node: "configuration", Key: "submissionDate", Type: dateText, Optional: true, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Says: "it exists and is not empty", faults: present, Default: `{"primary_id":"","local_id":[]}`, Then: Fails, By: ingest},
	{ID: "R27", Of: OfJob, Node: "identifiers", Says: "it is not empty, if it is there", faults: filledIfThere, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Key: "primary_id", Type: text, Then: Fails, By: ingest},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Key: "local_id", Type: texts, Then: Fails, By: ingest},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Says: "its local ids can be part of the name of a lock, unless there is a primary id", faults: lockable, Then: Waits, By: []Daemon{Process}},
	{ID: "R27", Of: OfDoneJob, Node: "identifiers", Key: "local_id", Type: texts, Optional: true, Then: ReportLost, By: []Daemon{BatchReport}},
	{ID: "R28", Of: OfJob, Node: "metadata inventory store", Says: "it is not empty, if it is there", faults: filledIfThere, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R29", Of: OfStoringJob, Node: "store", Says: "it exists and is not empty", faults: present, Then: Fails, By: []Daemon{Store}},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "manifest_url", Type: text, Then: Fails, By: []Daemon{Store}},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "mode", Type: storeMode, Then: Fails, By: []Daemon{Store}},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "delete", Type: text, Then: Fails, By: []Daemon{Store}},
	{ID: "R29", Of: OfRecordingJob, Node: "inventory", Says: "it exists and is not empty", faults: present, Then: Fails, By: []Daemon{Inventory}},
	{ID: "R29", Of: OfRecordingJob, Node: "inventory", Key: "manifest_url", Type: address, Then: Fails, By: []Daemon{Inventory}},
	{ID: "R02", Of: OfAccess, Node: "lock", Says: "it does not exist, because no worker left one", Then: NotFound, By: []Daemon{Access}},
	{ID: "R31", Of: OfAccess, Node: "status", Key: "status", Type: accessWaits, Then: NotFound, By: []Daemon{Access}},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Says: "it exists and is not empty", faults: filledIfThere, Then: Stuck, By: []Daemon{Access}},
	{ID: "R32", Of: OfAccess, Node: "token", Says: "it is not empty, if it is there", faults: filledIfThere, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Key: "token", Type: text, Then: Stuck, By: []Daemon{Access}},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Key: "cloud-content-byte delivery-node", Type: long, Then: Fails, By: []Daemon{Access}},
	{ID: "R33", Of: OfBatch, Node: "submission status", Says: readable, faults: unreadable, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R33", Of: OfJob, Node: "status configuration identifiers metadata inventory store", Says: readable, faults: unreadable, Then: BreaksPage, By: []Daemon{Admin}},
	{ID: "R33", Of: OfAccess, Node: "status token", Says: readable, faults: unreadable, Then: BreaksPage, By: []Daemon{Admin}},
})

func forEach(rows []Requirement) (all []Requirement) {
	for _, d := range rows {
		for node := range strings.SplitSeq(d.Node, " ") {
			for key := range strings.SplitSeq(d.Key, " ") {
				one := d
				one.Node, one.Key = node, key
				all = append(all, one)
			}
		}
	}
	return all
}
