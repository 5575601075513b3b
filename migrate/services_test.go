package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// ingestRecord returns a record as a deployed service wrote it, with some keys changed. nil
// removes a key.
func ingestRecord(changed legacy.Payload) legacy.Payload {
	p := legacy.Payload{"batchID": "bid-1", "jobID": "jid-1", "profile": "demo", "type": "file", "queuePriority": "05", "filename": "a.txt", "update": false}
	maps.Copy(p, changed)
	maps.DeleteFunc(p, func(_ string, v any) bool { return v == nil })
	return p
}

func planOf(t *testing.T, policies Policies, d newqueue.Dialect, records map[string][]byte) *Plan {
	t.Helper()
	opt := options(policies)
	opt.Dialect = d
	return makePlan(t, source(t, queue(t, records)), znode.NewTree(), opt)
}

// A configuration in dialect mrt-zk has the legacy names, with the types that the services
// demand, and the design's names. Every property can be read back unchanged.
func TestConfigurationForServices(t *testing.T) {
	for name, c := range map[string]struct {
		record legacy.Payload
		want   map[string]any // absent keys are nil
	}{
		"as written":     {ingestRecord(legacy.Payload{"responseForm": "xml", "localID": "a;b"}), map[string]any{"profile": "demo", "profile_name": "demo", "type": "file", "payload_type": "file", "filename": "a.txt", "payload_url": "a.txt", "responseForm": "xml", "response_type": "xml", "localID": "a;b", "local_id": "a;b", "update": false, "legacy.update": nil, "legacy.absent": nil}},
		"update as text": {ingestRecord(legacy.Payload{"update": "TRUE"}), map[string]any{"update": true, "legacy.update": "TRUE"}},
		"no update":      {ingestRecord(legacy.Payload{"update": nil}), map[string]any{"update": false, "legacy.absent": []any{"update"}}},
		"no such flag":   {ingestRecord(legacy.Payload{"update": "perhaps"}), map[string]any{"update": "perhaps", "legacy.update": nil}},
		"reserved names": {ingestRecord(legacy.Payload{"profile_name": "x", "legacy.absent": "y", "legacy.update": "z", "submissionDate": "then"}), map[string]any{"profile_name": "demo", "legacy.profile_name": "x", "legacy.legacy.absent": "y", "legacy.legacy.update": "z", "legacy.submissionDate": "then"}},
		"no strings":     {ingestRecord(legacy.Payload{"profile": true, "submitter": true}), map[string]any{"profile": true, "profile_name": "true", "submitter": "true", "legacy.submitter": true}},
	} {
		t.Run(name, func(t *testing.T) {
			records := map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, c.record)}
			src := source(t, queue(t, records))
			opt := options(permissive())
			opt.Dialect = newqueue.MrtZK
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, src, opt)
			tree := treeOf(t, target)
			got := jsonOf(t, tree.Get("/jobs/jid0000000001/configuration").Data)
			for key, want := range c.want {
				if v, there := got[key]; there != (want != nil) || fmt.Sprint(v) != fmt.Sprint(want) && there {
					t.Errorf("%s is %v, want %v", key, v, want)
				}
			}
			mustVerify(t, src, tree)

			// In dialect design there are none of these keys.
			design := planOf(t, permissive(), newqueue.Design, records)
			for _, n := range plannedJobAt(t, design, 0).nodes(newqueue.Design) {
				if strings.HasSuffix(n.path, "/configuration") && (strings.Contains(string(n.data), keyAbsent+`"`) && c.record[keyAbsent] == nil || strings.Contains(string(n.data), `"filename"`)) {
					t.Errorf("design: %s", n.data)
				}
			}
		})
	}
}

// Every key that a service demands in a configuration or a submission is in the
// mapping, with who reads it.
func TestMappingNamesEveryReader(t *testing.T) {
	readBy := map[string]string{keySubmissionDate: "the mail and the admin's lists"}
	for _, k := range serviceKeys {
		readBy[k.key] = k.readBy
	}
	for _, f := range configurationFields {
		readBy[f.key] = f.readBy
	}
	for _, d := range services.Demands {
		if (d.Node == "configuration" || d.Node == "submission") && d.Key != "" && readBy[d.Key] == "" {
			t.Errorf("no row of the mapping says who reads %s", d)
		}
	}
}

