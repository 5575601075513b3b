package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// The oracle of TestOperatorsLife knows what one target should hold. It reads the raw
// tree and sees each step. It shares no rule with the package: it finds a record's
// job by a token in the payload, and not by provenance or ledger.

// oldRecord is one record of the legacy queue.
type oldRecord struct {
	path    string
	kind    QueueKind
	token   string // in its payload and in no other
	payload legacy.Payload
	status  legacy.Status
	bad     bool // it can't be decoded
}

// bytes are the record's data.
func (r *oldRecord) bytes() string {
	data, err := legacy.Encode(legacy.NewHeader(r.status, testNow, legacy.Milliseconds), legacy.JSON, r.payload)
	if err != nil {
		panic(err)
	}
	if r.bad {
		return string(data[:len(data)-1])
	}
	return string(data)
}

// workState is what happened to a record's job.
type workState string

const (
	jobExists        workState = "exists"
	jobRemoved       workState = "gone"          // others removed it
	jobDeclaredDone  workState = "declared done" // the operator declared it done
	custodyForgotten workState = "forgotten"     // gone, and its custody was lost
)

// work is one job or access request that was migrated and not rolled back.
type work struct {
	root, bid, run string
	record, data   string // the record's path, and its bytes when the job was made from it
	state          workState
	seen           bool   // another client changed it, and the znodes differ
	touched        bool   // another client worked on it, even if no znode differs any more
	why            string // what was changed, for the message of a failure
	copied         bool   // it was restored from a dump
	mayHideChange  bool   // it was changed before the dump, and the copy may not show that
}

// pastRun is the state of the target when a run began.
type pastRun struct {
	before  string // the whole tree; "" if others have changed something since
	hadRuns bool
}

// oracle is what there should be in one target.
type oracle struct {
	works    map[string][]*work // by token, the newest last
	runs     map[string]*pastRun
	batches  map[string]bool // whether another client changed a batch, by BID, of the batches that runs made
	outdated map[string]bool // batches whose contents may still be those of a run that was rolled back
	damaged  bool            // the migration's own records are gone
	lossy    bool            // they were rebuilt, and something was lost
	copied   map[string]bool // runs whose record came from a dump, and whether the record still shows that
	resumed  map[string]bool // runs that were interrupted and finished later: records can have been added in between
}

func newOracle() *oracle {
	return &oracle{works: map[string][]*work{}, runs: map[string]*pastRun{}, batches: map[string]bool{}, outdated: map[string]bool{}, copied: map[string]bool{}, resumed: map[string]bool{}}
}

func (o *oracle) clone() *oracle {
	c := &oracle{works: map[string][]*work{}, runs: map[string]*pastRun{}, batches: maps.Clone(o.batches), outdated: maps.Clone(o.outdated), damaged: o.damaged, lossy: o.lossy, copied: maps.Clone(o.copied), resumed: maps.Clone(o.resumed)}
	for token, list := range o.works {
		for _, w := range list {
			same := *w
			c.works[token] = append(c.works[token], &same)
		}
	}
	for id, r := range o.runs {
		same := *r
		c.runs[id] = &same
	}
	return c
}

// all returns the newest work of each record, by token.
func (o *oracle) all() map[string]*work {
	newest := map[string]*work{}
	for token := range o.works {
		if w := o.top(token); w != nil {
			newest[token] = w
		}
	}
	return newest
}

