package states

// accesses are the transitions of an access request (docs/transitions.md,
// "Access requests"). The deployed client library has none out of Completed and
// Deleted: such a request is removed. A8 is not in the published design. It
// removes a request that another tool, such as the library's admin tool, only
// marked as deleted.
var accesses = []row{
	own("A1", Created, Pending, API, NodesNew, "", "creates token and status", both),
	own("A2", Pending, Processing, Worker, NodesStay, "", "", both),
	own("A3", Processing, Completed, Worker, NodesStay, "", "", both),
	own("A4", Processing, Failed, Worker, NodesStay, "", "", both),
	own("A5", Failed, Processing, Admin, NodesStay, "", "", both),
	own("A6", Failed, Deleted, Admin, NodesGo, "", "", both),
	own("A7", Completed, Deleted, Automatic, NodesGo, "", "", designOnly),
	own("A7", Completed, Removed, Automatic, NodesGo, "", "", mrtZKOnly),
	own("A8", Deleted, Removed, Automatic, NodesGo, "", "removes what another tool marked as deleted", both),
}

// own is a row of a batch or of an access request. These have no entries and no
// retry count.
func own(id, from, to string, who Actor, nodes Nodes, guard Guard, note string, differs difference) row {
	return row{id: id, from: from, to: to, who: who, nodes: nodes, guard: guard, note: note, differs: differs}
}
