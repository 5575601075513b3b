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
		return &places{d: d, report: report, jobs: map[string]*jobPlace{}, batches: map[string]*batchPlace{}, folders: map[string]bool{}}
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
	folders map[string]bool // queues of states and folders of batches that are there
}

// jobPlace has the properties of a job that its entries depend on. A property
// that can't be read is reported as content, and must not be reported a second
// time as a wrong entry.
type jobPlace struct {
	bid                                     string
	hasBID, hasState, hasPriority           bool
	state                                   newqueue.JobState
	priority                                int
	bidVersion, statusVersion, priorVersion int32
	inQueue, inBatch                        bool // where it should be
}

func (j *jobPlace) read() bool { return j.hasState && j.hasPriority }

type batchPlace struct {
	uuid        string
	hasUUID     bool
	submission  int32 // version
	state       newqueue.BatchState
	status      int32 // version
	hasStates   bool
	processing  bool
	empty       bool // states has no children
	statesIsNew int32
}

type uuidPlace struct {
	name, bid string
	version   int32
}

type queuePlace struct {
	path, jid string
	version   int32
}

type folderPlace struct {
	bid     string
	folder  newqueue.BatchFolder
	jid     string
	version int32
}

// Visit remembers what the entries depend on.
func (p *places) Visit(v layout.Visit) {
	n := v.Znode
	switch v.Node.ID {
	case "batch-uuid":
		p.uuids = append(p.uuids, uuidPlace{v.Params.Get("uuid"), string(n.Data), n.Stat.Version})
	case "batch":
		p.batches[v.Params.Get("bid")] = &batchPlace{}
	case "batch-submission":
		p.submission(v)
	case "batch-status":
		o, _ := v.Value.(newqueue.Object)
		if s, err := o.BatchStatus(p.d); err == nil && s.State.Known() {
			b := p.batches[v.Params.Get("bid")]
			b.state, b.status = s.State, n.Stat.Version
		}
	case "batch-states":
		b := p.batches[v.Params.Get("bid")]
		b.hasStates, b.empty, b.statesIsNew = true, len(v.Children) == 0, n.Stat.Version
		b.processing = slices.Contains(v.Children, string(newqueue.FolderProcessing))
	case "batch-folder", "job-state":
		p.folders[n.Path] = true
	case "batch-entry":
		p.inBatch = append(p.inBatch, folderPlace{v.Params.Get("bid"), newqueue.BatchFolder(v.Params.Get("folder")), v.Params.Get("jid"), n.Stat.Version})
	case "job":
		p.jobs[v.Params.Get("jid")] = &jobPlace{}
	case "job-bid":
		j := p.jobs[v.Params.Get("jid")]
		j.bid, j.hasBID, j.bidVersion = string(n.Data), true, n.Stat.Version
	case "job-status":
		o, _ := v.Value.(newqueue.Object)
		s, err := o.JobStatus(p.d)
		j := p.jobs[v.Params.Get("jid")]
		j.statusVersion = n.Stat.Version
		if i := slices.Index(p.d.JobStates(), s.State); err == nil && i >= 0 {
			j.state, j.hasState = p.d.JobStates()[i], true
		}
	case "job-priority":
		if number, err := newqueue.ParsePriority(n.Data); err == nil {
			j := p.jobs[v.Params.Get("jid")]
			j.priority, j.hasPriority, j.priorVersion = number, true, n.Stat.Version
		}
	case "queue-entry":
		p.queued = append(p.queued, queuePlace{n.Path, v.Params.Get("jid"), n.Stat.Version})
	}
}

