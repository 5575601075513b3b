package daemons_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// breaker damages a migrated tree through a session of its own.
type breaker struct {
	t    *testing.T
	conn *zk.Conn
	tree *znode.Tree // the tree before the damage

	pending  string // a pending job of a batch with many
	alone    string // a pending job, the only one of its batch
	held     string
	failed   string // a failed job of a batch that still has unfinished jobs
	done     string // a completed job of such a batch
	batch    string // the batch of many
	finished string // a Completed batch
	lost     string // a Failed batch with a completed job
	access   string // a pending request
}

func (b *breaker) find() {
	pending := jobs(b.tree, "Pending")
	b.alone = pending[0]
	for _, job := range pending {
		if n := len(b.tree.Children(batchOf(b.tree, job) + "/states/batch-processing")); n > 5 {
			b.pending, b.batch = job, batchOf(b.tree, job)
			break
		}
	}
	b.held = jobs(b.tree, "Held")[0]
	in := func(state string) string {
		all := jobs(b.tree, state)
		return all[slices.IndexFunc(all, func(job string) bool { return batchOf(b.tree, job) == b.batch })]
	}
	b.failed, b.done = in("Failed"), in("Completed")
	for _, bid := range b.tree.Children("/batches") {
		o := b.object("/batches/" + bid + "/status")
		switch {
		case o["status"] == "Completed":
			b.finished = "/batches/" + bid
		case o["status"] == "Failed" && len(b.tree.Children("/batches/"+bid+"/states/batch-completed")) > 0:
			b.lost = "/batches/" + bid
		}
	}
	b.access = "/access/small/" + b.tree.Children("/access/small")[0]
}

func (b *breaker) object(path string) newqueue.Object {
	return value(newqueue.ParseObject(b.tree.Get(path).Data))(b.t)
}

func (b *breaker) set(path, data string) {
	_, err := b.conn.Set(path, []byte(data), -1)
	must(b.t, err)
}

// key sets keys of the JSON object at path. With the value absent it removes a key.
func (b *breaker) key(path string, keysAndValues ...any) {
	o := b.object(path)
	for i := 0; i < len(keysAndValues); i += 2 {
		key, v := keysAndValues[i].(string), keysAndValues[i+1]
		if o[key] = v; v == absent {
			delete(o, key)
		}
	}
	b.set(path, string(value(o.Marshal())(b.t)))
}

type absence struct{}

var absent = absence{}

func (b *breaker) create(path, data string) {
	_, err := b.conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	must(b.t, err)
}

func (b *breaker) remove(path string) {
	names, _, err := b.conn.Children(path)
	must(b.t, err)
	for _, name := range names {
		b.remove(path + "/" + name)
	}
	must(b.t, b.conn.Delete(path, -1))
}

func (b *breaker) entry(job string) string {
	state := strings.ToLower(fmt.Sprint(b.object(job + "/status")["status"]))
	pp := string(b.tree.Get(job + "/priority").Data)
	if len(pp) == 1 {
		pp = "0" + pp
	}
	return "/jobs/states/" + state + "/" + pp + "-" + znode.Name(job)
}

// at moves a pending job to a later state, as if the services had worked on it.
func (b *breaker) at(job, state string) {
	b.remove(b.entry(job))
	b.key(job+"/status", "status", state)
	b.create("/jobs/states/"+strings.ToLower(state)+"/"+znode.Name(b.entry(job)), "")
}

const (
	goodStore     = `{"manifest_url":"http://ingest.example.org/m","mode":"add/9501/ark%3A%2F99999%2Ffk4x","delete":""}`
	goodInventory = `{"manifest_url":"http://store.example.org/manifest/9501/ark%3A%2F99999%2Ffk4x","mode":""}`
)

// breakage is a way to damage a migrated tree.
type breakage struct {
	id, what string
	do       func(b *breaker)
}

