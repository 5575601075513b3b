package states

// jobs are the transitions of a job (docs/transitions.md, "Jobs"), as the published
// design has them and as the deployed client library allows them
// (docs/new-layout.md, "Two dialects"). A letter after a number marks a row that
// the published design doesn't have. It is next to the most similar row: s is for the
// storing step, f for a failure, and p, e and v for a job that is resumed at
// pending, estimating or provisioning. J10 leads to recording in both dialects,
// in mrt-zk from storing. In mrt-zk J21 and J22 only mark a job as deleted, and
// J23 removes it. The library has no transition out of Completed: such a job is
// removed with its batch (B13).
//
// When the library resumes a job, it writes Failed as last_successful_status,
// and keeps it when the job fails again. Then nothing says where to resume. The
// library's admin tool resumes after the step in last_successful_status, and
// does nothing for Failed. So in mrt-zk a failure and a resume both write the
// step before, no matter what was there (mrtZKBefore, mrtZKResumes).
var jobs = []row{
	// id, from, to, who, last_successful_status, retry_count, queue entry, batch entry, nodes, guard, note, what differs
	{"J1", Created, Pending, BatchWorker, LSSNull, RetryZero, EntryCreated, EntryCreated, NodesCreated, "", "created in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending", both},
	{"J2", Pending, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "bad digest or corrupt manifest", mrtZKBefore},
	{"J3", Pending, Held, Worker, LSSSame, RetrySame, EntryMoved, EntryKept, NodesKept, "", "collection hold", mrtZKLeft},
	{"J4", Pending, Estimating, Worker, LSSSame, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", mrtZKLeft},
	{"J5", Held, Pending, Admin, LSSSame, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", mrtZKLeft},
	{"J6", Estimating, Provisioning, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "sets space_needed (0 if unknown); may change the priority, which the new entry carries", both},
	{"J6f", Estimating, Failed, Worker, LSSBefore, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J7", Provisioning, Downloading, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "a job without room stays in provisioning; each pass looks at every job there", both},
	{"J7f", Provisioning, Failed, Worker, LSSBefore, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J8", Downloading, Processing, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "may change space_needed and priority again", both},
	{"J9", Downloading, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "the message says why", mrtZKBefore},
	{"J10", Processing, Recording, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "writes identifiers as soon as they are minted, before the transition; writes inventory", designOnly},
	{"J10s", Processing, Storing, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "writes identifiers as soon as they are minted, before the transition; writes store", mrtZKOnly},
	{"J10", Storing, Recording, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "writes inventory", mrtZKOnly},
	{"J11", Processing, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKBefore},
	{"J11s", Storing, Failed, Worker, LSSBefore, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J12", Recording, Notify, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", both},
	{"J13", Recording, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKBefore},
	{"J14", Notify, Completed, Worker, LSSLeft, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "when it is the batch's last job, the batch's watch fires", both},
	{"J15", Notify, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKBefore},
	{"J16p", Failed, Pending, Admin, LSSBefore, RetryNext, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J16e", Failed, Estimating, Admin, LSSBefore, RetryNext, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J16v", Failed, Provisioning, Admin, LSSBefore, RetryNext, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J16", Failed, Downloading, Admin, LSSSame, RetryNext, EntryMoved, EntryMoved, NodesKept, OnceStepped, "the job resumes at the step after last_successful_status", mrtZKResumes},
	{"J17", Failed, Processing, Admin, LSSSame, RetryNext, EntryMoved, EntryMoved, NodesKept, OnceStepped, "", mrtZKResumes},
	{"J17s", Failed, Storing, Admin, LSSBefore, RetryNext, EntryMoved, EntryMoved, NodesKept, "", "", mrtZKOnly},
	{"J18", Failed, Recording, Admin, LSSSame, RetryNext, EntryMoved, EntryMoved, NodesKept, OnceStepped, "", mrtZKResumes},
	{"J19", Failed, Notify, Admin, LSSSame, RetryNext, EntryMoved, EntryMoved, NodesKept, OnceStepped, "", mrtZKResumes},
	{"J20", Completed, Deleted, Automatic, LSSNone, RetryNone, EntryRemoved, EntryKept, NodesUntouched, "", "removes only the queue entry; the rest stays for the report", designOnly},
	{"J21", Failed, Deleted, Admin, LSSNone, RetryNone, EntryRemoved, EntryRemoved, NodesRemoved, "", "unless the batch is completed, the answer warns that the depositor won't be told of this job", designOnly},
	{"J21", Failed, Deleted, Admin, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "unless the batch is completed, the answer warns that the depositor won't be told of this job", mrtZKOnly},
	{"J22", Held, Deleted, Admin, LSSNone, RetryNone, EntryRemoved, EntryRemoved, NodesRemoved, "", "as J21", designOnly},
	{"J22", Held, Deleted, Admin, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "as J21", mrtZKOnly},
	{"J23", Deleted, Removed, Automatic, LSSNone, RetryNone, EntryRemoved, EntryRemoved, NodesRemoved, "", "removes what J21 and J22 marked as deleted", mrtZKOnly},
}
