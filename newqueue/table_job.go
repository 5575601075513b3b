package newqueue

// jobsDesign are the transitions of a job as the documents have them
// (docs/transitions.md, "Jobs").
var jobsDesign = []Transition{
	// id, from, to, who, last_successful_status, retry_count, queue entry, batch entry, nodes, note
	{"J1", Created, pending, BatchWorker, LSSNull, RetryZero, PlaceNew, PlaceNew, NodesNew, "created in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending"},
	{"J2", pending, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "bad digest or corrupt manifest; it can't be resumed because last_successful_status is null"},
	{"J3", pending, held, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, "collection hold"},
	{"J4", pending, estimating, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J5", held, pending, Admin, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J6", estimating, provisioning, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "sets space_needed (0 if unknown); may change the priority, which the new entry carries; estimating never fails"},
	{"J7", provisioning, downloading, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "a job without room stays in provisioning; each pass looks at every job there"},
	{"J8", downloading, processing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "may change space_needed and priority again"},
	{"J9", downloading, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "the message says why"},
	{"J10", processing, recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "writes identifiers as soon as they are minted, before the transition; writes inventory"},
	{"J11", processing, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J12", recording, notify, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J13", recording, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J14", notify, completed, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "when it is the batch's last job, the batch's watch fires"},
	{"J15", notify, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16", failed, downloading, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "the job resumes at the step after last_successful_status"},
	{"J17", failed, processing, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J18", failed, recording, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J19", failed, notify, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J20", completed, deleted, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceStays, NodesAlone, "removes only the queue entry; the rest stays for the report"},
	{"J21", failed, deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "unless the batch is completed, the answer warns that the depositor won't be told of this job"},
	{"J22", held, deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "as J21"},
}

// jobsMrtZK are the transitions of a job that the deployed client library allows
// (docs/new-layout.md, "Two dialects"). A letter after a number marks a row that
// the documents don't have, next to the most similar row: s for the storing
// step, f for a failure; p, e and v for a job that is resumed at pending,
// estimating and provisioning. J10 is still the step into recording, here from
// storing. J21 and J22 only mark a job as deleted, and J23 removes it. The
// library has no transition out of Completed: J20 removes such a job.
//
// When the library resumes a job, it writes the state that the job leaves, which
// is Failed, and keeps that when the job fails again. Then nothing says where to
// resume. The library's admin tool requeues by the last step of the work, and
// knows no other value. So here a failure and a resume both write that step,
// whatever was there.
var jobsMrtZK = []Transition{
	{"J1", Created, pending, BatchWorker, LSSNull, RetryZero, PlaceNew, PlaceNew, NodesNew, "created in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending"},
	{"J2", pending, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "bad digest or corrupt manifest"},
	{"J3", pending, held, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "collection hold"},
	{"J4", pending, estimating, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J5", held, pending, Admin, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J6", estimating, provisioning, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "sets space_needed (0 if unknown); may change the priority, which the new entry carries"},
	{"J6f", estimating, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J7", provisioning, downloading, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "a job without room stays in provisioning; each pass looks at every job there"},
	{"J7f", provisioning, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J8", downloading, processing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "may change space_needed and priority again"},
	{"J9", downloading, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "the message says why"},
	{"J10s", processing, storing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "writes identifiers as soon as they are minted, before the transition; writes store"},
	{"J10", storing, recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "writes inventory"},
	{"J11", processing, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J11s", storing, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J12", recording, notify, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J13", recording, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J14", notify, completed, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "when it is the batch's last job, the batch's watch fires"},
	{"J15", notify, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16p", failed, pending, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16e", failed, estimating, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16v", failed, provisioning, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16", failed, downloading, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "the job resumes at the step after last_successful_status"},
	{"J17", failed, processing, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J17s", failed, storing, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J18", failed, recording, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J19", failed, notify, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J20", completed, Removed, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "only once its batch is completed, because until then the report needs the job"},
	{"J21", failed, deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "unless the batch is completed, the answer warns that the depositor won't be told of this job"},
	{"J22", held, deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "as J21"},
	{"J23", deleted, Removed, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "removes what J21 and J22 marked as deleted"},
}
