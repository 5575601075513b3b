package merritt

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// newPlaces returns the code that checks the rules of the map which compare jobs,
// batches and their entries with each other. Of a job it keeps in memory only what
// the job's entries depend on.
func newPlaces(d newqueue.Dialect) layout.NewGoRules {
	return func(report func(layout.Finding, string)) layout.GoRules {
		p := &places{d: d, report: report, jobs: map[string]*jobPlace{}, batches: map[string]*batchPlace{}, first: map[jobKey]string{}}
		return layout.GoRules{Visit: p.visit, Done: p.done}
	}
}

type places struct {
	d       newqueue.Dialect
	report  func(f layout.Finding, absent string)
	jobs    map[string]*jobPlace // also those that only a batch entry names
	batches map[string]*batchPlace
	uuids   []uuidPlace
	more    []folderPlace // batch entries of jobs that have one already
	reading jobReading    // the job whose znodes pass
	first   map[jobKey]string
	held    bool // the ingest queue is held
}

// jobPlace has the properties of a job that its entries depend on. A property
// that can't be read is reported as content, and must not be reported a second
// time as a wrong entry. There can be millions, and the batch entries come first.
type jobPlace struct {
	there                         bool
	hasBID, hasState, hasPriority bool
	inQueue, inBatch              bool // where it should be
	priority                      uint8
	bid                           string
	state                         newqueue.JobState
	entryOf                       *batchPlace // the batch that has an entry of it, nil for none
	folder                        newqueue.BatchFolder
}

func (j *jobPlace) read() bool { return j.hasState && j.hasPriority }

type batchPlace struct {
	bid        string
	uuid       string
	hasUUID    bool
	state      newqueue.BatchState
	hasStates  bool
	processing bool
	jobs       bool  // a job names it as its batch
	unfinished bool  // it has an entry in batch-processing
	changed    int64 // when its state or that of a job of it has changed the last time, in ms
	locked     bool
}

type uuidPlace struct{ name, bid string }

type folderPlace struct {
	bid    string
	folder newqueue.BatchFolder
	jid    string
}

func (p *places) job(jid string) *jobPlace {
	j := p.jobs[jid]
	if j == nil {
		j = &jobPlace{}
		p.jobs[strings.Clone(jid)] = j // jid can be a part of a long path
	}
	return j
}

func (p *places) entry(of *batchPlace, folder newqueue.BatchFolder, jid string) {
	j := p.job(jid)
	folder = newqueue.BatchFolders[slices.Index(newqueue.BatchFolders, folder)] // folder can be a part of a long path
	if j.entryOf == nil {
		j.entryOf, j.folder = of, folder
		return
	}
	p.more = append(p.more, folderPlace{of.bid, folder, jid})
}

func (p *places) visit(v layout.Visit) {
	n, jid := v.Znode, v.Params.Get("jid")
	b, j := p.batches[v.Params.Get("bid")], p.jobs[jid]
	switch v.Node.ID {
	case "batch-uuid":
		p.uuids = append(p.uuids, uuidPlace{v.Params.Get("uuid"), string(n.Data)})
	case "batch":
		bid := v.Params.Get("bid")
		p.batches[bid] = &batchPlace{bid: bid}
	case "batch-submission":
		p.submission(b, n)
	case "batch-status":
		o, _ := v.Value.(newqueue.Object)
		s, err := newqueue.FromObject[newqueue.BatchStatus](p.d, o)
		if err == nil && s.State.Known() {
			b.state = s.State
		}
		b.changed = changedAt(s.LastModified, n, s.State == newqueue.BatchUpdateReporting)
	case "batch-lock":
		b.locked = true
	case "batch-states":
		b.hasStates = true
	case "batch-folder":
		b.processing = b.processing || v.Params.Get("folder") == string(newqueue.FolderProcessing)
	case "batch-entry":
		b.unfinished = b.unfinished || v.Params.Get("folder") == string(newqueue.FolderProcessing)
		p.entry(b, newqueue.BatchFolder(v.Params.Get("folder")), jid)
	case "job":
		p.configured()
		p.job(jid).there = true
		p.reading = jobReading{jid: jid}
	case "job-bid":
		j.bid, j.hasBID = string(n.Data), true
		if b := p.batches[j.bid]; b != nil {
			j.bid, b.jobs = b.bid, true
		}
	case "job-configuration":
		o, _ := v.Value.(newqueue.Object)
		p.reading.batchID, _ = o["batch_id"].(string)
		p.reading.jobID, _ = o["jobID"].(string)
	case "job-status":
		o, _ := v.Value.(newqueue.Object)
		s, err := newqueue.FromObject[newqueue.JobStatus](p.d, o)
		if i := slices.Index(p.d.JobStates(), s.State); err == nil && i >= 0 {
			j.state, j.hasState = p.d.JobStates()[i], true
		}
		if b := p.batches[j.bid]; b != nil {
			b.changed = max(b.changed, changedAt(s.LastModified, n, s.State == newqueue.JobDeleted))
		}
	case "job-priority":
		if number, err := newqueue.ParsePriority(n.Data); err == nil {
			j.priority, j.hasPriority = uint8(number), true
		}
	case "queue-entry":
		p.configured()
		p.queueEntry(n.Path, jid) // all jobs come before all queues
	case "queue-hold":
		p.held = p.held || v.Params.Get("hold") == string(newqueue.HoldIngest)
	}
}

