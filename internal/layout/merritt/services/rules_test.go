package services_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

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
			objects := []services.NodeObject{{Node: c.node, Object: o}}
			if c.node != "status" {
				objects = append(objects, services.NodeObject{Node: "status", Object: newqueue.Object{"status": "Pending"}})
			}
			return slices.ContainsFunc(services.CheckContent(services.Item{Path: c.item, Objects: objects}), func(v services.Violation) bool { return v.Demand.Key == c.key && v.Demand.Node == c.node })
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

// The admin tool's requeue skips Initialize only for a job that has left no
// state but pending.
func TestRequeuePastInitialize(t *testing.T) {
	for last, want := range map[any]bool{nil: true, "Pending": true, "": true, "Storing": false} {
		if got := noticed(services.JobFacts{State: "Failed", Last: last}); (got == "skips-initialize") != want {
			t.Errorf("last %v: %s", last, got)
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
	} {
		if got := noticed(c.job); got != c.want {
			t.Errorf("%s: %q, expected %q", what, got, c.want)
		}
	}
}

// Process locks a job's local ids by name. It would wait for ever if ZooKeeper refuses the name.
func TestLocalIDsThatCannotBeLocked(t *testing.T) {
	// With a primary id, Process makes no lock.
	type ids struct{ primary, local string }
	for id, want := range map[ids]bool{{"", "a/b:c"}: false, {"", "O’Neil\n\u0085"}: false, {"", "😀"}: true, {"", "\u007f"}: true, {"", "\ue000"}: true, {"ark:/1/2", "😀"}: false} {
		item := services.Item{Path: "/jobs/jid0000000001", Objects: []services.NodeObject{
			{Node: "status", Object: newqueue.Object{"status": "Pending"}}, {Node: "identifiers", Object: newqueue.Object{"primary_id": id.primary, "local_id": []any{"sound", id.local}}}}}
		var found string
		for _, v := range services.CheckContent(item) {
			if v.Stop.Effect == services.Waits {
				found = v.What
			}
		}
		if (found != "") != want {
			t.Errorf("%q: %s", id, found)
		}
	}
}

// Download finds a manifest with a digest only under a plain name. A job that has left Download behind
// does not need it any more.
func TestManifestWithASlash(t *testing.T) {
	for _, c := range []struct {
		what, state   string
		configuration newqueue.Object
		want          services.Effect // "" for no finding
	}{
		{"with a digest", "Pending", newqueue.Object{"type": "manifest", "filename": "http://x/a.checkm", "digestType": "MD5", "digestValue": "abc"}, services.Fails},
		{"past Download", "Storing", newqueue.Object{"type": "manifest", "filename": "a/b.checkm", "digestType": "MD5", "digestValue": "abc"}, services.Harmless},
		{"with a plain name", "Pending", newqueue.Object{"type": "manifest", "filename": "b.checkm", "digestType": "MD5", "digestValue": "abc"}, ""},
		{"without a digest", "Pending", newqueue.Object{"type": "manifest", "filename": "a/b.checkm"}, ""},
		{"a container", "Pending", newqueue.Object{"type": "container", "filename": "a/b.zip", "digestType": "MD5", "digestValue": "abc"}, ""},
	} {
		var got services.Effect
		for _, v := range services.CheckContent(services.Item{Path: "/jobs/jid0000000001", Objects: []services.NodeObject{
			{Node: "status", Object: newqueue.Object{"status": c.state}}, {Node: "configuration", Object: c.configuration}}}) {
			if v.Demand.ID == "R23" && v.Demand.Key == "" {
				got = v.Stop.Effect
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", c.what, got, c.want)
		}
	}
}