// broken has ways to damage a migrated tree, and the demand that each breaks.
var broken = []breakage{
	{"R01", "no folder for storage locks", func(b *breaker) { b.remove("/locks/storage") }},
	{"R01", "no folder for inventory locks", func(b *breaker) { b.remove("/locks/inventory") }},
	{"R01", "no folder for locks on local ids", func(b *breaker) { b.remove("/locks/localid") }},
	{"R01", "no queue of large requests", func(b *breaker) { b.remove("/access/large") }},
	{"R01", "no batch-uuids", func(b *breaker) { b.remove("/batch-uuids") }},
	{"R01", "no folder for holds", func(b *breaker) { b.remove("/locks/queue") }},
	{"R02", "a lock on a job", func(b *breaker) { b.create(b.pending+"/lock", "") }},
	{"R02", "a lock on a batch", func(b *breaker) { b.create(batchOf(b.tree, b.alone)+"/lock", "") }},
	{"R02", "a lock on a request", func(b *breaker) { b.create(b.access+"/lock", "") }},
	{"R02", "a lock on an object in storage", func(b *breaker) {
		b.at(b.pending, "Storing")
		b.create(b.pending+"/store", goodStore)
		b.create("/locks/storage/ark_99999_fk4x", "")
	}},
	{"R02", "a lock on an object in inventory", func(b *breaker) {
		b.at(b.pending, "Recording")
		b.create(b.pending+"/inventory", goodInventory)
		b.create("/locks/inventory/ark_99999_fk4x", "")
	}},
	{"R03", "a job of another name", func(b *breaker) { b.create("/jobs/job1", "") }},
	{"R03", "a batch of another name", func(b *breaker) { b.create("/batches/batch1", "") }},
	{"R04", "a batch whose status is no JSON", func(b *breaker) { b.set(b.finished+"/status", "x") }},
	{"R04", "a batch in no state", func(b *breaker) { b.key(b.finished+"/status", "status", "completed") }},
	{"R05", "a batch without states", func(b *breaker) { b.remove(b.lost + "/states"); b.key(b.lost+"/status", "status", "Pending") }},
	{"R05", "a batch without batch-processing", func(b *breaker) {
		b.remove(b.finished + "/states/batch-processing")
		b.key(b.finished+"/status", "status", "Processing")
	}},
	{"R05", "a held batch at work", func(b *breaker) { b.key(b.batch+"/status", "status", "Held") }},
	{"R05", "a completed batch with a failed job", func(b *breaker) { b.key(b.lost+"/status", "status", "Completed") }},
	{"R05", "a batch without submission", func(b *breaker) { b.remove(b.batch + "/submission") }},
	{"R05", "a batch whose submission is empty", func(b *breaker) { b.set(b.batch+"/submission", "") }},
	{"R06", "a batchID without bid-", func(b *breaker) { b.key(b.batch+"/submission", "batchID", "another") }},
	{"R07", "a batch that its batchID does not lead to", func(b *breaker) {
		b.set("/batch-uuids/"+fmt.Sprint(b.object(b.batch + "/submission")["batchID"]), "bid0000009999")
	}},
	{"R07", "a second name of a batch", func(b *breaker) { b.create("/batch-uuids/bid-another", znode.Name(b.finished)) }},
	{"R07", "a batchID that no znode can have", func(b *breaker) { b.key(b.batch+"/submission", "batchID", "bid-\a") }},
	{"R08", "a batch's update is a number", func(b *breaker) { b.key(b.batch+"/submission", "update", 1) }},
	{"R09", "a batch without profile", func(b *breaker) { b.key(b.batch+"/submission", "profile", "") }},
	{"R09", "a batch's profile is a path", func(b *breaker) { b.key(b.batch+"/submission", "profile", "..") }},
	{"R10", "a batch without date", func(b *breaker) { b.key(b.batch+"/submission", "submissionDate", absent) }},
	{"R10", "a batch's submitter is null", func(b *breaker) { b.key(b.batch+"/submission", "submitter", nil) }},
	{"R11", "a batch's DCtitle is a number", func(b *breaker) { b.key(b.batch+"/submission", "DCtitle", 5) }},
	{"R12", "a status that is no JSON", func(b *breaker) { b.set(b.pending+"/status", "x") }},
	{"R12", "no status", func(b *breaker) { b.remove(b.pending + "/status") }},
	{"R12", "a job in no state", func(b *breaker) { b.key(b.pending+"/status", "status", "pending") }},
	{"R12", "no retry_count", func(b *breaker) { b.key(b.pending+"/status", "retry_count", absent) }},
	{"R12", "no retry_count in Recording", func(b *breaker) {
		b.at(b.alone, "Recording")
		b.key(b.alone+"/status", "status", "Recording", "retry_count", absent)
	}},
	{"R12", "a job left no state last", func(b *breaker) { b.key(b.failed+"/status", "last_successful_status", "Begun") }},
	{"R13", "a failed job without message", func(b *breaker) { b.key(b.failed+"/status", "message", absent) }},
	{"R14", "no bid", func(b *breaker) { b.remove(b.pending + "/bid") }},
	{"R14", "a bid of no batch", func(b *breaker) { b.set(b.pending+"/bid", "bid9999999999") }},
	{"R15", "a priority that is no number", func(b *breaker) { b.set(b.pending+"/priority", "high") }},
	{"R15", "a priority of three digits", func(b *breaker) {
		b.remove(b.entry(b.pending))
		b.set(b.pending+"/priority", "100")
		b.create("/jobs/states/pending/100-"+znode.Name(b.pending), "")
	}},
	{"R15", "no space_needed", func(b *breaker) { b.remove(b.pending + "/space_needed") }},
	{"R16", "a job in no queue", func(b *breaker) { b.remove(b.entry(b.pending)) }},
	{"R16", "a held job in the queue of another state", func(b *breaker) { b.create("/jobs/states/estimating/05-"+znode.Name(b.held), "") }},
	{"R16", "an entry of no job", func(b *breaker) { b.create("/jobs/states/pending/05-jid9999999999", "") }},
	{"R17", "a job that its batch doesn't have", func(b *breaker) {
		b.remove(batchOf(b.tree, b.alone) + "/states/batch-processing/" + znode.Name(b.alone))
	}},
	{"R17", "a completed job that its batch waits for", func(b *breaker) { b.create(b.batch+"/states/batch-processing/"+znode.Name(b.done), "") }},
	{"R17", "a failed job that its batch doesn't have", func(b *breaker) { b.remove(b.batch + "/states/batch-failed/" + znode.Name(b.failed)) }},
	{"R17", "a failed job of a batch that isn't there", func(b *breaker) { b.create(b.batch+"/states/batch-failed/jid9999999999", "") }},
	{"R17", "an unfinished job of a batch that isn't there", func(b *breaker) { b.create(b.batch+"/states/batch-processing/jid9999999999", "") }},
	{"R17", "a job of a completed batch that isn't there", func(b *breaker) { b.create(b.finished+"/states/batch-completed/jid9999999999", "") }},
	{"R18", "a configuration that is no JSON", func(b *breaker) { b.set(b.pending+"/configuration", "x") }},
	{"R18", "no configuration", func(b *breaker) { b.remove(b.pending + "/configuration") }},
	{"R18", "an empty configuration", func(b *breaker) { b.set(b.pending+"/configuration", "") }},
	{"R18", "no configuration in Provisioning", func(b *breaker) { b.at(b.pending, "Provisioning"); b.remove(b.pending + "/configuration") }},
	{"R19", "no jobID", func(b *breaker) { b.key(b.pending+"/configuration", "jobID", absent) }},
	{"R19", "a jobID with a slash", func(b *breaker) { b.key(b.pending+"/configuration", "jobID", "a/b") }},
	{"R19", "the jobID of another manifest", func(b *breaker) {
		all := jobs(b.tree, "Pending")
		i := slices.IndexFunc(all, func(job string) bool { return job != b.pending && batchOf(b.tree, job) == b.batch })
		for _, job := range []string{b.pending, all[i]} {
			b.key(job+"/configuration", "type", "manifest", "jobID", "jid-the-same", "digestValue", absent)
		}
	}},
	{"R20", "another batchID", func(b *breaker) { b.key(b.pending+"/configuration", "batchID", "bid-another") }},
	{"R20", "no batchID", func(b *breaker) { b.key(b.pending+"/configuration", "batchID", absent) }},
	{"R21", "no profile", func(b *breaker) { b.key(b.pending+"/configuration", "profile", "") }},
	{"R21", "a profile with a slash", func(b *breaker) { b.key(b.pending+"/configuration", "profile", "a/b") }},
	{"R21", "a profile with an emoji", func(b *breaker) { b.key(b.pending+"/configuration", "profile", "😀") }},
	{"R22", "a type that is none of theirs", func(b *breaker) { b.key(b.pending+"/configuration", "type", "object-manifest") }},
	{"R22", "the type of a batch from the start", func(b *breaker) { b.key(b.pending+"/configuration", "type", "batchManifestFile") }},
	{"R22", "the type of a batch", func(b *breaker) {
		b.at(b.pending, "Downloading")
		b.key(b.pending+"/configuration", "type", "batchManifest")
	}},
	{"R23", "an empty filename", func(b *breaker) { b.key(b.pending+"/configuration", "filename", "") }},
	{"R23", "a manifest with a digest and a slash", func(b *breaker) {
		b.key(b.pending+"/configuration", "type", "manifest", "filename", "http://example.org/m.checkm", "digestType", "MD5", "digestValue", "abc")
	}},
	{"R24", "update is null", func(b *breaker) { b.key(b.pending+"/configuration", "update", nil) }},
	{"R25", "DCdate is a number", func(b *breaker) { b.key(b.pending+"/configuration", "DCdate", 2024) }},
	{"R25", "a digest of no known type", func(b *breaker) { b.key(b.pending+"/configuration", "digestType", "md-5") }},
	{"R26", "payload_type is a number", func(b *breaker) { b.key(b.pending+"/configuration", "payload_type", 5) }},
	{"R27", "no identifiers", func(b *breaker) { b.remove(b.pending + "/identifiers") }},
	{"R27", "identifiers that are no JSON", func(b *breaker) { b.set(b.pending+"/identifiers", "x") }},
	{"R27", "no primary_id", func(b *breaker) { b.key(b.pending+"/identifiers", "primary_id", absent) }},
	{"R27", "local_id is a text", func(b *breaker) { b.key(b.pending+"/identifiers", "local_id", "a;b") }},
	{"R27", "a local id that no lock can have", func(b *breaker) { b.key(b.pending+"/identifiers", "local_id", []any{"\U0001f600"}) }},
	{"R27", "local_id of a completed job is a text", func(b *breaker) { b.key(b.done+"/identifiers", "local_id", "a;b") }},
	{"R28", "inventory is no JSON", func(b *breaker) { b.create(b.pending+"/inventory", "x") }},
	{"R28", "metadata is empty", func(b *breaker) { b.set(b.pending+"/metadata", "") }},
	{"R28", "inventory and store are empty", func(b *breaker) { b.create(b.pending+"/inventory", ""); b.create(b.pending+"/store", "") }},
	{"R28", "a manifest's URL is a number", func(b *breaker) { b.create(b.pending+"/inventory", `{"manifest_url":5}`) }},
	{"R29", "a store without delete", func(b *breaker) {
		b.at(b.pending, "Storing")
		b.create(b.pending+"/store", `{"manifest_url":"http://ingest.example.org/m","mode":"add/9501/ark%3A%2F99999%2Ffk4x"}`)
	}},
	{"R29", "a store's mode", func(b *breaker) {
		b.at(b.pending, "Storing")
		b.create(b.pending+"/store", strings.Replace(goodStore, "add/", "replace/", 1))
	}},
	{"R29", "no store", func(b *breaker) { b.at(b.pending, "Storing") }},
	{"R29", "no URL for inventory", func(b *breaker) {
		b.at(b.pending, "Recording")
		b.create(b.pending+"/inventory", `{"manifest_url":"","mode":""}`)
	}},
	{"R30", "a completed job without profile", func(b *breaker) { b.key(b.done+"/configuration", "profile", absent) }},
	{"R30", "a request's date", func(b *breaker) { b.key(b.access+"/status", "last_modified", "yesterday") }},
	{"R31", "a request in no state", func(b *breaker) { b.key(b.access+"/status", "status", "pending") }},
	{"R31", "a request that is at work", func(b *breaker) { b.key(b.access+"/status", "status", "Processing") }},
	{"R32", "a token that is no JSON", func(b *breaker) { b.set(b.access+"/token", "x") }},
	{"R32", "an empty token", func(b *breaker) { b.set(b.access+"/token", "") }},
	{"R32", "no token", func(b *breaker) { b.key(b.access+"/token", "token", absent) }},
	{"R32", "no size", func(b *breaker) { b.key(b.access+"/token", "cloud-content-byte", absent) }},
}

