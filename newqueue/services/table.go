package services

import "slices"

// dublinCore are the keys that the services read as Dublin Core.
var dublinCore = []string{
	"DCcontributor", "DCcoverage", "DCcreator", "DCdate", "DCdescription", "DCformat", "DCidentifier", "DClanguage",
	"DCpublisher", "DCrelation", "DCrights", "DCsource", "DCsubject", "DCtitle", "DCtype",
}

// ingest are the daemons of mrt-ingest that fill an ingest request from a job
// (populateIngestRequest).
var ingest = []Daemon{Initialize, Estimate, Provision, Download, Process, Notify}

// failedBy is the effect of most faults of a job: the daemon catches an exception
// and the job becomes Failed.
func failedBy(daemons ...Daemon) []Stop { return each(Fails, daemons) }

func each(e Effect, daemons []Daemon) []Stop {
	var stops []Stop
	for _, d := range daemons {
		stops = append(stops, Stop{d, e})
	}
	return stops
}

// loadedBy is the effect of a fault because of which a job can't be loaded. Every
// daemon that acquires the job loads it under its lock. The report and the cleanup
// load it, too.
func loadedBy(e Effect) []Stop {
	var stops []Stop
	for _, c := range chain {
		if c.daemon == Inventory {
			stops = append(stops, Stop{c.daemon, EndsThread})
			continue
		}
		stops = append(stops, Stop{c.daemon, e})
	}
	return append(stops, Stop{BatchReport, ReportLost}, Stop{Cleanup, NeverCleaned}, Stop{Admin, BreaksPage})
}

var (
	reporting    = []Stop{{BatchReport, StuckReporting}, {UpdateBatchReport, StuckReporting}}
	mailing      = []Stop{{BatchReport, ReportLost}, {UpdateBatchReport, ReportLost}}
	adminPage    = []Stop{{Admin, BreaksPage}}
	batchLoad    = []Stop{{BatchReport, StopsReports}, {Cleanup, NeverCleaned}, {Admin, BreaksPage}}
	accessQueue  = []Stop{{Access, StopsQueue}}
	tracedByInv  = failedBy(Inventory)
	storedByProc = failedBy(Process, Store)
)

// The layout's rules on what the three statuses hold.
var (
	batchStatus  = []string{"batch-status/missing", "batch-status/not-json", "batch-status/bad-value", "batch-status/bad-state"}
	jobStatus    = []string{"job-status/missing", "job-status/not-json", "job-status/bad-value", "job-status/bad-state"}
	accessStatus = []string{"request-status/missing", "request-status/not-json", "request-status/bad-value", "request-status/bad-state"}
)

// Demands are all demands, in the order of their ids. Callers must not change them.
var Demands = slices.Concat(treeDemands, batchDemands, jobDemands, configurationDemands, jobNodeDemands, accessDemands)

var treeDemands = []Demand{
	{ID: "R01", Of: OfTree, Says: "the root nodes of the layout exist", Stops: slices.Concat(
		each(Waits, []Daemon{Process, Store}), failedBy(Inventory), accessQueue, each(NotFound, []Daemon{Initialize}), []Stop{{BatchReport, StopsReports}, {Admin, BreaksPage}})},
	{ID: "R02", Of: OfTree, Says: "no worker left a lock on a local id or an object", Stops: slices.Concat(each(Waits, []Daemon{Process, Store}), failedBy(Inventory))},
	{ID: "R03", Of: OfTree, Says: "the name of a batch is bid and digits, that of a job is jid and digits", Rules: []string{"batch/bad-name", "job/bad-name"}, Stops: adminPage},
	{ID: "R07", Of: OfTree, Says: "every entry of /batch-uuids names the batch that has this batchID", Rules: []string{"batch-uuid/orphan", "batch-uuid/other-batch"}, Stops: []Stop{{Admin, BreaksPage}, {Cleanup, NeverCleaned}}},
	{ID: "R16", Of: OfTree, Says: "every queue entry belongs to a job", Rules: []string{"queue-entry/orphan"}, Stops: adminPage},
	{ID: "R17", Of: OfTree, Says: "every entry below a batch belongs to a job", Rules: []string{"batch-entry/orphan"}, Stops: []Stop{{BatchReport, ReportLost}, {Cleanup, NeverCleaned}, {BatchReport, NeverReported}}},
}

