package newqueue

import (
	"fmt"
	"strings"

	"mrtq/internal/znode"
)

// jobProperties are the children that a job may have (docs/new-layout.md, "Paths").
func (c *checker) jobProperties(j *checkedJob) []property {
	props := []property{
		{"bid", true, func(_ *checker, _ string, data []byte) { j.bid = string(data) }},
		{"configuration", true, object(texts("profile_name", "submitter", "payload_url", "payload_type", "response_type"))},
		{"status", true, j.status},
		{"priority", true, j.checkPriority},
		// The client library fails on a job without it. In the documents, the
		// estimating step writes it.
		{"space_needed", c.d == MrtZK, content(ParseNumber)},
		{"identifiers", false, object(content(ParseIdentifiers))},
		{"metadata", false, object(content(ParseMetadata))},
		{"inventory", false, object(content(ParseInventory))},
		{"lock", false, lockNode},
	}
	if c.d == MrtZK {
		props = append(props, property{"store", false, object(content(ParseStore))})
	}
	return props
}

// jobNodes reads every /jobs/JID.
func (c *checker) jobNodes() {
	isJob := isID(JobPrefix)
	for _, jid := range c.children(JobsPath, RuleName, "states, or a job's id (jid and ten digits)", func(name string) bool {
		return name == "states" || isJob(name)
	}) {
		if jid == "states" {
			continue
		}
		// Until both are read. What can't be read is reported as content, and
		// must not be reported as a wrong place, too.
		j := &checkedJob{read: true, priority: -1}
		c.jobs[jid] = j
		path := JobPath(jid)
		c.properties(path, c.jobProperties(j))
		j.read = j.read && j.state != "" && j.priority >= 0
		if c.tree.Get(path+"/bid") != nil && c.tree.Get(BatchPath(j.bid)) == nil {
			c.add(path+"/bid", RuleOrphan, "its batch %.40q doesn't exist", j.bid)
		}
	}
}

func (j *checkedJob) status(c *checker, path string, data []byte) {
	s, err := ParseJobStatus(c.d, data)
	if err != nil {
		c.add(path, RuleContent, "%v", err)
		j.read = false
		return
	}
	j.state = s.State
	if _, ok := c.d.jobStateOf(s.State); !ok {
		c.add(path, RuleState, "status %s: no job's state in dialect %s", s.State, c.d)
		j.read = false
	}
	if _, ok := c.d.jobStateOf(s.LastSuccessful); !ok && s.LastSuccessful != "" {
		c.add(path, RuleState, "last_successful_status %s: no job's state in dialect %s", s.LastSuccessful, c.d)
	}
	c.statusTime(path, data, c.d.jobTimeField())
	if o, _ := ParseObject(data); o["retry_count"] == nil {
		c.add(path, RuleContent, "retry_count is missing")
	}
}

func (j *checkedJob) checkPriority(c *checker, path string, data []byte) {
	n, err := ParsePriority(data)
	if err != nil {
		c.add(path, RulePriority, "%v", err)
		return
	}
	j.priority = n
}

// jobStateOf is a state of this dialect. ok is false for any other.
func (d Dialect) jobStateOf(s JobState) (JobState, bool) {
	for _, known := range d.JobStates() {
		if s == known {
			return s, true
		}
	}
	return "", false
}

// queueEntries reads /jobs/states/STATE/PP-JID.
func (c *checker) queueEntries() {
	for _, state := range c.children(JobStatesPath, RuleState, "the name of a job's state in dialect "+string(c.d), oneOf(c.d.JobStates())) {
		folder := JobStatePath(JobState(state))
		for _, name := range c.tree.Children(folder) {
			path := znode.Join(folder, name)
			c.leaf(path)
			_, jid, err := ParseJobEntry(name)
			if err != nil {
				c.add(path, RuleName, "%v", err)
				continue
			}
			j := c.jobs[jid]
			if j == nil {
				c.add(path, RuleOrphan, "job %s doesn't exist: a worker that takes it fails", jid)
				continue
			}
			j.queueEntries = append(j.queueEntries, path)
		}
	}
}

// ParseJobEntry splits the name of a queue entry, PP-JID.
func ParseJobEntry(name string) (priority int, jid string, err error) {
	pp, jid, found := strings.Cut(name, "-")
	if !found || len(pp) != 2 || !isID(JobPrefix)(jid) {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: want two digits of priority, - and a job's id", name)
	}
	n, err := ParseNumber([]byte(pp))
	if err != nil {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: its priority %w", name, err)
	}
	return int(n), jid, nil
}

// jobPlaces checks that each job has the entries that its state and priority
// say.
func (c *checker) jobPlaces() {
	for jid, j := range c.jobs {
		if !j.read {
			continue
		}
		c.queuePlace(jid, j)
		c.batchPlace(jid, j)
	}
}

func (c *checker) queuePlace(jid string, j *checkedJob) {
	want := JobEntryPath(j.state, j.priority, jid)
	optional := false
	switch {
	case j.state == JobDeleted && !c.d.KeepsDeleted():
		want = ""
	case j.state == JobCompleted && !c.d.KeepsDeleted():
		optional = true // J20 removes only the queue entry of a completed job
	}
	found := false
	for _, e := range j.queueEntries {
		if e == want {
			found = true
			continue
		}
		rule, right := RuleQueueEntry, "it should be in no queue"
		if want != "" {
			right = "its entry should be " + want
			if znode.Parent(e) == znode.Parent(want) {
				rule = RulePriority
			}
		}
		c.add(e, rule, "job %s is %s with priority %d: %s", jid, j.state, j.priority, right)
	}
	if !found && !optional && want != "" {
		c.add(want, RuleQueueEntry, "job %s is %s and has no entry there: no worker will find it", jid, j.state)
	}
}

func (c *checker) batchPlace(jid string, j *checkedJob) {
	if c.tree.Get(BatchPath(j.bid)) == nil {
		return // reported with the job's bid
	}
	want := BatchEntryPath(j.bid, j.state.Folder(), jid)
	found := false
	for _, e := range j.batchEntries {
		switch {
		case e == want:
			found = true
		case !znode.Within(e, BatchPath(j.bid)):
			c.add(e, RuleBatchJob, "job %s belongs to batch %s", jid, j.bid)
		default:
			c.add(e, RuleBatchEntry, "job %s is %s: its entry should be %s", jid, j.state, want)
		}
	}
	if !found {
		c.add(want, RuleBatchEntry, "job %s is %s and has no entry there: its batch doesn't know of it", jid, j.state)
	}
}
