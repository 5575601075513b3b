package layoutmap

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Places returns the code that checks the rules of [Map] which compare jobs,
// batches and their entries with each other. Of a job it keeps in memory only what
// the job's entries depend on.
func Places(d newqueue.Dialect) layout.NewNative {
	return func(report func(layout.Found)) layout.Native {
		return &places{d: d, report: report, jobs: map[string]*jobPlace{}, batches: map[string]*batchPlace{}}
	}
}

type places struct {
	d       newqueue.Dialect
	report  func(layout.Found)
	jobs    map[string]*jobPlace
	batches map[string]*batchPlace
	uuids   []uuidPlace
	queued  []queuePlace
	inBatch []folderPlace
}

// jobPlace has the properties of a job that its entries depend on. A property
// that can't be read is reported as content, and must not be reported a second
// time as a wrong entry.
type jobPlace struct {
	bid                           string
	hasBID, hasState, hasPriority bool
	state                         newqueue.JobState
	priority                      int
	inQueue, inBatch              bool // where it should be
}

func (j *jobPlace) read() bool { return j.hasState && j.hasPriority }

type batchPlace struct {
	uuid       string
	hasUUID    bool
	state      newqueue.BatchState
	hasStates  bool
	processing bool
}

type uuidPlace struct{ name, bid string }

type queuePlace struct{ path, jid string }

type folderPlace struct {
	bid    string
	folder newqueue.BatchFolder
	jid    string
}

// Visit remembers what the entries depend on.
func (p *places) Visit(v layout.Visit) {
	n := v.Znode
	switch v.Node.ID {
	case "batch-uuid":
		p.uuids = append(p.uuids, uuidPlace{v.Params.Get("uuid"), string(n.Data)})
	case "batch":
		p.batches[v.Params.Get("bid")] = &batchPlace{}
	case "batch-submission":
		p.submission(v)
	case "batch-status":
		o, _ := v.Value.(newqueue.Object)
		if s, err := o.BatchStatus(p.d); err == nil && s.State.Known() {
			p.batches[v.Params.Get("bid")].state = s.State
		}
	case "batch-states":
		b := p.batches[v.Params.Get("bid")]
		b.hasStates = true
		b.processing = slices.Contains(v.Children, string(newqueue.FolderProcessing))
	case "batch-entry":
		p.inBatch = append(p.inBatch, folderPlace{v.Params.Get("bid"), newqueue.BatchFolder(v.Params.Get("folder")), v.Params.Get("jid")})
	case "job":
		p.jobs[v.Params.Get("jid")] = &jobPlace{}
	case "job-bid":
		j := p.jobs[v.Params.Get("jid")]
		j.bid, j.hasBID = string(n.Data), true
	case "job-status":
		o, _ := v.Value.(newqueue.Object)
		s, err := o.JobStatus(p.d)
		if i := slices.Index(p.d.JobStates(), s.State); err == nil && i >= 0 {
			j := p.jobs[v.Params.Get("jid")]
			j.state, j.hasState = p.d.JobStates()[i], true
		}
	case "job-priority":
		if number, err := newqueue.ParsePriority(n.Data); err == nil {
			j := p.jobs[v.Params.Get("jid")]
			j.priority, j.hasPriority = number, true
		}
	case "queue-entry":
		p.queued = append(p.queued, queuePlace{n.Path, v.Params.Get("jid")})
	}
}

func (p *places) submission(v layout.Visit) {
	b := p.batches[v.Params.Get("bid")]
	s, err := newqueue.ParseSubmission(p.d, v.Znode.Data)
	switch {
	case err != nil && !noObject(p.d, v.Znode.Data):
	case s.BatchID == "":
		p.found("batch-submission/no-batchid", v.Znode.Path, "a batchID", "no batchID: its depositor can't find the batch")
	// encoding/json reads every Java string that is cut inside a character as
	// U+FFFD, so such strings can't be told apart here.
	case !strings.ContainsRune(s.BatchID, utf8.RuneError):
		b.uuid, b.hasUUID = s.BatchID, true
	}
}

// Done compares jobs, batches and entries, after all znodes were visited.
func (p *places) Done(time.Time) {
	for bid, b := range p.batches {
		p.batchStates(bid, b)
	}
	p.batchUUIDs()
	for jid, j := range p.jobs {
		if j.hasBID && p.batches[j.bid] == nil {
			p.lacks(newqueue.BatchPath(j.bid), "job-bid/orphan", newqueue.JobPath(jid)+"/bid", "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", j.bid))
		}
	}
	for _, q := range p.queued {
		p.queueEntry(q)
	}
	for _, e := range p.inBatch {
		p.batchEntry(e)
	}
	for jid, j := range p.jobs {
		if j.read() {
			p.entriesOf(jid, j)
		}
	}
}

func (p *places) found(rule, path, expected, found string) {
	p.report(layout.Found{Rule: rule, Path: path, Expected: expected, Found: found})
}