var batchDemands = slices.Concat([]Demand{
	{ID: "R02", Of: OfBatch, Node: "lock", Says: "it does not exist, because no worker left one", Stops: []Stop{{BatchReport, NeverReported}, {UpdateBatchReport, NeverReported}}},
	{ID: "R04", Of: OfBatch, Node: "status", Says: "it holds a JSON object", Rules: batchStatus, Stops: batchLoad},
	{ID: "R04", Of: OfBatch, Node: "status", Key: "status", Rules: batchStatus, Type: batchState, Stops: batchLoad},
	{ID: "R05", Of: OfBatch, Node: "states", Says: "it exists", Rules: []string{"batch-states/no-states"}, Stops: []Stop{{Batch, Resubmits}}},
	{ID: "R05", Of: OfBatch, Node: "states/batch-processing", Says: "it exists, empty or not", Rules: []string{"batch-states/no-processing"}, Stops: []Stop{{BatchReport, NeverReported}}},
	{ID: "R05", Of: OfBatch, Node: "status", Says: "it is Processing or Reporting if a job is unfinished, or Failed if that job was requeued", faults: agreesUnfinished, Stops: []Stop{{BatchReport, NeverReported}}},
	{ID: "R05", Of: OfBatch, Node: "status", Says: "it is not Completed or Deleted if a job failed", faults: agreesFailed, Stops: []Stop{{Cleanup, NeverCleaned}}},
	{ID: "R05", Of: OfBatch, Node: "submission", Says: "it holds a JSON object", Rules: []string{"batch-submission/missing", "batch-submission/not-json"}, faults: filledIfThere, Stops: slices.Concat(reporting, []Stop{{Cleanup, NeverCleaned}}, adminPage)},
	{ID: "R06", Of: OfBatch, Node: "submission", Key: "batchID", Type: batchFolder, Stops: reporting},
	{ID: "R07", Of: OfBatch, Node: "submission", Says: "/batch-uuids/<batchID> holds its BID", Rules: []string{"batch-uuid/no-entry"}, Stops: mailing},
	{ID: "R07", Of: OfBatch, Node: "submission", Says: "its batchID can be the name of a znode", faults: nameable, Stops: mailing},
	{ID: "R08", Of: OfOpenBatch, Node: "submission", Key: "update", Type: boolean, Default: "false", Stops: reporting},
	{ID: "R09", Of: OfOpenBatch, Node: "submission", Key: "profile", Type: profile, Stops: reporting},
	{ID: "R10", Of: OfOpenBatch, Node: "submission", Key: "submissionDate", Type: text, Default: "the earliest time of its records", Stops: mailing},
	{ID: "R10", Of: OfOpenBatch, Node: "submission", Key: "submitter", Type: text, Default: "an empty string", Stops: mailing},
	{ID: "R30", Of: OfBatch, Node: "submission", Key: "submissionDate", Type: dateText, Optional: true, Stops: adminPage},
}, forEach(dublinCore, func(key string) Demand {
	return Demand{ID: "R11", Of: OfOpenBatch, Node: "submission", Key: key, Type: textOrNull, Optional: true, Stops: reporting}
}))

var jobDemands = []Demand{
	{ID: "R02", Of: OfJob, Node: "lock", Says: "it does not exist, because no worker left one", Stops: each(NotFound, workers())},
	{ID: "R12", Of: OfJob, Node: "status", Says: "it holds a JSON object", Rules: jobStatus, Stops: loadedBy(StopsQueue)},
	{ID: "R12", Of: OfJob, Node: "status", Key: "status", Rules: jobStatus, Type: jobState, Stops: loadedBy(Stuck)},
	{ID: "R12", Of: OfJob, Node: "status", Key: "retry_count", Rules: jobStatus, Type: integer, Stops: loadedBy(Stuck)},
	{ID: "R12", Of: OfJob, Node: "status", Key: "last_successful_status", Type: jobOrNull, Optional: true, Stops: adminPage},
	{ID: "R13", Of: OfFailedJob, Node: "status", Key: "message", Type: text, Default: "an empty string", Stops: mailing},
	{ID: "R14", Of: OfJob, Node: "bid", Says: "it is only a BID, of a batch that exists", Rules: []string{"job-bid/missing", "job-bid/orphan"}, Stops: loadedBy(StopsQueue)},
	{ID: "R15", Of: OfJob, Node: "priority", Says: "it is decimal text from 0 to 99", Rules: []string{"job-priority/missing", "job-priority/bad-value"}, Stops: slices.Concat(loadedBy(StopsQueue), each(NotFound, workers()))},
	{ID: "R15", Of: OfJob, Node: "space_needed", Says: "it is decimal text, -1 if Estimate did not find the size", Rules: []string{"job-space/missing", "job-space/bad-value"}, Stops: loadedBy(StopsQueue)},
	{ID: "R16", Of: OfJob, Says: "it has one entry below /jobs/states, as its status and priority say", Rules: []string{"queue-entry/no-entry", "queue-entry/wrong-queue", "queue-entry/wrong-priority"}, Stops: slices.Concat(each(NotFound, workers()), each(StopsQueue, workers()))},
	{ID: "R17", Of: OfJob, Says: "it has one entry below its batch, in the folder of its status", Rules: []string{"batch-entry/no-entry", "batch-entry/wrong-folder", "batch-entry/other-batch"}, Stops: []Stop{{BatchReport, ReportsEarly}, {BatchReport, NeverReported}, {BatchReport, ReportsWrong}}},
}

