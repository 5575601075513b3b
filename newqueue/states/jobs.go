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
	{"J1", Created, Pending, BatchWorker, LSSNull, RetryZero, PlaceNew, PlaceNew, NodesNew, "", "created in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending", both},
	{"J2", Pending, Failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "bad digest or corrupt manifest", mrtZKBefore},
	{"J3", Pending, Held, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "collection hold", mrtZKLeft},
	{"J4", Pending, Estimating, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "", mrtZKLeft},
	{"J5", Held, Pending, Admin, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "", mrtZKLeft},
	{"J6", Estimating, Provisioning, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "sets space_needed (0 if unknown); may change the priority, which the new entry carries", both},
	{"J6f", Estimating, Failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J7", Provisioning, Downloading, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "a job without room stays in provisioning; each pass looks at every job there", both},
	{"J7f", Provisioning, Failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J8", Downloading, Processing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "may change space_needed and priority again", both},
	{"J9", Downloading, Failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "the message says why", mrtZKBefore},
	{"J10", Processing, Recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "writes identifiers as soon as they are minted, before the transition; writes inventory", designOnly},
	{"J10s", Processing, Storing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "writes identifiers as soon as they are minted, before the transition; writes store", mrtZKOnly},
	{"J10", Storing, Recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "writes inventory", mrtZKOnly},
	{"J11", Processing, Failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKBefore},
	{"J11s", Storing, Failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J12", Recording, Notify, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "", "", both},
	{"J13", Recording, Failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKBefore},
	{"J14", Notify, Completed, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "when it is the batch's last job, the batch's watch fires", both},
	{"J15", Notify, Failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKBefore},
	{"J16p", Failed, Pending, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J16e", Failed, Estimating, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J16v", Failed, Provisioning, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J16", Failed, Downloading, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, OnceStepped, "the job resumes at the step after last_successful_status", mrtZKResumes},
	{"J17", Failed, Processing, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, OnceStepped, "", mrtZKResumes},
	{"J17s", Failed, Storing, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "", "", mrtZKOnly},
	{"J18", Failed, Recording, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, OnceStepped, "", mrtZKResumes},
	{"J19", Failed, Notify, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, OnceStepped, "", mrtZKResumes},
	{"J20", Completed, Deleted, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceStays, NodesAlone, "", "removes only the queue entry; the rest stays for the report", designOnly},
	{"J21", Failed, Deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "", "unless the batch is completed, the answer warns that the depositor won't be told of this job", designOnly},
	{"J21", Failed, Deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "unless the batch is completed, the answer warns that the depositor won't be told of this job", mrtZKOnly},
	{"J22", Held, Deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "", "as J21", designOnly},
	{"J22", Held, Deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "", "as J21", mrtZKOnly},
	{"J23", Deleted, Removed, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "", "removes what J21 and J22 marked as deleted", mrtZKOnly},
}