func (p *places) submission(b *batchPlace, n znode.Node) {
	s, err := newqueue.Parse[newqueue.Submission](p.d, n.Data)
	switch {
	case err != nil && !p.d.IsEmptyObject(n.Data):
	case s.BatchID == "":
		p.found("batch-submission/no-batchid", "", n.Path, "", "a batchID", "no batchID: its depositor can't find the batch")
	// encoding/json reads every Java string that is cut inside a character as
	// U+FFFD, so such strings can't be told apart here.
	case !strings.ContainsRune(s.BatchID, utf8.RuneError):
		b.uuid, b.hasUUID = s.BatchID, true
	}
}

func (p *places) done(now time.Time) {
	for bid, b := range p.batches {
		p.batchStates(bid, b)
		p.batchReport(bid, b, now)
	}
	p.batchUUIDs()
	for jid, j := range p.jobs {
		if j.there && j.hasBID && p.batches[j.bid] == nil {
			p.found("job-bid/orphan", newqueue.JobPath(jid), newqueue.JobPath(jid)+"/bid", newqueue.BatchPath(j.bid), "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", j.bid))
		}
	}
	p.configured()
	for jid, j := range p.jobs {
		if j.entryOf != nil {
			p.batchEntry(folderPlace{j.entryOf.bid, j.folder, jid})
		}
	}
	for _, e := range p.more {
		p.batchEntry(e)
	}
	for jid, j := range p.jobs {
		if j.read() {
			p.entriesOf(jid, j)
		}
	}
}

// found reports a finding at path about an item, "" for none. absent is the znode that
// is missing, if that is not the one at path.
func (p *places) found(rule, item, path, absent, expected, found string) {
	p.report(layout.Finding{Rule: rule, Item: item, Path: path, Expected: expected, Found: found}, absent)
}

// batchStates checks /batches/BID/states. A batch has none exactly while it is
// pending or held and has no jobs: the library takes a batch without states for one
// whose jobs are still to be created. If there are states, batch-processing must be
// there, because without it the batch is never reported.
func (p *places) batchStates(bid string, b *batchPlace) {
	batch, path := newqueue.BatchPath(bid), newqueue.BatchStatesPath(bid)
	waiting := b.state == newqueue.BatchPending || b.state == newqueue.BatchHeld
	marked := b.state == newqueue.BatchDeleted && p.d == newqueue.Design // no worker looks at it
	switch {
	case !b.hasStates && b.state != "" && !marked && (!waiting || b.jobs):
		because := "the batch is " + string(b.state)
		if waiting {
			because = "it has jobs"
		}
		p.found("batch-states/no-states", batch, path, "", "states, because "+because, "no states: it looks pending to a worker")
	case b.hasStates && waiting:
		p.found("batch-states/too-early", batch, path, "", "no states, because the batch is "+string(b.state), "states: the client library will never take the batch")
	case b.hasStates && !b.processing && b.state == newqueue.BatchFailed && !b.jobs: // the services reject a bad submission so
	case b.hasStates && !b.processing && p.acquired(b) && b.locked: // its worker creates the jobs now
	case b.hasStates && !b.processing && b.state != "":
		found := "it is not there: the batch is never reported"
		switch {
		case b.state == newqueue.BatchDeleted:
			found = "it is not there: the hourly cleanup never removes the batch"
		case p.acquired(b):
			found = "it is not there, and the batch has no jobs: its worker died before it created them"
		}
		p.found("batch-states/no-processing", batch, newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), "", "the folder, even empty", found)
	}
}