var configurationDemands = slices.Concat([]Demand{
	{ID: "R18", Of: OfJob, Node: "configuration", Says: "it holds a JSON object, unless it is empty", Rules: []string{"job-configuration/not-json"}, Stops: loadedBy(StopsQueue)},
	{ID: "R18", Of: OfJob, Node: "configuration", Says: "it exists and is not empty", Rules: []string{"job-configuration/missing"}, faults: filledIfThere,
		Stops: slices.Concat(each(Stuck, []Daemon{Initialize, Estimate}), failedBy(Provision, Download, Process, Notify), adminPage)},
	{ID: "R19", Of: OfOpenJob, Node: "configuration", Key: "jobID", Type: folder, Stops: failedBy(ingest...)},
	{ID: "R19", Of: OfOpenJob, Node: "configuration", Says: "no other unfinished job of its batch has its jobID", Rules: []string{"job-configuration/same-job"}, Stops: slices.Concat([]Stop{{Store, StoresEmpty}}, failedBy(Initialize, Download))},
	{ID: "R20", Of: OfOpenJob, Node: "configuration", Says: "its batchID is the batchID of its batch", faults: batchID, Stops: failedBy(ingest...)},
	{ID: "R21", Of: OfOpenJob, Node: "configuration", Key: "profile", Type: profile, Stops: failedBy(ingest...)},
	{ID: "R22", Of: OfOpenJob, Node: "configuration", Key: "type", Type: packageType, faults: packageKind, Stops: failedBy(Initialize, Estimate, Download)},
	{ID: "R23", Of: OfOpenJob, Node: "configuration", Key: "filename", Type: filled, Stops: failedBy(Initialize)},
	{ID: "R23", Of: OfOpenJob, Node: "configuration", Says: "its filename has no slash if it is a manifest with a digest", faults: plainFilename, Stops: failedBy(Download)},
	{ID: "R24", Of: OfOpenJob, Node: "configuration", Key: "update", Type: boolean, Default: "false", Stops: failedBy(ingest...)},
	{ID: "R25", Of: OfOpenJob, Node: "configuration", Says: "its digestType is known if there is a digestValue", faults: digestType, Stops: failedBy(Initialize)},
}, forEach(dublinCore, func(key string) Demand {
	return Demand{ID: "R25", Of: OfOpenJob, Node: "configuration", Key: key, Type: textOrNull, Optional: true, Stops: failedBy(ingest...)}
}), forEach([]string{"submitter", "profile_name", "payload_url", "payload_type", "response_type"}, func(key string) Demand {
	return Demand{ID: "R26", Of: OfOpenJob, Node: "configuration", Key: key, Type: text, Optional: true, Stops: tracedByInv}
}), []Demand{
	{ID: "R30", Of: OfJob, Node: "configuration", Says: "its profile is a string, if any job has one", faults: profiles, Stops: adminPage},
	{ID: "R30", Of: OfJob, Node: "configuration", Key: "submissionDate", Type: dateText, Optional: true, Stops: adminPage},
})

