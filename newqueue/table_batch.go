package newqueue

// batchesDesign is a batch's life as the documents tell it (03-transitions).
// B14 is in none: it takes away what somebody else has only marked as deleted.
var batchesDesign = []Transition{
	{ID: "B1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "submission, status, batch-uuids/UUID"},
	{ID: "B2", From: pending, To: held, Who: Worker, Nodes: NodesStay, Note: "collection hold"},
	{ID: "B3", From: pending, To: processing, Who: Worker, Nodes: NodesStay, Note: "states made, jobs made (J1)"},
	{ID: "B4", From: held, To: pending, Who: Admin, Nodes: NodesStay},
	{ID: "B5", From: processing, To: reporting, Who: Event, Nodes: NodesStay, Note: "batch-processing is empty (a watch, not a poll)"},
	{ID: "B6", From: reporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "no failed job; status-report written"},
	{ID: "B7", From: reporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "at least one failed job; status-report lists both kinds"},
	{ID: "B8", From: failed, To: updateReporting, Who: Admin, Nodes: NodesStay},
	{ID: "B9", From: updateReporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "the report says what changed since the last one"},
	{ID: "B10", From: updateReporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "as B9"},
	{ID: "B11", From: failed, To: deleted, Who: Admin, Nodes: NodesGo, Note: "every job of the batch goes with it"},
	{ID: "B12", From: held, To: deleted, Who: Admin, Nodes: NodesGo, Note: "the depositor isn't told: the answer says so"},
	{ID: "B13", From: completed, To: deleted, Who: Automatic, Nodes: NodesGo},
	{ID: "B14", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "what another tool has marked as deleted, once no job of it is still to be done"},
}

// batchesMrtZK is a batch's life as the deployed client library lets it be: one
// way more, marked f for a failure, and none from Completed and Deleted, which
// are removed.
var batchesMrtZK = []Transition{
	{ID: "B1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "submission, status, batch-uuids/UUID"},
	{ID: "B2", From: pending, To: held, Who: Worker, Nodes: NodesStay, Note: "collection hold"},
	{ID: "B3", From: pending, To: processing, Who: Worker, Nodes: NodesStay, Note: "states made, jobs made (J1)"},
	{ID: "B4", From: held, To: pending, Who: Admin, Nodes: NodesStay},
	{ID: "B5", From: processing, To: reporting, Who: Event, Nodes: NodesStay, Note: "batch-processing is empty (a watch, not a poll)"},
	{ID: "B5f", From: processing, To: failed, Who: Admin, Nodes: NodesStay, Note: "given up before all its jobs were done"},
	{ID: "B6", From: reporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "no failed job; status-report written"},
	{ID: "B7", From: reporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "at least one failed job; status-report lists both kinds"},
	{ID: "B8", From: failed, To: updateReporting, Who: Admin, Nodes: NodesStay},
	{ID: "B9", From: updateReporting, To: completed, Who: Worker, Nodes: NodesStay, Note: "the report says what changed since the last one"},
	{ID: "B10", From: updateReporting, To: failed, Who: Worker, Nodes: NodesStay, Note: "as B9"},
	{ID: "B11", From: failed, To: deleted, Who: Admin, Nodes: NodesGo, Note: "every job of the batch goes with it"},
	{ID: "B12", From: held, To: deleted, Who: Admin, Nodes: NodesGo, Note: "the depositor isn't told: the answer says so"},
	{ID: "B13", From: completed, To: Removed, Who: Automatic, Nodes: NodesGo},
	{ID: "B14", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "what the admin tool has marked as deleted, once no job of it is still to be done"},
}