func (o *oracle) top(token string) *work {
	list := o.works[token]
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// rawRun is what the oracle reads of a run's record.
type rawRun struct {
	Run      string   `json:"run"`
	State    string   `json:"state"`
	Policies Policies `json:"policies"`
}

func rawRuns(tree *znode.Tree) []rawRun {
	var runs []rawRun
	for _, name := range tree.Children("/migration/runs") {
		var r rawRun
		if json.Unmarshal(tree.Get("/migration/runs/"+name).Data, &r) == nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// location says where a job is.
type location struct{ root, bid string }

// jobsByToken returns all jobs and access requests, by their tokens.
func jobsByToken(tree *znode.Tree) map[string][]location {
	found := map[string][]location{}
	note := func(root, content, bid string) {
		var payload struct {
			Token string `json:"jobID"`
		}
		n := tree.Get(content)
		if n != nil && json.Unmarshal(n.Data, &payload) == nil && payload.Token != "" {
			found[payload.Token] = append(found[payload.Token], location{root, bid})
		}
	}
	for _, jid := range tree.Children("/jobs") {
		bid := ""
		if n := tree.Get("/jobs/" + jid + "/bid"); n != nil {
			bid = string(n.Data)
		}
		note("/jobs/"+jid, "/jobs/"+jid+"/configuration", bid)
	}
	for _, queue := range tree.Children("/access") {
		for _, qid := range tree.Children("/access/" + queue) {
			root := "/access/" + queue + "/" + qid
			note(root, root+"/token", "")
		}
	}
	return found
}

// nodesOfJob returns a job's subtree and its entries in queues and in its batch.
func nodesOfJob(tree *znode.Tree, root, bid string) []string {
	nodes := tree.Paths(root)
	jid := path.Base(root)
	for _, state := range tree.Children("/jobs/states") {
		for _, entry := range tree.Children("/jobs/states/" + state) {
			if strings.HasSuffix(entry, "-"+jid) {
				nodes = append(nodes, "/jobs/states/"+state+"/"+entry)
			}
		}
	}
	for _, folder := range tree.Children("/batches/" + bid + "/states") {
		if entry := "/batches/" + bid + "/states/" + folder + "/" + jid; bid != "" && tree.Get(entry) != nil {
			nodes = append(nodes, entry)
		}
	}
	return nodes
}

// ownNodesOfBatch returns a batch's znodes without its jobs' entries.
func ownNodesOfBatch(tree *znode.Tree, bid string) []string {
	if tree.Get("/batches/"+bid) == nil {
		return nil
	}
	nodes := slices.DeleteFunc(tree.Paths("/batches/"+bid), func(p string) bool { return strings.Count(p, "/") == 5 })
	for _, name := range tree.Children("/batch-uuids") {
		if uuid := "/batch-uuids/" + name; string(tree.Get(uuid).Data) == bid {
			nodes = append(nodes, uuid)
		}
	}
	return nodes
}

// facts describes each znode in one line. With quiet it includes the traces of a worker
// that changed nothing: its lock, and the cversion that the lock leaves.
func facts(tree *znode.Tree, nodes []string, quiet bool) string {
	var b strings.Builder
	for _, p := range slices.Sorted(slices.Values(nodes)) {
		n := tree.Get(p)
		if n.Stat.EphemeralOwner != 0 && !quiet {
			continue
		}
		fmt.Fprintf(&b, "%s %q %d %d %d", p, n.Data, n.Stat.Version, n.Stat.Aversion, n.Stat.Czxid)
		if quiet {
			fmt.Fprintf(&b, " %d", n.Stat.Cversion)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// observe notes what clients other than the migrator changed between two looks.
func (o *oracle) observe(before, after *znode.Tree) {
	changed := dumpWithStats(before) != dumpWithStats(after)
	for _, w := range o.all() {
		if w.state != jobExists {
			continue
		}
		if after.Get(w.root) == nil {
			w.state = jobRemoved
			continue
		}
		was, is := nodesOfJob(before, w.root, w.bid), nodesOfJob(after, w.root, w.bid)
		w.seen = w.seen || facts(before, was, false) != facts(after, is, false)
		if d := firstDifference(facts(before, was, true), facts(after, is, true)); d != "" {
			w.why += d + "; "
		}
		w.touched = w.touched || facts(before, was, true) != facts(after, is, true)
	}
	for bid := range o.batches {
		if facts(before, ownNodesOfBatch(before, bid), false) != facts(after, ownNodesOfBatch(after, bid), false) {
			o.batches[bid] = true
		}
	}
	if changed {
		o.forgetBefore()
	}
}

// forgetBefore notes that a rollback of any run can no longer restore the tree as it was before
// that run.
func (o *oracle) forgetBefore() {
	for _, r := range o.runs {
		r.before = ""
	}
}

// dumpWithStats returns the whole tree without the election, with the transactions that
// wrote it.
func dumpWithStats(tree *znode.Tree) string {
	return facts(tree, slices.DeleteFunc(tree.Paths("/"), func(p string) bool { return strings.HasPrefix(p, ElectionPath) }), true)
}

// dumpOfAll returns all paths and data. If there were runs before, it leaves out /jobs,
// because the trace there counts how often it was set. It also leaves out the election,
// because a migrator that was killed early leaves one, which the next one removes.
func dumpOfAll(tree *znode.Tree, hadRuns bool) string {
	var b strings.Builder
	for n := range tree.All("/") {
		if znode.Within(n.Path, ElectionPath) || n.Path == MigrationPath || n.Path == "/jobs" && hadRuns {
			continue
		}
		fmt.Fprintf(&b, "%s %q %t\n", n.Path, n.Data, n.Data == nil)
	}
	return b.String()
}

// choice has the operator's choices for a migration.
type choice struct {
	policies    Policies
	again, done []string
}

// expectedAction is what a migration should do with a record.
type expectedAction string

const (
	unchanged expectedAction = "unchanged"
	rewritten expectedAction = "rewrite"
	created   expectedAction = "create"
	leftGone  expectedAction = "gone"
	leftOut   expectedAction = "left out" // skipped, or quarantined
	blocked   expectedAction = "block"
	declared  expectedAction = "declare done"
	// A rebuilt ledger can't say whether the record was ever migrated.
	either expectedAction = "create, declare done or block"
)

// expectedAction returns what a migration should do with a record, according to the documents.
// resumes is the run that the migration finishes, "" for none.
func (o *oracle) expectedAction(r *oldRecord, c choice, resumes string) expectedAction {
	w := o.top(r.token)
	again := slices.Contains(c.again, r.path)
	switch {
	case w != nil && w.state == jobExists:
		switch {
		case w.data == r.bytes():
			return unchanged
		case r.bad, r.status == legacy.Consumed && c.policies.Consumed == Block, w.touched, w.copied:
			return blocked
		}
		return rewritten
	case w != nil && w.state != custodyForgotten && (!again || w.run == resumes):
		return leftGone
	case r.bad && c.policies.Undecodable == Quarantine:
		return leftOut
	case r.bad, r.status == legacy.Consumed && c.policies.Consumed == Block:
		return blocked
	case r.status == legacy.Completed && c.policies.Completed == Skip, r.status == legacy.Deleted && c.policies.Deleted == Skip:
		return leftOut
	case again:
		return created
	case w != nil && slices.Contains(c.done, r.path):
		return declared
	case w != nil:
		return blocked
	case o.lossy:
		return either
	}
	return created
}

// initialStateOf returns the state in which a record's job begins (docs/migration.md, "What
// becomes of a record").
func initialStateOf(r *oldRecord, p Policies) string {
	status := r.status
	if status == legacy.Consumed {
		status = map[string]legacy.Status{AsPending: legacy.Pending, AsFailed: legacy.Failed}[p.Consumed]
	}
	switch {
	case r.kind == Inventory && status == legacy.Pending:
		return "recording"
	case r.kind == Inventory && status == legacy.Held:
		return "failed"
	case isAccess(r.kind) && status == legacy.Held:
		return "pending"
	}
	return status.String()
}

// stateAt returns the state in a job's or access request's status.
func stateAt(tree *znode.Tree, root string) string {
	var status struct{ Status string }
	if n := tree.Get(root + "/status"); n != nil {
		json.Unmarshal(n.Data, &status)
	}
	return strings.ToLower(status.Status)
}

// sameNode reports whether a node exists and no client wrote to it.
func sameNode(a, b *znode.Node) bool {
	return a != nil && b != nil && bytes.Equal(a.Data, b.Data) && a.Stat.Version == b.Stat.Version && a.Stat.Czxid == b.Stat.Czxid && a.Stat.Aversion == b.Stat.Aversion
}
