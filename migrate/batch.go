package migrate

import (
	"regexp"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// batchKind says which records are in a migrated batch.
type batchKind string

const (
	ofBatch     batchKind = "batch"     // a legacy batchID
	ofUnbatched batchKind = "unbatched" // a run's ingest records without a batchID
	ofInventory batchKind = "inventory" // a run's inventory records
)

// batchKey names a batch before it has a BID.
type batchKey struct {
	kind batchKind
	name string // the legacy batchID, or what a run calls its own batches
}

// keyOf is the batch that a job goes into (docs/migration.md, "Batches"). Each batchID
// is one batch. In each run, the records without a batchID share one batch, and the
// inventory records share another.
func keyOf(r Record, run string, d newqueue.Dialect) batchKey {
	if r.Queue == Inventory {
		return batchKey{ofInventory, ownBatchPrefix[d] + run}
	}
	if id := text(r.Legacy.Payload, "batchID"); strings.TrimSpace(id) != "" {
		return batchKey{ofBatch, strings.Clone(id)} // don't keep the whole text that it is part of
	}
	return batchKey{ofUnbatched, ownBatchPrefix[d] + run}
}

// ownBatchPrefix is put before the run in the name of a run's own batch: the
// deployed services look for "bid-" in every batchID (docs/deployed-services.md, R06).
var ownBatchPrefix = map[newqueue.Dialect]string{newqueue.MrtZK: "bid-"}

// ownBatchName is what uuid gives for a run's own batches, in either dialect.
var ownBatchName = regexp.MustCompile(`^(bid-)?run\d{10}-(unbatched|inventory)$`)

// uuid is the batch's name under /batch-uuids.
func (k batchKey) uuid() string {
	if k.kind == ofBatch {
		return k.name
	}
	return k.name + "-" + string(k.kind)
}

// batch is one batch, with what a plan needs to know of its jobs.
type batch struct {
	key batchKey
	run string // the run that created it
	bid string
	// number is the one that the plan gives to a new batch.
	number int64
	isNew  bool
	// index is one more than the batch's index in [Plan.batchList].
	index int32
	// count is how many of the plan's jobs are in it, new or not.
	count int
	// failed and completed are the jobs that the batch's report names, in the order of
	// their ids. The ids can still move; see [Plan.nameJobs].
	failed, completed   []member
	unfinishedInventory bool // a job of an unfinished inventory record is in it
	// dirty says that the plan adds jobs to the batch or changes some; planned is how
	// many.
	dirty   bool
	planned int
	// wrote is what a migrator last wrote into the batch; see [unitMaker].
	wrote   []leaf
	summary *batchSummary // what its jobs' records say of it
	tally   jobTally      // how many jobs are in which state
}

// addProperties adds what a job's record says of the batch. It doesn't count the job.
func (b *batch) addProperties(j *job, d newqueue.Dialect) {
	if b.summary == nil {
		b.summary = &batchSummary{}
	}
	b.summary.add(b.key, j, d)
}

// addJob adds a job: what its record says, and its state. It doesn't keep the job. Jobs
// come in the order of their ids.
func (b *batch) addJob(j *job, d newqueue.Dialect) {
	b.addProperties(j, d)
	b.tally.add(j)
}

// job is one migrated record, with its ids in the new queue.
type job struct {
	rec     *Record
	initial initialState
	run     string // the run that created it
	id      string // its jid, or the qid of an access request
	bid     string // "" for an access request
	batch   *batch // its batch in a plan; nil for an access request
}

// root is the job's or the access request's own znode.
func (j job) root() string {
	if isAccess(j.rec.Queue) {
		return newqueue.AccessRequestPath(accessQueue(j.rec.Queue), j.id)
	}
	return newqueue.JobPath(j.id)
}

func (j job) nodes(d newqueue.Dialect) []leaf {
	if isAccess(j.rec.Queue) {
		return accessNodes(*j.rec, j.initial, j.run, j.id, d)
	}
	return jobNodes(*j.rec, j.initial, j.run, j.bid, j.id, d)
}

// submissionFields fill a batch's submission from its jobs. A wide field should be the
// same in all of them. The other fields describe one object, and go into the
// submission only if all jobs agree.
var submissionFields = []struct {
	field
	wide bool
	set  func(*newqueue.Submission, string)
}{
	{field{key: "profile_name", property: "profile"}, true, func(s *newqueue.Submission, v string) { s.ProfileName = v }},
	{field{key: "submitter", property: "submitter"}, true, func(s *newqueue.Submission, v string) { s.Submitter = v }},
	{field{key: "type", property: "type"}, true, func(s *newqueue.Submission, v string) { s.Type = v }},
	{field{key: "payload_filename", property: "filename"}, false, func(s *newqueue.Submission, v string) { s.PayloadFilename = v }},
	{field{key: "erc_what", property: "title"}, false, func(s *newqueue.Submission, v string) { s.ErcWhat = v }},
	{field{key: "erc_who", property: "creator"}, false, func(s *newqueue.Submission, v string) { s.ErcWho = v }},
	{field{key: "erc_when", property: "date"}, false, func(s *newqueue.Submission, v string) { s.ErcWhen = v }},
	{field{key: "erc_where", property: "objectID"}, false, func(s *newqueue.Submission, v string) { s.ErcWhere = v }},
}

// state is processing while a job has to run, else failed if a job failed, else
// completed.
func (b *batch) state() newqueue.BatchState { return b.tally.state() }

// status is the batch's status, with the time of its jobs' last change. A failed batch
// also has a report: a later update report is compared with it.
func (b *batch) status() (newqueue.BatchStatus, *newqueue.StatusReport) {
	t := &b.tally
	st := newqueue.BatchStatus{State: t.state(), LastModified: t.last}
	if st.State != newqueue.BatchFailed {
		return st, nil
	}
	return st, &newqueue.StatusReport{FailedJobs: t.failed, Successful: t.successful, LastModified: t.last}
}

// folders are the folders of states that the batch has when it is complete.
// batch-processing is always one of them: without it, the client library would
// never report the batch (docs/new-layout.md, "Two dialects").
func (b *batch) folders() []newqueue.BatchFolder {
	t := &b.tally
	var folders []newqueue.BatchFolder
	for _, f := range newqueue.BatchFolders {
		if f == newqueue.FolderProcessing || t.in.of(f) > 0 {
			folders = append(folders, f)
		}
	}
	return folders
}

// nodes are the batch's own znodes without its jobs' entries, parents first.
// batch-processing comes last, because it is created last; see [progress.countUnit].
func (b *batch) nodes(d newqueue.Dialect) []leaf {
	path := newqueue.BatchPath(b.bid)
	nodes := []leaf{{path, batchProvenance{Run: b.run, Of: b.key.kind}.encode()}}
	nodes = append(nodes, b.contents(d)...)
	nodes = append(nodes, leaf{newqueue.BatchStatesPath(b.bid), none})
	for _, f := range b.folders() {
		if f != newqueue.FolderProcessing {
			nodes = append(nodes, leaf{newqueue.BatchFolderPath(b.bid, f), none})
		}
	}
	return append(nodes, leaf{newqueue.BatchUUIDPath(b.key.uuid()), []byte(b.bid)}, b.processing())
}

// processing is the folder batch-processing. If it exists and is empty, the batch is
// done.
func (b *batch) processing() leaf {
	return leaf{newqueue.BatchFolderPath(b.bid, newqueue.FolderProcessing), none}
}

// contents are the znodes that depend on the batch's jobs.
func (b *batch) contents(d newqueue.Dialect) []leaf {
	path := newqueue.BatchPath(b.bid)
	var nodes []leaf
	for _, o := range b.objects(d) {
		nodes = append(nodes, leaf{path + "/" + o.Node, encodeValues(o.Object)})
	}
	if _, report := b.status(); report != nil {
		nodes = append(nodes, leaf{path + "/status-report", encode(report.Object(d))})
	}
	return nodes
}

// objects are the JSON objects that the services read of the batch.
func (b *batch) objects(d newqueue.Dialect) []services.NodeObject {
	status, _ := b.status()
	return []services.NodeObject{
		{Node: "submission", Object: b.submissionObject(d)},
		{Node: "status", Object: status.Object(d)},
	}
}

// headerWidth is the status byte and the time before a record's payload
// (docs/legacy-format.md, "The header").
const headerWidth = 9