// The plan names the records that no deployed service could work on, and what would happen. A
// blocking finding is a problem, until the operator chooses to go on.
func TestPlanNamesWhatNoServiceCouldWork(t *testing.T) {
	const job = "/ingest/mrtQ-05000000000001"
	for _, c := range []struct {
		what        string
		path        string
		status      legacy.Status
		record      legacy.Payload
		requirement string
		then        string
		policy      string // the policy that blocks it; "" for a warning
	}{
		{"no profile", job, legacy.Pending, ingestRecord(legacy.Payload{"profile": nil}), "R21", "Initialize would fail it", "unserviceable"},
		{"no profile, its report", job, legacy.Pending, ingestRecord(legacy.Payload{"profile": nil}), "R09", "its batch would stick in Reporting", "unserviceable"},
		{"no jobID", job, legacy.Pending, ingestRecord(legacy.Payload{"jobID": nil}), "R19", "Initialize would fail it", "unserviceable"},
		{"no filename", job, legacy.Pending, ingestRecord(legacy.Payload{"filename": nil}), "R23", "Initialize would fail it", "unserviceable"},
		{"a type of none of theirs", job, legacy.Pending, ingestRecord(legacy.Payload{"type": "object-manifest"}), "R22", "Initialize would fail it", "unserviceable"},
		{"that type, failed before", job, legacy.Failed, ingestRecord(legacy.Payload{"type": "object-manifest"}), "R22", "Estimate would fail it", "unserviceable"},
		{"a batchID without bid-", job, legacy.Pending, ingestRecord(legacy.Payload{"batchID": "another"}), "R06", "its batch would stick in Reporting", "unserviceable"},
		{"a DC key that is no string", job, legacy.Pending, ingestRecord(legacy.Payload{"DCdate": true}), "R25", "Initialize would fail it", "unserviceable"},
		{"a digest of no known type", job, legacy.Pending, ingestRecord(legacy.Payload{"digestValue": "abc"}), "R25", "Initialize would fail it", "unserviceable"},
		{"update is neither", job, legacy.Pending, ingestRecord(legacy.Payload{"update": "perhaps"}), "R24", "Initialize would fail it", "unserviceable"},
		{"an unfinished inventory record", "/mrt.inventory.full/mrtQ-000000000001", legacy.Pending, legacy.Payload{"manifestURL": "http://store/m/ark"}, "inventory", inventoryThen, "inventory-records"},
		{"a token without token", "/accessSmall.1/mrtQ-000000000001", legacy.Pending, legacy.Payload{"x": "y"}, "R32", "Access would lock it and leave it until the daemon is restarted", "unserviceable"},
		{"a token without size", "/accessSmall.1/mrtQ-000000000001", legacy.Pending, legacy.Payload{"token": "y"}, "R32", "Access would fail it", "unserviceable"},
		{"a priority that is lost", "/ingest/mrtQ-95000000000001", legacy.Pending, ingestRecord(legacy.Payload{"type": "manifest"}), "lost-if-unsized", "it could be lost in Estimating", ""},
		{"a failed job", job, legacy.Failed, ingestRecord(nil), "skips-initialize", noticeThen[services.SkipsInit], ""},
		{"a completed inventory record", "/mrt.inventory.full/mrtQ-000000000001", legacy.Completed, legacy.Payload{"manifestURL": "http://store/m/ark"}, "removed-soon", noticeThen[services.RemovedSoon], ""},
		{"a completed batch", job, legacy.Completed, ingestRecord(nil), "removed-soon", noticeThen[services.RemovedSoon], ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			records := map[string][]byte{c.path: record(t, c.status, c.record)}
			p := planOf(t, DefaultPolicies(), newqueue.MrtZK, records)
			i := slices.IndexFunc(p.Services, func(f ServiceFinding) bool { return f.Requirement == c.requirement && f.Then == c.then })
			if i < 0 {
				t.Fatalf("not found in %+v", p.Services)
			}
			if f := p.Services[i]; f.Count != 1 || f.Policy != c.policy || f.Blocking != (c.policy != "") {
				t.Errorf("finding %+v", f)
			}
			if p.Blocked() != (c.policy != "") {
				t.Errorf("problems %v", p.Problems)
			}
			// If the operator chooses so, it is migrated, and verify says the same again.
			src := source(t, queue(t, records))
			opt := options(permissive())
			opt.Dialect = newqueue.MrtZK
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, src, opt)
			v := mustVerify(t, src, treeOf(t, target))
			if again := slices.ContainsFunc(v.Services, func(f ServiceFinding) bool { return f.Requirement == c.requirement }); again != repeatedByVerify(c.policy) {
				t.Errorf("verify says %+v", v.Services)
			}
			// In dialect design no deployed service can read it anyway.
			if p := planOf(t, DefaultPolicies(), newqueue.Design, records); len(p.Services) > 0 || p.Blocked() {
				t.Errorf("design: %+v, %v", p.Services, p.Problems)
			}
		})
	}
}

