package services_test

import (
	"fmt"
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// Rules about names and places, each on a small tree.
func TestRulesAboutPlaces(t *testing.T) {
	batch := func(bid, id string) map[string]string {
		return map[string]string{"/batches/" + bid + "/submission": `{"batchID":"` + id + `"}`, "/batches/" + bid + "/status": `{"status":"Processing"}`, "/batches/" + bid + "/states/batch-processing": ""}
	}
	for _, c := range []struct {
		what  string
		nodes []map[string]string
		want  string // the violation of that requirement, "" for none
		id    string
	}{
		{"a batchID is the name as it is", []map[string]string{batch("bid0000000001", "bid-ä 100% b"), {"/batch-uuids/bid-ä 100% b": "bid0000000001"}}, "", "R07"},
		{"another name of it does not count", []map[string]string{batch("bid0000000001", "bid-clef \U0001d11e"), {"/batch-uuids/bid-clef %F0%9D%84%9E": "bid0000000001"}}, "/batches/bid0000000001/submission", "R07"},
		{"no znode can have the name", []map[string]string{batch("bid0000000001", "bid-clef \U0001d11e")}, "/batches/bid0000000001/submission", "R07"},
		{"two names of one batch", []map[string]string{batch("bid0000000001", "bid-a"), {"/batch-uuids/bid-a": "bid0000000001", "/batch-uuids/bid-b": "bid0000000001"}}, "/batch-uuids/bid-b", "R07"},
		{"two batches of one name", []map[string]string{batch("bid0000000001", "bid-a"), batch("bid0000000002", "bid-a"), {"/batch-uuids/bid-a": "bid0000000001"}}, "/batch-uuids/bid-a", "R07"},
		{"an entry of a batch stands for no job", []map[string]string{batch("bid0000000001", "bid-a"), {"/batches/bid0000000001/states/batch-completed/jid0000000009": ""}}, "/batches/bid0000000001/states/batch-completed/jid0000000009", "R17"},
	} {
		tree := znode.NewTree()
		for _, nodes := range c.nodes {
			for path, data := range nodes {
				if err := tree.Put(znode.Node{Path: path, Data: []byte(data)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		var paths []string
		for _, v := range services.Check(tree) {
			if v.Demand.ID == c.id {
				paths = append(paths, v.Path)
			}
		}
		if c.want == "" && len(paths) > 0 || c.want != "" && !slices.Contains(paths, c.want) {
			t.Errorf("%s: %s is violated at %q, want %q", c.what, c.id, paths, c.want)
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
		{"/batches/bid0000000001", "submission", "profile", []string{`"p"`}, []string{`""`, `null`, `5`}},
		{"/batches/bid0000000001", "submission", "submitter", []string{`""`, `"me"`}, []string{`null`, `5`, `true`}},
		{"/batches/bid0000000001", "submission", "DCtitle", []string{`null`, `""`, `"t"`}, []string{`5`, `true`, `[]`}},
		{"/batches/bid0000000001", "submission", "batchID", []string{`"bid-1"`, `"x bid-"`}, []string{`"1"`, `"bid-/"`, `null`, `5`}},
		{"/jobs/jid0000000001", "status", "retry_count", []string{`0`, `7`, `"7"`, `"-7"`, `1.5`, `1e3`}, []string{`null`, `""`, `"1.5"`, `"x"`, `true`, `"99999999999"`}},
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
		got := services.JobNotices("/jobs/jid0000000001", "Failed", last, nil, 0)
		if len(got) > 0 != want {
			t.Errorf("last %v: %v", last, got)
		}
	}
}