// changedAt is when an item got its state: as its status says, else when that was written. An administrator's tool leaves the time
// as it was.
func changedAt(said time.Time, status znode.Node, byAdmin bool) int64 {
	if said.IsZero() || byAdmin {
		return status.Stat.Mtime
	}
	return said.UnixMilli()
}

// batchReport names a batch that should have been reported long ago: it waits for no job, and no worker has it. While the queue is
// held, nobody reports.
func (p *places) batchReport(bid string, b *batchPlace, now time.Time) {
	age := now.Sub(time.UnixMilli(b.changed))
	if !b.state.AwaitsReport() || b.unfinished || b.locked || !b.processing || b.changed == 0 || age < newqueue.ReportedWithin {
		return
	}
	f := layout.Finding{Rule: "batch-status/not-reported", Item: newqueue.BatchPath(bid), Path: newqueue.BatchPath(bid) + "/status",
		Expected: "a report within a day, because none of its jobs is unfinished", Found: fmt.Sprintf("it is %s, and has not changed for %d days", b.state, int(age.Hours()/24))}
	if p.held {
		f.Severity, f.Found = layout.Info, f.Found+"; the queue is held"
	}
	p.report(f, "")
}

// acquired reports whether a batch is as a worker acquires it in dialect mrt-zk: already
// processing, and without jobs.
func (p *places) acquired(b *batchPlace) bool {
	return p.d == newqueue.MrtZK && b.state == newqueue.BatchProcessing && !b.jobs
}

func (p *places) batchUUIDs() {
	there := map[string]string{}
	for _, u := range p.uuids {
		path := znode.Join(newqueue.BatchUUIDsPath, u.name)
		there[path] = u.bid
		b := p.batches[u.bid]
		switch {
		case b == nil:
			p.found("batch-uuid/orphan", "", path, newqueue.BatchPath(u.bid), "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", u.bid))
		case b.hasUUID && newqueue.BatchUUIDPath(b.uuid) != path:
			p.found("batch-uuid/other-batch", "", path, "", fmt.Sprintf("the batchID of batch %s, %.80q", u.bid, b.uuid), fmt.Sprintf("%.80q", u.name))
		}
	}
	for bid, b := range p.batches {
		// A deployed cleanup removes the name first. If it is killed then, the next one removes the batch.
		cleaned := p.d == newqueue.MrtZK && (b.state == newqueue.BatchCompleted || b.state == newqueue.BatchDeleted)
		if !b.hasUUID {
			continue
		}
		path := newqueue.BatchUUIDPath(b.uuid)
		found := "no entry: the batch can't be found by its batchID"
		switch other, ok := there[path]; {
		case other == bid, !ok && cleaned:
			continue
		case ok:
			found = fmt.Sprintf("an entry for %.40q: batch %s can't be found by its batchID", other, bid)
		}
		p.found("batch-uuid/no-entry", newqueue.BatchPath(bid), path, "", "an entry for batch "+bid, found)
	}
}

// wants returns the queue entry that a job should have, "" for none. optional
// reports whether it may be missing.
func (p *places) wants(jid string, j *jobPlace) (entry string, optional bool) {
	switch {
	case j.state == newqueue.JobDeleted && !p.d.KeepsDeleted():
		return "", true
	case j.state == newqueue.JobCompleted && !p.d.KeepsDeleted():
		optional = true // J20 removes only the queue entry of a completed job
	}
	return newqueue.JobEntryPath(j.state, int(j.priority), jid), optional
}