// repeatedByVerify reports whether verify repeats a finding. It repeats those that a policy can block; only
// the plan has notices.
func repeatedByVerify(policy string) bool { return policy != "" }

// Findings are counted by kind, and each kind is one problem.
func TestFindingsAreCountedByKind(t *testing.T) {
	records := map[string][]byte{}
	for i := range 5 {
		records[fmt.Sprintf("/ingest/mrtQ-0500000000000%d", i)] = record(t, legacy.Pending, ingestRecord(legacy.Payload{"jobID": fmt.Sprint("jid-", i), "type": "batch-manifest"}))
		records[fmt.Sprintf("/mrt.inventory.full/mrtQ-00000000000%d", i)] = record(t, legacy.Failed, legacy.Payload{"manifestURL": "http://store/m/ark"})
	}
	p := planOf(t, DefaultPolicies(), newqueue.MrtZK, records)
	got := map[string]int{}
	for _, f := range p.Services {
		if f.Blocking {
			got[f.Requirement] += f.Count
		}
	}
	if want := map[string]int{"R22": 5, "inventory": 5}; !maps.Equal(got, want) || len(p.Problems) != 2 {
		t.Errorf("counted %v, want %v; problems %v", got, want, p.Problems)
	}
	// One choice doesn't decide the other.
	some := DefaultPolicies()
	some.Unserviceable = Migrate
	if p := planOf(t, some, newqueue.MrtZK, records); len(p.Problems) != 1 || p.Problems[0].Kind != InventoryWaiting {
		t.Errorf("problems %v", p.Problems)
	}
}

// The message of a finding with several items is true for all of them. It has no number
// that only the first one has.
func TestFindingsSayWhatIsInCommon(t *testing.T) {
	records := map[string][]byte{}
	for i, statuses := range [][]legacy.Status{{legacy.Completed, legacy.Pending}, {legacy.Completed, legacy.Completed, legacy.Pending, legacy.Pending}} {
		for j, status := range statuses {
			records[fmt.Sprintf("/ingest/mrtQ-050000000000%d%d", i, j)] = record(t, status, ingestRecord(legacy.Payload{"jobID": fmt.Sprint("jid-", i, j), "batchID": fmt.Sprint("bid-", i)}))
		}
	}
	p := planOf(t, DefaultPolicies(), newqueue.MrtZK, records)
	got := map[string]string{}
	for _, f := range p.Services {
		if f.Count > 1 {
			got[f.Requirement] = f.What
		}
	}
	want := map[string]string{"mails-old-jobs": "jobs of it that were done before the migration: …; still to do: …"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A record that fits a packet in dialect design can be too large in mrt-zk, with both names
// of each key.
func TestBothNamesCanBeTooLarge(t *testing.T) {
	records := map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, ingestRecord(legacy.Payload{"filename": strings.Repeat("n", DefaultPacket*2/5)}))}
	for d, want := range map[newqueue.Dialect]bool{newqueue.Design: false, newqueue.MrtZK: true} {
		p := planOf(t, permissive(), d, records)
		tooLarge := slices.ContainsFunc(p.Problems, func(x Problem) bool { return x.Kind == TooLarge && x.Path == "/ingest/mrtQ-05000000000001" })
		if tooLarge != want {
			t.Errorf("%s: problems %v", d, p.Problems)
		}
	}
}

