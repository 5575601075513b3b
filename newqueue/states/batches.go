package states

// batches are the transitions of a batch (docs/transitions.md, "Batches"). The
// deployed client library has one more than the published design, B5f, for a
// failure. It has none out of Completed and Deleted: such a batch is removed. A pending
// batch becomes processing when a worker acquires it, so no worker can hold it. B14
// is not in the published design. It removes a batch that another tool, such as the
// library's admin tool, only marked as deleted.
var batches = []row{
	own("B1", Created, Pending, API, NodesCreated, "", "creates submission, status and batch-uuids/UUID", both),
	own("B2", Pending, Held, Worker, NodesKept, WithoutJobs, "collection hold", designOnly),
	own("B2", Pending, Held, Admin, NodesKept, WithoutJobs, "", mrtZKOnly),
	own("B3", Pending, Processing, Worker, NodesKept, WithoutJobs, "creates states and the jobs (J1)", designOnly),
	own("B3", Pending, Processing, Acquirer, NodesKept, WithoutJobs, "creates states; the worker then creates the jobs (J1)", mrtZKOnly),
	own("B4", Held, Pending, Admin, NodesKept, WithoutJobs, "", both),
	own("B5", Processing, Reporting, Event, NodesKept, OnceEmptied, "a watch, not a poll", both),
	own("B5f", Processing, Failed, Admin, NodesKept, "", "an administrator gives it up before all its jobs are done", mrtZKOnly),
	own("B6", Reporting, Completed, Worker, NodesKept, NoneFailed, "writes status-report", designOnly),
	own("B6", Reporting, Completed, Worker, NodesKept, NoneFailed, "", mrtZKOnly),
	own("B7", Reporting, Failed, Worker, NodesKept, SomeFailed, "status-report lists the failed and the successful jobs", designOnly),
	own("B7", Reporting, Failed, Worker, NodesKept, SomeFailed, "", mrtZKOnly),
	own("B8", Failed, UpdateReporting, Admin, NodesKept, "", "", both),
	own("B9", UpdateReporting, Completed, Worker, NodesKept, NoneFailed, "the report says what changed since the last one", designOnly),
	own("B9", UpdateReporting, Completed, Worker, NodesKept, NoneFailed, "the report lists all jobs again", mrtZKOnly),
	own("B10", UpdateReporting, Failed, Worker, NodesKept, SomeFailed, "as B9", both),
	own("B11", Failed, Deleted, Admin, NodesRemoved, "", "removes every job of the batch too", both),
	own("B12", Held, Deleted, Admin, NodesRemoved, "", "the answer warns that the depositor won't be told", both),
	own("B13", Completed, Deleted, Automatic, NodesRemoved, OnceFinished, "", designOnly),
	own("B13", Completed, Removed, Automatic, NodesRemoved, OnceFinished, "", mrtZKOnly),
	own("B14", Deleted, Removed, Automatic, NodesRemoved, OnceFinished, "removes what another tool marked as deleted", both),
}