func (p *places) submission(v layout.Visit) {
	b := p.batches[v.Params.Get("bid")]
	b.submission = v.Znode.Stat.Version
	s, err := newqueue.ParseSubmission(p.d, v.Znode.Data)
	switch {
	case err != nil && !noObject(p.d, v.Znode.Data):
	case s.BatchID == "":
		p.found("batch-submission/no-batchid", v.Znode.Path, "a batchID", "no batchID: its depositor can't find the batch", "", nil)
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
			p.lacks(newqueue.BatchPath(j.bid), "job-bid/orphan", newqueue.JobPath(jid)+"/bid", "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", j.bid), "Find the job's batch by the batches' entries, or delete the job.", nil)
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

func (p *places) found(rule, path, expected, found, mend string, fix *layout.Fix) {
	p.lacks("", rule, path, expected, found, mend, fix)
}

// lacks reports a problem that exists because another znode is missing.
func (p *places) lacks(absent, rule, path, expected, found, mend string, fix *layout.Fix) {
	p.report(layout.Found{Rule: rule, Path: path, Expected: expected, Found: found, Mend: mend, Fix: fix, Absent: absent})
}

// batchStates checks /batches/BID/states. A batch has none exactly while it is
// pending or held. If there are states, batch-processing must be there, because
// without it the batch is never reported.
func (p *places) batchStates(bid string, b *batchPlace) {
	path := newqueue.BatchStatesPath(bid)
	waiting := b.state == newqueue.BatchPending || b.state == newqueue.BatchHeld
	unchanged := znode.Check(newqueue.BatchPath(bid)+"/status", b.status)
	locks := []string{newqueue.BatchPath(bid) + "/lock"}
	switch {
	case !b.hasStates && b.state != "" && !waiting && b.state != newqueue.BatchDeleted:
		p.found("batch-states/no-states", path, "states, because the batch is "+string(b.state), "no states: it looks pending to a worker",
			"Create states and states/batch-processing.", &layout.Fix{Ops: []znode.Op{unchanged, znode.Create(path, nil), znode.Create(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), nil)}, Locks: locks})
	case b.hasStates && waiting:
		var fix *layout.Fix
		if b.empty {
			fix = &layout.Fix{Ops: []znode.Op{unchanged, znode.Delete(path, b.statesIsNew)}, Locks: locks}
		}
		p.found("batch-states/too-early", path, "no states, because the batch is "+string(b.state), "states: the client library will never take the batch",
			"Delete them while no worker has the batch. If there are entries of jobs in them, find out first who created those.", fix)
	case b.hasStates && !b.processing && b.state != "":
		p.found("batch-states/no-processing", newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), "the folder, even empty", "it is not there: the batch is never reported",
			"Create it.", &layout.Fix{Ops: []znode.Op{unchanged, znode.Create(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), nil)}, Locks: locks})
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
			p.lacks(newqueue.BatchPath(u.bid), "batch-uuid/orphan", path, "a batch that exists", fmt.Sprintf("batch %.40q, which doesn't exist", u.bid), "Delete the entry.", &layout.Fix{Ops: []znode.Op{znode.Delete(path, u.version)}})
		case b.hasUUID && newqueue.BatchUUIDPath(b.uuid) != path:
			p.found("batch-uuid/other-batch", path, fmt.Sprintf("the batchID of batch %s, %.80q", u.bid, b.uuid), fmt.Sprintf("%.80q", u.name), "Delete the entry if no batch has this batchID.", nil)
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
			p.found("batch-uuid/no-entry", path, "an entry for batch "+bid, "no entry: the batch can't be found by its batchID", "Create it.",
				&layout.Fix{Ops: []znode.Op{znode.Check(newqueue.BatchPath(bid)+"/submission", b.submission), znode.Create(path, []byte(bid))}, Locks: []string{newqueue.BatchPath(bid) + "/lock"}})
		case other != bid:
			p.found("batch-uuid/other-batch", path, fmt.Sprintf("%s, whose batchID this is", bid), fmt.Sprintf("%.40q", other), "", nil)
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

// guards are checks that a job has not changed since it was read.
func (j *jobPlace) guards(jid string) []znode.Op {
	path := newqueue.JobPath(jid)
	return []znode.Op{znode.Check(path+"/status", j.statusVersion), znode.Check(path+"/priority", j.priorVersion)}
}