// seenByTheCleanup has the damages that only the hourly cleanup notices.
var seenByTheCleanup = map[string]bool{"a completed batch with a failed job": true, "a second name of a batch": true, "a job of a completed batch that isn't there": true}

// outside has the damages of znodes that are part of no migrated job, request or batch.
// The check finds them. Verify only looks at what a run made.
var outside = map[string]bool{
	"no folder for storage locks": true, "no folder for inventory locks": true, "no folder for locks on local ids": true, "no folder for holds": true,
	"a job of another name": true, "a batch of another name": true, "a second name of a batch": true, "an entry of no job": true,
	"a failed job of a batch that isn't there": true, "an unfinished job of a batch that isn't there": true, "a job of a completed batch that isn't there": true,
}

// adminPage is an effect that is not simulated.
var adminPage = services.Stop{Daemon: services.Admin, Effect: services.BreaksPage}

// falsely says what is wrong with the findings about a demand, "" for nothing. The effect that
// a finding names is one of the troubles. If only rules of the map found it, which name
// none, an effect that the map gives them is. The admin tool's pages are not simulated.
func falsely(m *layout.Map, tree *znode.Tree, id string, found []layout.Finding, troubles []daemons.Trouble) string {
	named := false
	for _, f := range found {
		if !strings.HasPrefix(f.Rule, id) || id == "R02" {
			continue
		}
		named = true
		if !says(f, adminPage) &&
			!slices.ContainsFunc(troubles, func(t daemons.Trouble) bool { return happened(tree, f, t) }) {
			return f.Path + ": " + f.Found
		}
	}
	var stops []string // as merritt.yaml names them
	for _, f := range found {
		if of, then, _ := strings.Cut(m.Rule(f.Rule).Then, ": "); of == id {
			stops = append(stops, strings.Split(then, "; ")...)
		}
	}
	for _, d := range services.Demands {
		for _, by := range d.By {
			if id == "R02" && d.ID == id { // a lock's finding does not name its effect
				stops = append(stops, fmt.Sprint(d.Then, " ", by))
			}
		}
	}
	happened := func(t daemons.Trouble) bool { return slices.Contains(stops, fmt.Sprint(t.Effect, " ", t.Daemon)) }
	switch simulated := slices.ContainsFunc(stops, func(s string) bool { return !strings.HasSuffix(s, " Admin") }); {
	case len(stops) == 0 && !named:
		return fmt.Sprintf("no finding is about %s: %v", id, found)
	case !named && simulated && !slices.ContainsFunc(troubles, happened):
		return fmt.Sprintf("%v: %v", found, stops)
	}
	return ""
}