var jobNodeDemands = slices.Concat([]Demand{
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Says: "it exists and is not empty", faults: present, Default: `{"primary_id":"","local_id":[]}`, Stops: failedBy(ingest...)},
	{ID: "R27", Of: OfJob, Node: "identifiers", Says: "it holds a JSON object", Rules: []string{"job-identifiers/not-json"}, faults: objectIfThere, Stops: loadedBy(StopsQueue)},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Key: "primary_id", Type: text, Stops: failedBy(ingest...)},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Key: "local_id", Type: texts, Stops: failedBy(ingest...)},
	{ID: "R27", Of: OfOpenJob, Node: "identifiers", Says: "its local ids can be part of the name of a lock, unless there is a primary id", faults: lockable, Stops: each(Waits, []Daemon{Process})},
	{ID: "R27", Of: OfDoneJob, Node: "identifiers", Key: "local_id", Type: texts, Optional: true, Stops: mailing},
}, forEach([]string{"metadata", "inventory", "store"}, func(node string) Demand {
	return Demand{ID: "R28", Of: OfJob, Node: node, Says: "it is absent or holds a JSON object", Rules: []string{"job-" + node + "/not-json"}, faults: objectIfThere, Stops: loadedBy(StopsQueue)}
}), []Demand{
	{ID: "R28", Of: OfJob, Node: "metadata", Says: "its values are strings", faults: stringValues, Stops: []Stop{{Admin, Harmless}}},
	{ID: "R28", Of: OfOpenJob, Node: "inventory", Key: "manifest_url", Type: text, Optional: true, Stops: failedBy(Process, Inventory)},
	{ID: "R28", Of: OfOpenJob, Node: "inventory", Key: "mode", Type: text, Optional: true, Stops: tracedByInv},
	{ID: "R28", Of: OfOpenJob, Node: "store", Key: "manifest_url", Type: text, Optional: true, Stops: storedByProc},
	{ID: "R28", Of: OfOpenJob, Node: "store", Key: "mode", Type: text, Optional: true, Stops: failedBy(Store)},
	{ID: "R28", Of: OfOpenJob, Node: "store", Key: "delete", Type: text, Optional: true, Stops: failedBy(Store)},
	{ID: "R29", Of: OfStoringJob, Node: "store", Says: "it exists and is not empty", faults: present, Stops: failedBy(Store)},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "manifest_url", Type: text, Stops: failedBy(Store)},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "mode", Type: storeMode, Stops: failedBy(Store)},
	{ID: "R29", Of: OfStoringJob, Node: "store", Key: "delete", Type: text, Stops: failedBy(Store)},
	{ID: "R29", Of: OfRecordingJob, Node: "inventory", Says: "it exists and is not empty", faults: present, Stops: failedBy(Inventory)},
	{ID: "R29", Of: OfRecordingJob, Node: "inventory", Key: "manifest_url", Type: address, Stops: failedBy(Inventory)},
})

var accessDemands = []Demand{
	{ID: "R02", Of: OfAccess, Node: "lock", Says: "it does not exist, because no worker left one", Stops: each(NotFound, []Daemon{Access})},
	{ID: "R31", Of: OfAccess, Node: "status", Says: "it holds a JSON object", Rules: accessStatus, Stops: accessQueue},
	{ID: "R31", Of: OfAccess, Node: "status", Key: "status", Type: accessState, Rules: accessStatus, Stops: accessQueue},
	{ID: "R31", Of: OfAccess, Node: "status", Key: "status", Type: accessWaits, Stops: each(NotFound, []Daemon{Access})},
	{ID: "R30", Of: OfAccess, Node: "status", Key: "last_modified", Type: dateText, Optional: true, Stops: adminPage},
	{ID: "R32", Of: OfAccess, Node: "token", Says: "it is absent or holds a JSON object", Rules: []string{"request-token/not-json"}, faults: objectIfThere, Stops: accessQueue},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Says: "it exists and is not empty", faults: filledIfThere, Stops: each(Stuck, []Daemon{Access})},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Key: "token", Type: text, Stops: each(Stuck, []Daemon{Access})},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Key: "cloud-content-byte", Type: long, Stops: failedBy(Access)},
	{ID: "R32", Of: OfWaitingAccess, Node: "token", Key: "delivery-node", Type: long, Stops: failedBy(Access)},
}

func forEach(keys []string, row func(key string) Demand) []Demand {
	var rows []Demand
	for _, k := range keys {
		rows = append(rows, row(k))
	}
	return rows
}

// workers are the daemons that acquire jobs.
func workers() []Daemon {
	var all []Daemon
	for _, c := range chain {
		all = append(all, c.daemon)
	}
	return all
}