// create adds to ops the creation of an entry, and of its folder if it is
// missing.
func (p *places) create(ops []znode.Op, entry string) []znode.Op {
	if folder := znode.Parent(entry); !p.folders[folder] {
		ops = append(ops, znode.Create(folder, nil))
	}
	return append(ops, znode.Create(entry, nil))
}

func (p *places) queueEntry(q queuePlace) {
	j := p.jobs[q.jid]
	if j == nil {
		p.lacks(newqueue.JobPath(q.jid), "queue-entry/orphan", q.path, "an entry of a job that exists", "job "+q.jid+" doesn't exist: a worker that takes it fails", "Delete the entry.",
			&layout.Fix{Ops: []znode.Op{znode.Delete(q.path, q.version)}})
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
	p.found(rule, q.path, right, fmt.Sprintf("an entry of job %s, which is %s with priority %d", q.jid, j.state, j.priority), "Delete the entry.",
		&layout.Fix{Ops: append(j.guards(q.jid), znode.Delete(q.path, q.version)), Locks: []string{newqueue.JobPath(q.jid) + "/lock"}})
}

func (p *places) batchEntry(e folderPlace) {
	path := newqueue.BatchEntryPath(e.bid, e.folder, e.jid)
	j := p.jobs[e.jid]
	if j == nil {
		p.lacks(newqueue.JobPath(e.jid), "batch-entry/orphan", path, "an entry of a job that exists", "job "+e.jid+" doesn't exist", "Delete the entry.",
			&layout.Fix{Ops: []znode.Op{znode.Delete(path, e.version)}, Locks: []string{newqueue.BatchPath(e.bid) + "/lock"}})
		return
	}
	fix := &layout.Fix{Ops: append(j.guards(e.jid), znode.Check(newqueue.JobPath(e.jid)+"/bid", j.bidVersion), znode.Delete(path, e.version)), Locks: []string{newqueue.JobPath(e.jid) + "/lock", newqueue.BatchPath(e.bid) + "/lock"}}
	switch {
	case !j.read() && j.bid != e.bid, j.read() && p.batches[j.bid] != nil && j.bid != e.bid:
		if !j.read() {
			fix = nil
		}
		p.found("batch-entry/other-batch", path, "an entry of a job of this batch", fmt.Sprintf("job %s belongs to batch %.40q", e.jid, j.bid), "Delete the entry.", fix)
	case !j.read() || p.batches[j.bid] == nil:
	case j.state.Folder() != e.folder:
		p.found("batch-entry/wrong-folder", path, "its entry at "+newqueue.BatchEntryPath(j.bid, j.state.Folder(), e.jid), fmt.Sprintf("an entry of job %s, which is %s", e.jid, j.state), "Delete the entry.", fix)
	default:
		j.inBatch = true
	}
}

// entriesOf reports the entries that a job lacks.
func (p *places) entriesOf(jid string, j *jobPlace) {
	want, optional := p.wants(jid, j)
	if !j.inQueue && !optional && want != "" {
		p.found("queue-entry/no-entry", want, fmt.Sprintf("an entry of job %s, which is %s", jid, j.state), "no entry: no worker will find the job", "Create it.",
			&layout.Fix{Ops: p.create(j.guards(jid), want), Locks: []string{newqueue.JobPath(jid) + "/lock"}})
	}
	if j.inBatch || p.batches[j.bid] == nil {
		return // the rule about the job's bid reports it
	}
	want = newqueue.BatchEntryPath(j.bid, j.state.Folder(), jid)
	p.found("batch-entry/no-entry", want, fmt.Sprintf("an entry of job %s, which is %s", jid, j.state), "no entry: its batch doesn't know of it", "Create it.",
		&layout.Fix{Ops: p.create(append(j.guards(jid), znode.Check(newqueue.JobPath(jid)+"/bid", j.bidVersion)), want), Locks: []string{newqueue.JobPath(jid) + "/lock", newqueue.BatchPath(j.bid) + "/lock"}})
}
