package states

// accesses are the transitions of an access request (docs/transitions.md,
// "Access requests"). The deployed client library has none out of Completed and
// Deleted: such a request is removed. A8 is not in the published design. It
// removes a request that another tool, such as the library's admin tool, only
// marked as deleted.
var accesses = []row{
	own("A1", Created, Pending, API, NodesCreated, "", "creates token and status", both),
	own("A2", Pending, Processing, Worker, NodesKept, "", "", both),
	own("A3", Processing, Completed, Worker, NodesKept, "", "", both),
	own("A4", Processing, Failed, Worker, NodesKept, "", "", both),
	own("A5", Failed, Processing, Admin, NodesKept, "", "", both),
	own("A6", Failed, Deleted, Admin, NodesRemoved, "", "", both),
	own("A7", Completed, Deleted, Automatic, NodesRemoved, "", "", designOnly),
	own("A7", Completed, Removed, Automatic, NodesRemoved, "", "", mrtZKOnly),
	own("A8", Deleted, Removed, Automatic, NodesRemoved, "", "removes what another tool marked as deleted", both),
}

// own is a row of a batch or of an access request. These have no entries and no
// retry count.
func own(id, from, to string, who Actor, nodes NodesChange, guard Guard, note string, differs difference) row {
	return row{id: id, from: from, to: to, who: who, nodes: nodes, guard: guard, note: note, differs: differs}
}