// If a demand is broken, the check finds that, verify finds it as damage or as acted on,
// and a simulated daemon does what the finding says, or what the map says.
func TestEveryBrokenRequirementIsFoundAndStopsItsDaemon(t *testing.T) {
	s := migrated(t, deployed(t))
	clean := s.tree(t)
	if all := findings(t, clean); len(all) > 0 {
		t.Fatalf("before anything is broken: %v", all)
	}
	var mu sync.Mutex
	named := map[string]bool{} // the rules that a check found
	t.Cleanup(func() {
		for _, d := range services.Demands {
			if rule := strings.TrimSuffix(d.ID+"/"+d.Node, "/"); d.Key == "" && !named[rule] {
				t.Errorf("nothing breaks %s", rule)
			}
		}
		for i := 1; i <= 32; i++ {
			if id := fmt.Sprintf("R%02d", i); !slices.ContainsFunc(broken, func(b breakage) bool { return b.id == id }) {
				t.Errorf("nothing breaks %s", id)
			}
		}
	})
	for _, damage := range broken {
		t.Run(damage.id+" "+damage.what, func(t *testing.T) {
			t.Parallel()
			s := serve(t, clean)
			b := &breaker{t: t, conn: s.dial(t), tree: clean}
			b.find()
			damage.do(b)
			tree := s.tree(t)

			found := findings(t, tree)
			mu.Lock()
			for _, f := range found {
				named[f.Rule] = true
			}
			mu.Unlock()
			verdict := value(migrate.Verify(t.Context(), s.source(t), &s.open(t).Reader, migrate.VerifyOptions{}))(t)
			if verdict.CountGroup("damage")+verdict.Count("acted-on") == 0 && !outside[damage.what] {
				t.Error("verify finds nothing")
			}

			w := s.services(t)
			if seenByTheCleanup[damage.what] {
				must(t, w.Clean())
			}
			must(t, w.Run())
			for _, job := range jobs(tree, "Held") {
				_ = w.Do(daemons.ReleaseJob, znode.Name(job)) // the damage may prevent it
			}
			must(t, w.Run())
			must(t, w.Leftovers())
			if wrong := falsely(deployedMap(t), tree, damage.id, found, w.Troubles); wrong != "" {
				t.Errorf("%s\nbut the services did %v", wrong, w.Troubles)
			}
		})
	}
}

// The services have no troubles with an undamaged tree. So each trouble in the test above comes
// from the damage.
func TestServicesHaveNoTroubleWithAnUndamagedTree(t *testing.T) {
	s := migrated(t, deployed(t))
	w := s.services(t)
	must(t, w.Run())
	must(t, w.Leftovers())
	must(t, w.Clean())
	for _, trouble := range w.Troubles {
		t.Error(trouble)
	}
}