// A failed ingest job has pending as its last successful status, as with the field's own
// script.
func TestFailedJobsResumeAtEstimating(t *testing.T) {
	records := map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Failed, ingestRecord(nil))}
	for d, want := range map[newqueue.Dialect]any{newqueue.Design: nil, newqueue.MrtZK: "Pending"} {
		p := planOf(t, permissive(), d, records)
		for _, n := range plannedJobAt(t, p, 0).nodes(d) {
			if strings.HasSuffix(n.path, "/status") {
				if got := jsonOf(t, n.data)["last_successful_status"]; got != want {
					t.Errorf("%s: %v, want %v", d, got, want)
				}
			}
		}
	}
}

func TestReadDialect(t *testing.T) {
	for name, c := range map[string]struct {
		nodes map[string]string
		want  newqueue.Dialect
		by    string
	}{
		"empty":          {nil, "", ""},
		"shared folders": {map[string]string{"/jobs/states/pending": "", "/locks/queue/ingest": "", "/batches/bid0000000000": ""}, "", ""},
		"a run":          {map[string]string{"/migration/runs/run0000000000": string(Run{ID: "run0000000000", Dialect: newqueue.MrtZK}.encode()), "/jobs/jid0000000000/status": `{"status":"pending"}`}, newqueue.MrtZK, "/migration/runs/run0000000000"},
		"a batch":        {map[string]string{"/batches/bid0000000001/status": `{"status":"Processing"}`}, newqueue.MrtZK, "/batches/bid0000000001/status"},
		"a job":          {map[string]string{"/jobs/jid0000000000/status": `{"status":"pending"}`}, newqueue.Design, "/jobs/jid0000000000/status"},
		"a request":      {map[string]string{"/access/small/qid0000000000/status": `{"status":"Pending"}`}, newqueue.MrtZK, "/access/small/qid0000000000/status"},
		"unreadable":     {map[string]string{"/jobs/jid0000000000/status": "x", "/jobs/jid0000000001/status": `{"status":""}`, "/jobs/jid0000000002": ""}, "", ""},
		"started":        {map[string]string{"/jobs/states/storing": ""}, newqueue.MrtZK, "/jobs/states/storing"},
		"local ids":      {map[string]string{"/locks/queue/localid": ""}, newqueue.Design, "/locks/queue/localid"},
	} {
		tree := znode.NewTree()
		for path, data := range c.nodes {
			put(t, tree, path, []byte(data))
		}
		d, by, ok, err := ReadDialect(t.Context(), side.Tree(tree))
		if err != nil {
			t.Fatal(err)
		}
		if d != c.want || by != c.by || ok != (c.want != "") {
			t.Errorf("%s: %q by %q, %t; want %q by %q", name, d, by, ok, c.want, c.by)
		}
	}
}

// In a live queue, a lock that a worker's session holds is not a fault if the operator allows
// others. A lock without a session is a fault.
func TestLocksOfOthersAtWork(t *testing.T) {
	records := map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, ingestRecord(nil))}
	src := source(t, queue(t, records))
	opt := options(permissive())
	opt.Dialect = newqueue.MrtZK
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, opt)
	conn, err := connect(target.zk)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for flags, faulty := range map[int32]bool{zk.FlagEphemeral: false, 0: true} {
		lock := "/jobs/jid0000000001/lock"
		if _, err := conn.Create(lock, none, flags, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		v := verdict(t, src, treeOf(t, target), VerifyOptions{Others: true})
		if got := len(v.Differences) > 0; got != faulty {
			t.Errorf("flags %d: differences %v", flags, v.Differences)
		}
		if err := conn.Delete(lock, -1); err != nil {
			t.Fatal(err)
		}
	}
}
