package services_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout/merritt"
	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Every requirement has its rows, every row has all fields that others use, and what happens has words.
func TestDemandsAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for _, d := range services.Demands {
		ids[d.ID] = true
		if (d.Key == "") != (d.Says != "") || (d.Key == "") != (d.Type.Words == "") || len(d.By) == 0 || d.Optional && d.Default != "" {
			t.Errorf("%s: want a key with a type, or a rule in words; somebody who reads it; no default of what may be absent", d)
		}
	}
	m, err := merritt.Named("merritt", "mrt-zk")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Rules() {
		id, stops, stated := strings.Cut(r.Then, ": ")
		ids[id] = true
		for stop := range strings.SplitSeq(stops, "; ") {
			effect, daemon, _ := strings.Cut(stop, " ")
			isEffect := func(e services.Effect) bool { return e.String() == effect }
			if stated && (!slices.ContainsFunc(services.Effects, isEffect) || !slices.Contains(services.Daemons, services.Daemon(daemon))) {
				t.Errorf("%s: there is no %q", r.ID, stop)
			}
		}
	}
	for n := 1; n <= 32; n++ {
		if id := fmt.Sprintf("R%02d", n); !ids[id] {
			t.Errorf("no row has %s", id)
		}
	}
}

// A held job continues at Initialize when it is released, and a failed one
// where the admin tool requeues it.
func TestWorker(t *testing.T) {
	for c, want := range map[[2]newqueue.JobState]services.Daemon{
		{newqueue.JobPending, ""}: services.Initialize, {newqueue.JobHeld, ""}: services.Initialize, {newqueue.JobStoring, newqueue.JobProcessing}: services.Store,
		{newqueue.JobFailed, ""}: services.Estimate, {newqueue.JobFailed, newqueue.JobPending}: services.Estimate, {newqueue.JobFailed, newqueue.JobStoring}: services.Inventory,
		{newqueue.JobFailed, newqueue.JobNotify}: "", {newqueue.JobCompleted, newqueue.JobNotify}: "", {newqueue.JobDeleted, ""}: "", {"", ""}: "",
	} {
		if got := services.Worker(c[0], c[1]); got != want {
			t.Errorf("%s, last %s: %s, want %s", c[0], c[1], got, want)
		}
	}
}

// stop is what happens first to an item with an object because of a demand on it, zero if the object meets
// the demand. A status in the object is that of the item, which else is Pending.
func stop(item, node, key string, o newqueue.Object) services.Stop {
	state := "Pending"
	if s, ok := o["status"].(string); ok {
		state = s
	}
	objects := []services.NodeObject{{Node: node, Object: o}, {Node: "status", Object: newqueue.Object{"status": state}}}
	for _, v := range services.CheckContent(services.Item{Path: item, Objects: objects}) {
		if v.Demand.Node == node && v.Demand.Key == key {
			return v.Stop
		}
	}
	return services.Stop{}
}

