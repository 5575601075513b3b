package newqueue

// accesses is an access request's life, the same in both dialects
// (03-transitions).
var accesses = []Transition{
	{ID: "A1", From: Created, To: pending, Who: API, Nodes: NodesNew, Note: "token and status"},
	{ID: "A2", From: pending, To: processing, Who: Worker, Nodes: NodesStay},
	{ID: "A3", From: processing, To: completed, Who: Worker, Nodes: NodesStay},
	{ID: "A4", From: processing, To: failed, Who: Worker, Nodes: NodesStay},
	{ID: "A5", From: failed, To: processing, Who: Admin, Nodes: NodesStay},
	{ID: "A6", From: failed, To: deleted, Who: Admin, Nodes: NodesGo},
	{ID: "A7", From: completed, To: deleted, Who: Automatic, Nodes: NodesGo},
}
