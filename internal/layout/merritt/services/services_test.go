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
func TestRequirementsAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for _, d := range services.Requirements {
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
	for n := 1; n <= 33; n++ {
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

// stop is what happens first to an item with an object because of a requirement on it, zero if the object meets
// the requirement. A status in the object is that of the item, which else is Pending.
func stop(item, node, key string, o newqueue.Object) services.Stop {
	state := "Pending"
	if s, ok := o["status"].(string); ok {
		state = s
	}
	objects := map[string]newqueue.Object{"status": {"status": state}}
	objects[node] = o
	for _, v := range services.CheckContent(services.Item{Path: item, Objects: objects}) {
		if v.Requirement.Node == node && v.Requirement.Key == key {
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

// A job's batchID names the folder of its payload: that of its batch, or of the batch for which its batch is a later one.
func TestFolderOfTheBatch(t *testing.T) {
	for batch, ok := range map[string]bool{"bid-1": true, "bid-1-2": true, "bid-1-13": true, "bid-1-1": false, "bid-1-02": false, "bid-1-": false, "bid-1-2x": false, "bid-12": false, "bid-2": false} {
		item := services.Item{Path: "/jobs/jid0000000001", BatchID: batch, Objects: map[string]newqueue.Object{"status": {"status": "Pending"}, "configuration": {"batchID": "bid-1"}}}
		found := slices.ContainsFunc(services.CheckContent(item), func(v services.Violation) bool { return v.Requirement.ID == "R20" })
		if found == ok {
			t.Errorf("in a batch %s: a violation is %v", batch, found)
		}
	}
}

// What the services do with sound jobs that nobody would expect is noticed beforehand.
func TestJobNotices(t *testing.T) {
	type object = newqueue.Object
	manifest, ids := object{"type": "manifest"}, func(primary string, local ...any) object {
		return object{"primary_id": primary, "local_id": local}
	}
	for what, c := range map[string]struct {
		status, configuration, identifiers object
		priority                           int
		consumed                           bool
		want                               string
	}{
		"an ordinary job":                     {object{"status": "Pending"}, object{"type": "file", "filename": "a/b", "profile": "p"}, ids("ark:/1/2", "Grün", "a:b"), 5, false, ""},
		"a local id with a typographic quote": {object{"status": "Pending"}, nil, ids("", "plain", "O’Neil"), 5, false, "garbles-local-id"},
		"a local id with a quote":             {object{"status": "Held"}, nil, ids("", `a"b`), 5, false, "garbles-local-id"},
		"a local id with a tag":               {object{"status": "Failed", "last_successful_status": "Storing"}, nil, ids("", `</a`), 5, false, "garbles-local-id"},
		"such a job, completed":               {object{"status": "Completed"}, nil, ids("", `a"b`), 5, false, ""},
		"a demo profile":                      {object{"status": "Pending"}, object{"profile": "demo_x"}, ids("ark:/1/2"), 5, false, "mints-id"},
		"a demo profile without primary id":   {object{"status": "Pending"}, object{"profile": "demo_x"}, ids(""), 5, false, ""},
		"a manifest that was begun":           {object{"status": "Held"}, manifest, nil, 5, true, "repeats-download"},
		"a file that was begun":               {object{"status": "Held"}, object{"type": "file"}, nil, 5, true, ""},
		"a manifest of priority 95":           {object{"status": "Pending"}, manifest, nil, 95, false, "lost-if-unsized"},
		"a manifest of priority 89":           {object{"status": "Failed", "last_successful_status": "Storing"}, manifest, nil, 89, false, "lost-if-requeued"},
		"a manifest of priority 79":           {object{"status": "Held"}, manifest, nil, 79, false, ""},
		"a file of priority 99":               {object{"status": "Pending"}, object{"type": "file"}, nil, 99, false, ""},
		// The admin tool's requeue skips Initialize only for a job that has left no state but pending.
		"a failed job, last null":    {object{"status": "Failed"}, nil, nil, 5, false, "skips-initialize"},
		"a failed job, last Pending": {object{"status": "Failed", "last_successful_status": "Pending"}, nil, nil, 5, false, "skips-initialize"},
		"a failed job, last empty":   {object{"status": "Failed", "last_successful_status": ""}, nil, nil, 5, false, "skips-initialize"},
		"a failed job, last Storing": {object{"status": "Failed", "last_successful_status": "Storing"}, nil, nil, 5, false, ""},
	} {
		it := services.Item{Path: "/jobs/jid0000000001", Objects: map[string]object{"status": c.status, "configuration": c.configuration, "identifiers": c.identifiers}}
		var kinds []string
		for _, n := range services.JobNotices(it, c.priority, c.consumed) {
			kinds = append(kinds, n.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.want {
			t.Errorf("%s: %q, expected %q", what, got, c.want)
		}
	}
}