// lacks reports a problem that exists because another znode is missing.
func (p *places) lacks(absent, rule, path, expected, found string) {
	p.report(layout.Found{Rule: rule, Path: path, Expected: expected, Found: found, Absent: absent})
}

// batchStates checks /batches/BID/states. A batch has none exactly while it is
// pending or held. If there are states, batch-processing must be there, because
// without it the batch is never reported.
func (p *places) batchStates(bid string, b *batchPlace) {
	path := newqueue.BatchStatesPath(bid)
	waiting := b.state == newqueue.BatchPending || b.state == newqueue.BatchHeld
	switch {
	case !b.hasStates && b.state != "" && !waiting && b.state != newqueue.BatchDeleted:
		p.found("batch-states/no-states", path, "states, because the batch is "+string(b.state), "no states: it looks pending to a worker")
	case b.hasStates && waiting:
		p.found("batch-states/too-early", path, "no states, because the batch is "+string(b.state), "states: the client library will never take the batch")
	case b.hasStates && !b.processing && b.state != "":
		p.found("batch-states/no-processing", newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), "the folder, even empty", "it is not there: the batch is never reported")
	}
}

// batchUUIDs checks that batch-uuids and the submissions agree both ways.
func (p *places) batchUUIDs() {
	there := map[string]string{}
	for _, u := range p.uuids {
		path := znode.Join(newqueue.BatchUUIDsPath, u.name)
		there[u.name] = u.bid
		b := p.batches[u.bid]
		switch {
		case b == nil:
			p.lacks(newqueue.BatchPath(u.bid), "batch-uuid/orphan", path, "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", u.bid))
		case b.hasUUID && newqueue.BatchUUIDPath(b.uuid) != path:
			p.found("batch-uuid/other-batch", path, fmt.Sprintf("the batchID of batch %s, %.80q", u.bid, b.uuid), fmt.Sprintf("%.80q", u.name))
		}
	}
	for bid, b := range p.batches {
		if !b.hasUUID {
			continue
		}
		path := newqueue.BatchUUIDPath(b.uuid)
		other, ok := there[znode.Name(path)]
		switch {
		case !ok:
			p.found("batch-uuid/no-entry", path, "an entry for batch "+bid, "no entry: the batch can't be found by its batchID")
		case other != bid:
			p.found("batch-uuid/other-batch", path, fmt.Sprintf("%s, whose batchID this is", bid), fmt.Sprintf("%.40q", other))
		}
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
	return newqueue.JobEntryPath(j.state, j.priority, jid), optional
}

func (p *places) queueEntry(q queuePlace) {
	j := p.jobs[q.jid]
	if j == nil {
		p.lacks(newqueue.JobPath(q.jid), "queue-entry/orphan", q.path, "an entry of a job that exists", "job "+q.jid+" doesn't exist: a worker that takes it fails")
		return
	}
	if !j.read() {
		return
	}
	want, _ := p.wants(q.jid, j)
	if q.path == want {
		j.inQueue = true
		return
	}
	rule, right := "queue-entry/wrong-queue", "no entry in any queue"
	if want != "" {
		right = "its entry at " + want
		if znode.Parent(q.path) == znode.Parent(want) {
			rule = "queue-entry/wrong-priority"
		}
	}
	p.found(rule, q.path, right, fmt.Sprintf("an entry of job %s, which is %s with priority %d", q.jid, j.state, j.priority))
}

func (p *places) batchEntry(e folderPlace) {
	path := newqueue.BatchEntryPath(e.bid, e.folder, e.jid)
	j := p.jobs[e.jid]
	switch {
	case j == nil:
		p.lacks(newqueue.JobPath(e.jid), "batch-entry/orphan", path, "an entry of a job that exists", "job "+e.jid+" doesn't exist")
	case !j.read() && j.bid != e.bid, j.read() && p.batches[j.bid] != nil && j.bid != e.bid:
		p.found("batch-entry/other-batch", path, "an entry of a job of this batch", fmt.Sprintf("job %s belongs to batch %.40q", e.jid, j.bid))
	case !j.read() || p.batches[j.bid] == nil:
	case j.state.Folder() != e.folder:
		p.found("batch-entry/wrong-folder", path, "its entry at "+newqueue.BatchEntryPath(j.bid, j.state.Folder(), e.jid), fmt.Sprintf("an entry of job %s, which is %s", e.jid, j.state))
	default:
		j.inBatch = true
	}
}

// entriesOf reports the entries that a job lacks.
func (p *places) entriesOf(jid string, j *jobPlace) {
	want, optional := p.wants(jid, j)
	if !j.inQueue && !optional && want != "" {
		p.found("queue-entry/no-entry", want, fmt.Sprintf("an entry of job %s, which is %s", jid, j.state), "no entry: no worker will find the job")
	}
	if j.inBatch || p.batches[j.bid] == nil {
		return // the rule about the job's bid reports it
	}
	want = newqueue.BatchEntryPath(j.bid, j.state.Folder(), jid)
	p.found("batch-entry/no-entry", want, fmt.Sprintf("an entry of job %s, which is %s", jid, j.state), "no entry: its batch doesn't know of it")
}
