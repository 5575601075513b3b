package newqueue

// batchesDesign are the transitions of a batch as the documents have them
// (docs/transitions.md, "Batches"). No document has B14: it removes a batch that
// another tool only marked as deleted.
var batchesDesign = []Transition{
	{ID: "B1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "creates submission, status and batch-uuids/UUID"},
	{ID: "B2", From: pending, To: held, Who: Worker, Nodes: NodesStay, Note: "collection hold"},
	{ID: "B3", From: pending, To: processing, Who: Worker, Nodes: NodesStay, Note: "creates states and the jobs (J1)"},
	{ID: "B4", From: held, To: pending, Who: Admin, Nodes: NodesStay},
	{ID: "B5", From: processing, To: reporting, Who: Event, Nodes: NodesStay, Note: "when batch-processing is empty (a watch, not a poll)"},
	{ID: "B6", From: reporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "no job failed; writes status-report"},
	{ID: "B7", From: reporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "at least one job failed; status-report lists the failed and the successful jobs"},
	{ID: "B8", From: failed, To: updateReporting, Who: Admin, Nodes: NodesStay},
	{ID: "B9", From: updateReporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "the report says what changed since the last one"},
	{ID: "B10", From: updateReporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "as B9"},
	{ID: "B11", From: failed, To: deleted, Who: Admin, Nodes: NodesGo, Note: "removes every job of the batch too"},
	{ID: "B12", From: held, To: deleted, Who: Admin, Nodes: NodesGo, Note: "the answer warns that the depositor won't be told"},
	{ID: "B13", From: completed, To: deleted, Who: Automatic, Nodes: NodesGo},
	{ID: "B14", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "removes what another tool marked as deleted, once none of its jobs is unfinished"},
}

// batchesMrtZK are the transitions of a batch that the deployed client library
// allows. It has one more, B5f, for a failure. It has none out of Completed and
// Deleted: such a batch is removed.
var batchesMrtZK = []Transition{
	{ID: "B1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "creates submission, status and batch-uuids/UUID"},
	{ID: "B2", From: pending, To: held, Who: Worker, Nodes: NodesStay, Note: "collection hold"},
	{ID: "B3", From: pending, To: processing, Who: Worker, Nodes: NodesStay, Note: "creates states and the jobs (J1)"},
	{ID: "B4", From: held, To: pending, Who: Admin, Nodes: NodesStay},
	{ID: "B5", From: processing, To: reporting, Who: Event, Nodes: NodesStay, Note: "when batch-processing is empty (a watch, not a poll)"},
	{ID: "B5f", From: processing, To: failed, Who: Admin, Nodes: NodesStay, Note: "an administrator gives it up before all its jobs are done"},
	{ID: "B6", From: reporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "no job failed; writes status-report"},
	{ID: "B7", From: reporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "at least one job failed; status-report lists the failed and the successful jobs"},
	{ID: "B8", From: failed, To: updateReporting, Who: Admin, Nodes: NodesStay},
	{ID: "B9", From: updateReporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "the report says what changed since the last one"},
	{ID: "B10", From: updateReporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "as B9"},
	{ID: "B11", From: failed, To: deleted, Who: Admin, Nodes: NodesGo, Note: "removes every job of the batch too"},
	{ID: "B12", From: held, To: deleted, Who: Admin, Nodes: NodesGo, Note: "the answer warns that the depositor won't be told"},
	{ID: "B13", From: completed, To: Removed, Who: Automatic, Nodes: NodesGo},
	{ID: "B14", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "removes what the admin tool marked as deleted, once none of its jobs is unfinished"},
}