func (p *places) queueEntry(path, jid string) {
	job, j := newqueue.JobPath(jid), p.jobs[jid]
	if j == nil || !j.there {
		p.found("queue-entry/orphan", "", path, job, "an entry of a job that exists", "job "+jid+" doesn't exist: a worker that takes it fails")
		return
	}
	if _, _, err := newqueue.ParseJobEntry(znode.Name(path)); err != nil {
		p.found("queue-entry/three-digits", job, path, "", "an entry whose priority has two digits", "a priority of three digits: no daemon finds the job")
		return
	}
	if !j.read() {
		return
	}
	want, _ := p.wants(jid, j)
	if path == want {
		j.inQueue = true
		return
	}
	rule, right := "queue-entry/wrong-queue", "no entry in any queue"
	if want != "" {
		right = "its entry at " + want
		if znode.Parent(path) == znode.Parent(want) {
			rule = "queue-entry/wrong-priority"
		}
	}
	p.found(rule, job, path, "", right, fmt.Sprintf("an entry of job %s, which is %s with priority %d", jid, j.state, j.priority))
}

func (p *places) batchEntry(e folderPlace) {
	path, job, j := newqueue.BatchEntryPath(e.bid, e.folder, e.jid), newqueue.JobPath(e.jid), p.jobs[e.jid]
	switch {
	case !j.there:
		p.found("batch-entry/orphan", "", path, job, "an entry of a job that exists", "job "+e.jid+" doesn't exist")
	case !j.read() && j.bid != e.bid, j.read() && p.batches[j.bid] != nil && j.bid != e.bid:
		p.found("batch-entry/other-batch", job, path, "", "an entry of a job of this batch", fmt.Sprintf("job %s belongs to batch %.40q", e.jid, j.bid))
	case !j.read() || p.batches[j.bid] == nil:
	case j.state.Folder() != e.folder:
		p.found("batch-entry/wrong-folder", job, path, "", "its entry at "+newqueue.BatchEntryPath(j.bid, j.state.Folder(), e.jid), fmt.Sprintf("an entry of job %s, which is %s", e.jid, j.state))
	default:
		j.inBatch = true
	}
}

func (p *places) entriesOf(jid string, j *jobPlace) {
	right := fmt.Sprintf("an entry of job %s, which is %s", jid, j.state)
	want, optional := p.wants(jid, j)
	if !j.inQueue && !optional && want != "" {
		p.found("queue-entry/no-entry", newqueue.JobPath(jid), want, "", right, "no entry: no worker will find the job")
	}
	if j.inBatch || p.batches[j.bid] == nil {
		return // the rule about the job's bid reports it
	}
	p.found("batch-entry/no-entry", newqueue.JobPath(jid), newqueue.BatchEntryPath(j.bid, j.state.Folder(), jid), "", right, "no entry: its batch doesn't know of it")
}

// jobReading has what of a job's configuration depends on other znodes. It is kept only while
// the job's znodes pass.
type jobReading struct {
	jid            string
	batchID, jobID string // batch_id and jobID of its configuration, "" for none
}

// jobKey stands for a BID and a jobID. It is a digest, because a tree can have millions.
type jobKey [16]byte

// configured compares the configuration of the job that was read last with its batch, and with
// those of the batch's earlier jobs. In dialect mrt-zk, two unfinished jobs with one jobID work in
// one folder (docs/deployed-services.md, "The payload").
func (p *places) configured() {
	r := p.reading
	p.reading = jobReading{}
	if r.jid == "" {
		return
	}
	j, job := p.jobs[r.jid], newqueue.JobPath(r.jid)
	path := job + "/configuration"
	if j.hasBID && r.batchID != "" && r.batchID != j.bid {
		p.found("job-configuration/other-batch", job, path, "", "batch_id "+j.bid+", as the job's bid", fmt.Sprintf("batch_id %.40q", r.batchID))
	}
	if p.d != newqueue.MrtZK || r.jobID == "" || j.state == newqueue.JobCompleted || j.state == newqueue.JobDeleted {
		return
	}
	sum := sha256.Sum256([]byte(j.bid + "\x00" + r.jobID))
	key := jobKey(sum[:16])
	if other := p.first[key]; other != "" {
		p.found("job-configuration/same-job", job, path, "", "a jobID that no other unfinished job of the batch has", fmt.Sprintf("jobID %.40q, as %s has", r.jobID, newqueue.JobPath(other)))
		return
	}
	p.first[key] = r.jid
}
