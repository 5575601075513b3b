package newqueue

// accessesDesign are the transitions of an access request as the documents have
// them (docs/transitions.md, "Access requests"). No document has A8: it removes
// a request that another tool only marked as deleted.
var accessesDesign = []Transition{
	{ID: "A1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "creates token and status"},
	{ID: "A2", From: pending, To: processing, Who: Worker, Nodes: NodesStay},
	{ID: "A3", From: processing, To: completed, Who: Worker, Nodes: NodesStay},
	{ID: "A4", From: processing, To: failed, Who: Worker, Nodes: NodesStay},
	{ID: "A5", From: failed, To: processing, Who: Admin, Nodes: NodesStay},
	{ID: "A6", From: failed, To: deleted, Who: Admin, Nodes: NodesGo},
	{ID: "A7", From: completed, To: deleted, Who: Automatic, Nodes: NodesGo},
	{ID: "A8", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "removes what another tool marked as deleted"},
}

// accessesMrtZK are the transitions of an access request that the deployed client
// library allows. It has none out of Completed and Deleted: such a request is
// removed.
var accessesMrtZK = []Transition{
	{ID: "A1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "creates token and status"},
	{ID: "A2", From: pending, To: processing, Who: Worker, Nodes: NodesStay},
	{ID: "A3", From: processing, To: completed, Who: Worker, Nodes: NodesStay},
	{ID: "A4", From: processing, To: failed, Who: Worker, Nodes: NodesStay},
	{ID: "A5", From: failed, To: processing, Who: Admin, Nodes: NodesStay},
	{ID: "A6", From: failed, To: deleted, Who: Admin, Nodes: NodesGo},
	{ID: "A7", From: completed, To: Removed, Who: Automatic, Nodes: NodesGo},
	{ID: "A8", From: deleted, To: Removed, Who: Automatic, Nodes: NodesGo, Note: "removes what the admin tool marked as deleted"},
}