// What happens first depends on who has still to work on a job: a fault does no harm any more if only a daemon
// reads it that is done with the job.
func TestWhatHappensFirst(t *testing.T) {
	manifest := func(state, kind, name, digest string) newqueue.Object {
		return newqueue.Object{"status": state, "jobID": "j", "batchID": "bid-1", "type": kind, "filename": name, "digestType": "MD5", "digestValue": digest}
	}
	ids := func(primary, local string) newqueue.Object {
		return newqueue.Object{"primary_id": primary, "local_id": []any{"sound", local}}
	}
	harmless, nothing := services.Stop{Daemon: services.Initialize, Effect: services.Harmless}, services.Stop{}
	lost, waits := services.Stop{Daemon: services.Download, Effect: services.Fails}, services.Stop{Daemon: services.Process, Effect: services.Waits}
	for _, c := range []struct {
		what, node, key string
		o               newqueue.Object
		want            services.Stop
	}{
		{"a type, pending", "configuration", "type", newqueue.Object{"type": "batch-manifest"}, services.Stop{Daemon: services.Initialize, Effect: services.Fails}},
		{"a type, held", "configuration", "type", newqueue.Object{"type": "batch-manifest", "status": "Held"}, services.Stop{Daemon: services.Initialize, Effect: services.Fails}},
		{"a type, failed", "configuration", "type", newqueue.Object{"type": "batch-manifest", "status": "Failed"}, services.Stop{Daemon: services.Estimate, Effect: services.Fails}},
		{"a type of a batch, pending", "configuration", "type", newqueue.Object{"type": "batchManifest"}, services.Stop{Daemon: services.Estimate, Effect: services.Fails}},
		{"a type, storing", "configuration", "type", newqueue.Object{"type": "batch-manifest", "status": "Storing"}, harmless},
		{"a type, recording", "configuration", "type", newqueue.Object{"type": "batch-manifest", "status": "Recording"}, harmless},
		// Download finds a manifest with a digest only under a plain name.
		{"a manifest with a digest and a slash", "configuration", "", manifest("Pending", "manifest", "http://x/a.checkm", "abc"), lost},
		{"such a manifest past Download", "configuration", "", manifest("Storing", "manifest", "a/b.checkm", "abc"), services.Stop{Daemon: services.Download, Effect: services.Harmless}},
		{"a manifest with a plain name", "configuration", "", manifest("Pending", "manifest", "b.checkm", "abc"), nothing},
		{"a manifest without a digest", "configuration", "", manifest("Pending", "manifest", "a/b.checkm", ""), nothing},
		{"a container with a digest", "configuration", "", manifest("Pending", "container", "a/b.zip", "abc"), nothing},
		// Process locks a job's local ids by name, and waits for ever if ZooKeeper refuses the name. With a primary id, it locks none.
		{"a local id with separators", "identifiers", "", ids("", "a/b:c"), nothing},
		{"a local id that is escaped", "identifiers", "", ids("", "O’Neil\n\u0085"), nothing},
		{"a local id with an emoji", "identifiers", "", ids("", "😀"), waits},
		{"a local id with a delete", "identifiers", "", ids("", "\u007f"), waits},
		{"a local id of private use", "identifiers", "", ids("", "\ue000"), waits},
		{"an emoji beside a primary id", "identifiers", "", ids("ark:/1/2", "😀"), nothing},
	} {
		if got := stop("/jobs/jid0000000001", c.node, c.key, c.o); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// The types are exactly as strict as the getters of org.json.
func TestTypesAreOrgJSONs(t *testing.T) {
	for _, c := range []struct {
		item, node, key string
		taken, refused  []string // as JSON
	}{
		{"/batches/bid0000000001", "submission", "update", []string{`true`, `false`, `"true"`, `"FALSE"`}, []string{`null`, `1`, `"yes"`, `""`}},
		{"/batches/bid0000000001", "submission", "profile", []string{`"p"`, `"demo content"`}, []string{`""`, `null`, `5`, `"a/b"`, `"."`, `".."`, `"a\u0000"`, `"😀"`}},
		{"/batches/bid0000000001", "submission", "submitter", []string{`""`, `"me"`}, []string{`null`, `5`, `true`}},
		{"/batches/bid0000000001", "submission", "DCtitle", []string{`null`, `""`, `"t"`}, []string{`5`, `true`, `[]`}},
		{"/batches/bid0000000001", "submission", "batchID", []string{`"bid-1"`, `"x bid-"`}, []string{`"1"`, `"bid-/"`, `null`, `5`}},
		{"/jobs/jid0000000001", "status", "last_successful_status", []string{`null`, `"Pending"`}, []string{`"pending"`, `5`, `""`}},
		{"/jobs/jid0000000001", "configuration", "type", []string{`"file"`, `"container"`, `"manifest"`}, []string{`"File"`, `"batchManifest"`, `null`}},
		{"/jobs/jid0000000001", "configuration", "jobID", []string{`"j"`}, []string{`""`, `"a/b"`, `5`}},
		{"/jobs/jid0000000001", "identifiers", "local_id", []string{`[]`, `["a"]`}, []string{`null`, `"a"`, `[1]`, `[null]`}},
		{"/access/small/qid0000000001", "token", "cloud-content-byte", []string{`1234567890123`, `"1234567890123"`, `1.5e9`}, []string{`null`, `"1.5e9"`, `""`, `false`}},
		{"/access/small/qid0000000001", "token", "token", []string{`""`, `"t"`}, []string{`null`, `5`}},
	} {
		refuses := func(value string) bool {
			o, err := newqueue.ParseObject([]byte(fmt.Sprintf(`{"status":"Pending",%q:%s}`, c.key, value)))
			if err != nil {
				t.Fatal(err)
			}
			return stop(c.item, c.node, c.key, o) != (services.Stop{})
		}
		for _, value := range c.taken {
			if refuses(value) {
				t.Errorf("%s of %s: %s is refused", c.key, c.node, value)
			}
		}
		for _, value := range c.refused {
			if !refuses(value) {
				t.Errorf("%s of %s: %s is taken", c.key, c.node, value)
			}
		}
	}
}

// noticed are the kinds of a job's notices.
func noticed(j services.JobFacts) string {
	for _, v := range []*services.Values{&j.Configuration, &j.Identifiers} {
		if *v == nil {
			*v = newqueue.Object{}
		}
	}
	var kinds []string
	for _, n := range services.JobNotices(j) {
		kinds = append(kinds, n.Kind)
	}
	return strings.Join(kinds, " ")
}

// What the services do with sound jobs that nobody would expect is noticed beforehand.
func TestJobNotices(t *testing.T) {
	ids := func(primary string, local ...any) newqueue.Object {
		return newqueue.Object{"primary_id": primary, "local_id": local}
	}
	for what, c := range map[string]struct {
		job  services.JobFacts
		want string
	}{
		"an ordinary job":                     {services.JobFacts{State: "Pending", Configuration: newqueue.Object{"type": "file", "filename": "a/b", "profile": "p"}, Identifiers: ids("ark:/1/2", "Grün", "a:b")}, ""},
		"a local id with a typographic quote": {services.JobFacts{State: "Pending", Identifiers: ids("", "plain", "O’Neil")}, "garbles-local-id"},
		"a local id with a quote":             {services.JobFacts{State: "Held", Identifiers: ids("", `a"b`)}, "garbles-local-id"},
		"a local id with a tag":               {services.JobFacts{State: "Failed", Last: "Storing", Identifiers: ids("", `</a`)}, "garbles-local-id"},
		"such a job, completed":               {services.JobFacts{State: "Completed", Identifiers: ids("", `a"b`)}, ""},
		"a demo profile":                      {services.JobFacts{State: "Pending", Configuration: newqueue.Object{"profile": "demo_x"}, Identifiers: ids("ark:/1/2")}, "mints-id"},
		"a demo profile without primary id":   {services.JobFacts{State: "Pending", Configuration: newqueue.Object{"profile": "demo_x"}, Identifiers: ids("")}, ""},
		"a manifest that was begun":           {services.JobFacts{State: "Held", Consumed: true, Configuration: newqueue.Object{"type": "manifest"}}, "repeats-download"},
		"a file that was begun":               {services.JobFacts{State: "Held", Consumed: true, Configuration: newqueue.Object{"type": "file"}}, ""},
		"a manifest of priority 95":           {services.JobFacts{State: "Pending", Priority: 95, Configuration: newqueue.Object{"type": "manifest"}}, "lost-if-unsized"},
		"a manifest of priority 89":           {services.JobFacts{State: "Failed", Last: "Storing", Priority: 89, Configuration: newqueue.Object{"type": "manifest"}}, "lost-if-requeued"},
		"a manifest of priority 79":           {services.JobFacts{State: "Held", Priority: 79, Configuration: newqueue.Object{"type": "manifest"}}, ""},
		"a file of priority 99":               {services.JobFacts{State: "Pending", Priority: 99, Configuration: newqueue.Object{"type": "file"}}, ""},
		// The admin tool's requeue skips Initialize only for a job that has left no state but pending.
		"a failed job, last null":    {services.JobFacts{State: "Failed"}, "skips-initialize"},
		"a failed job, last Pending": {services.JobFacts{State: "Failed", Last: "Pending"}, "skips-initialize"},
		"a failed job, last empty":   {services.JobFacts{State: "Failed", Last: ""}, "skips-initialize"},
		"a failed job, last Storing": {services.JobFacts{State: "Failed", Last: "Storing"}, ""},
	} {
		if got := noticed(c.job); got != c.want {
			t.Errorf("%s: %q, expected %q", what, got, c.want)
		}
	}
}
