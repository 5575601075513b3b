package newqueue

// jobsDesign is a job's life as the documents tell it (03-transitions).
var jobsDesign = []Transition{
	// id, from, to, who, last_successful_status, retry_count, queue entry, batch entry, nodes, note
	{"J1", Created, pending, BatchWorker, LSSNull, RetryZero, PlaceNew, PlaceNew, NodesNew, "written in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending"},
	{"J2", pending, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "bad digest or corrupt manifest; can't be resumed, last_successful_status is null"},
	{"J3", pending, held, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, "collection hold"},
	{"J4", pending, estimating, Worker, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J5", held, pending, Admin, LSSSame, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J6", estimating, provisioning, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "space_needed set (0 is unknown), priority may change: the entry carries the new one; estimating never fails"},
	{"J7", provisioning, downloading, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "a job without room stays; every job there is looked at in each pass"},
	{"J8", downloading, processing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "space_needed and priority may change again"},
	{"J9", downloading, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "message says why"},
	{"J10", processing, recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "identifiers written as soon as minted, before the transition; inventory written"},
	{"J11", processing, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J12", recording, notify, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J13", recording, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J14", notify, completed, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "the last one out wakes the batch's watcher"},
	{"J15", notify, failed, Worker, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16", failed, downloading, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "resume picks the step after last_successful_status"},
	{"J17", failed, processing, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J18", failed, recording, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J19", failed, notify, Admin, LSSSame, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J20", completed, deleted, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceStays, NodesAlone, "only the queue entry goes: the rest stays for reporting"},
	{"J21", failed, deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "the answer says that the depositor won't be told of this job, unless the batch is completed"},
	{"J22", held, deleted, Admin, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "as J21"},
}

// jobsMrtZK is a job's life as the deployed client library lets it be (02-new-layout,
// "Two dialects of one layout"). A letter after a number marks a row that the
// documents don't have, beside the row that it is most like: s for the storing
// step, f for a failure, p, e and v for a resumption at pending, estimating
// and provisioning. J10 stays the way into recording, which is from storing
// here, and J23 takes away what J21 and J22 only mark. No way leads on from the
// library's Completed: J20 removes it.
//
// The library writes the state just left when it resumes a job (Failed), and
// keeps that when the job fails again: nothing would tell where to go on. Its
// admin tool requeues by the last step of the work and knows no other value.
// So a failure and a resumption write that step, whatever was there.
var jobsMrtZK = []Transition{
	{"J1", Created, pending, BatchWorker, LSSNull, RetryZero, PlaceNew, PlaceNew, NodesNew, "written in three places: /jobs/JID, /batches/BID/states/batch-processing, /jobs/states/pending"},
	{"J2", pending, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "bad digest or corrupt manifest"},
	{"J3", pending, held, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "collection hold"},
	{"J4", pending, estimating, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J5", held, pending, Admin, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J6", estimating, provisioning, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "space_needed set (0 is unknown), priority may change: the entry carries the new one"},
	{"J6f", estimating, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J7", provisioning, downloading, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "a job without room stays; every job there is looked at in each pass"},
	{"J7f", provisioning, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J8", downloading, processing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "space_needed and priority may change again"},
	{"J9", downloading, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "message says why"},
	{"J10s", processing, storing, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "identifiers written as soon as minted, before the transition; store written"},
	{"J10", storing, recording, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, "inventory written"},
	{"J11", processing, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J11s", storing, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J12", recording, notify, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceStays, NodesStay, ""},
	{"J13", recording, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J14", notify, completed, Worker, LSSLeft, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "the last one out wakes the batch's watcher"},
	{"J15", notify, failed, Worker, LSSBefore, RetrySame, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16p", failed, pending, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16e", failed, estimating, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16v", failed, provisioning, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J16", failed, downloading, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, "resume picks the step after last_successful_status"},
	{"J17", failed, processing, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J17s", failed, storing, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J18", failed, recording, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J19", failed, notify, Admin, LSSBefore, RetryNext, PlaceMoves, PlaceMoves, NodesStay, ""},
	{"J20", completed, Removed, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, "once its batch is completed: until then its report needs the job"},
	{"J21", failed, deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "the answer says that the depositor won't be told of this job, unless the batch is completed"},
	{"J22", held, deleted, Admin, LSSSame, RetrySame, PlaceMoves, PlaceMoves, NodesStay, "as J21"},
	{"J23", deleted, Removed, Automatic, LSSNone, RetryNone, PlaceGoes, PlaceGoes, NodesGo, ""},
}
