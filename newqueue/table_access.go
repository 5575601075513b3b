package newqueue

// accessesDesign is an access request's life (03-transitions). A8 is in no
// document: it takes away what somebody else has only marked as deleted.
var accessesDesign = []Transition{
	{ID: "A1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "token and status"},
	{ID: "A2", From: pending, To: processing, Who: Worker, Nodes: NodesStay},
	{ID: "A3", From: processing, To: completed, Who: Worker, Nodes: NodesStay},
	{ID: "A4", From: processing, To: failed, Who: Worker, Nodes: NodesStay},
	{ID: "A5", From: failed, To: processing, Who: Admin, Nodes: NodesStay},
	{ID: "A6", From: failed, To: deleted, Who: Admin, Nodes: NodesGo},
	{ID: "A7", From: completed, To: deleted, Who: Automatic, Nodes: NodesGo},
	{ID: "A8", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "what another tool has marked as deleted"},
}

// accessesMrtZK is an access request's life as the deployed client library lets
// it be: no way leads on from its Completed and Deleted, which are removed.
var accessesMrtZK = []Transition{
	{ID: "A1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "token and status"},
	{ID: "A2", From: pending, To: processing, Who: Worker, Nodes: NodesStay},
	{ID: "A3", From: processing, To: completed, Who: Worker, Nodes: NodesStay},
	{ID: "A4", From: processing, To: failed, Who: Worker, Nodes: NodesStay},
	{ID: "A5", From: failed, To: processing, Who: Admin, Nodes: NodesStay},
	{ID: "A6", From: failed, To: deleted, Who: Admin, Nodes: NodesGo},
	{ID: "A7", From: completed, To: Removed, Who: Automatic, Nodes: NodesGo},
	{ID: "A8", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "what the admin tool has marked as deleted"},
}
