package newqueue

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
)

// A good tree in each dialect: a batch that is processing, with a pending and a
// failed job, a pending batch, an access request, a hold, and other data on the
// entities' own nodes.
var good = map[Dialect]string{
	Design: `
/access/small/qid0000000000 {"run":1}
/access/small/qid0000000000/token {"token":"t"}
/access/small/qid0000000000/status {"status":"pending","last_modified":"2024-03-01T12:00:00Z"}
/batch-uuids/uuid-1 bid0000000000
/batches/bid0000000000 free
/batches/bid0000000000/submission {"batchID":"uuid-1","profile_name":"p"}
/batches/bid0000000000/status {"status":"processing","last_modified":"2024-03-01T12:00:00Z"}
/batches/bid0000000000/states/batch-processing/jid0000000001
/batches/bid0000000000/states/batch-failed/jid0000000002
/batches/bid0000000001/submission {}
/batches/bid0000000001/status {"status":"pending"}
/jobs/jid0000000001 {"run":1}
/jobs/jid0000000001/bid bid0000000000
/jobs/jid0000000001/configuration {"anything":["goes"]}
/jobs/jid0000000001/status {"status":"pending","last_successful_status":null,"last_modification_date":"2024-03-01T12:00:00Z","retry_count":0}
/jobs/jid0000000001/priority 5
/jobs/jid0000000001/identifiers {"primary_id":"","local_id":["a"]}
/jobs/jid0000000002/bid bid0000000000
/jobs/jid0000000002/configuration {}
/jobs/jid0000000002/status {"status":"failed","last_successful_status":"provisioning","retry_count":1,"message":"404"}
/jobs/jid0000000002/priority 99
/jobs/jid0000000002/space_needed 12
/jobs/states/pending/05-jid0000000001
/jobs/states/failed/99-jid0000000002
/jobs/states/notify
/locks/queue/ingest
/locks/queue/localid/x
/elsewhere/whatever
`,
	MrtZK: `
/access/small/qid0000000000/token {"token":"t"}
/access/small/qid0000000000/status {"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","message":""}
/batch-uuids/uuid-1 bid0000000000
/batches/bid0000000000/submission {"batchID":"uuid-1"}
/batches/bid0000000000/status {"status":"Processing","last_modified":"2024-03-01 12:00:00 -0800","message":""}
/batches/bid0000000000/states/batch-processing/jid0000000001
/batches/bid0000000000/states/batch-failed/jid0000000002
/batches/bid0000000001/submission {}
/batches/bid0000000001/status {"status":"Pending"}
/jobs/jid0000000001/bid bid0000000000
/jobs/jid0000000001/configuration {}
/jobs/jid0000000001/status {"status":"Pending","last_successful_status":null,"last_modified":"2024-03-01 12:00:00 -0800","retry_count":0,"message":""}
/jobs/jid0000000001/priority 5
/jobs/jid0000000001/space_needed 0
/jobs/jid0000000001/store {"manifest_url":"u","mode":"add","delete":"no"}
/jobs/jid0000000002/bid bid0000000000
/jobs/jid0000000002/configuration {}
/jobs/jid0000000002/status {"status":"Failed","last_successful_status":"Storing","last_modified":"2024-03-01 12:00:00 -0800","retry_count":1,"message":"404"}
/jobs/jid0000000002/priority 99
/jobs/jid0000000002/space_needed 12
/jobs/states/pending/05-jid0000000001
/jobs/states/failed/99-jid0000000002
/jobs/states/storing
/locks/localid/x
/locks/storage/y
`,
}

func parseTree(t *testing.T, text string) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		path, data, _ := strings.Cut(line, " ")
		if err := tree.Put(znode.Node{Path: path, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func TestCheckLayoutIsContent(t *testing.T) {
	for _, d := range Dialects {
		for _, p := range CheckLayout(parseTree(t, good[d]), d) {
			t.Errorf("%s: %v", d, p)
		}
	}
	if p := CheckLayout(znode.NewTree(), Design); p != nil {
		t.Errorf("an empty tree: %v", p)
	}
	// A completed job may have lost its queue entry (J20), in dialect design only.
	for d, want := range map[Dialect]int{Design: 0, MrtZK: 1} {
		done := map[Dialect]string{Design: `"completed"`, MrtZK: `"Completed"`}[d]
		text := strings.NewReplacer(
			"batch-failed/jid0000000002", "batch-completed/jid0000000002",
			`"failed","last`, done+`,"last`, `"Failed","last`, done+`,"last`,
			"/jobs/states/failed/99-jid0000000002\n", "",
		).Replace(good[d])
		if got := CheckLayout(parseTree(t, text), d); len(got) != want {
			t.Errorf("%s: %v", d, got)
		}
	}
}

// TestCheckLayoutFinds breaks the good tree in one place at a time. The lines
// of a case are "path data" to put, "-path" to delete, or "!" and the complete
// problem that must be found.
func TestCheckLayoutFinds(t *testing.T) {
	for _, c := range []struct {
		name string
		d    Dialect
		do   []string
		want []string
	}{
		{"a job without bid", Design, []string{"-/jobs/jid0000000001/bid"}, []string{
			"/jobs/jid0000000001/bid: it must be there (missing)",
		}},
		{"a job of no batch", Design, []string{"/jobs/jid0000000001/bid bid0000000009"}, []string{
			`/jobs/jid0000000001/bid: its batch "bid0000000009" doesn't exist (orphan)`,
		}},
		{"a job of another batch", Design, []string{"/jobs/jid0000000001/bid bid0000000001"}, []string{
			"/batches/bid0000000000/states/batch-processing/jid0000000001: job jid0000000001 belongs to batch bid0000000001 (batch-job)",
			"/batches/bid0000000001/states/batch-processing/jid0000000001: job jid0000000001 is pending and has no entry there: its batch doesn't know of it (batch-entry)",
		}},
		{"no space_needed", MrtZK, []string{"-/jobs/jid0000000001/space_needed"}, []string{
			"/jobs/jid0000000001/space_needed: it must be there (missing)",
		}},
		{"store in design", Design, []string{"/jobs/jid0000000001/store {}"}, []string{
			"/jobs/jid0000000001/store: want one of bid, configuration, status, priority, space_needed, identifiers, metadata, inventory, lock here (unknown)",
		}},
		{"another dialect's state name", MrtZK, []string{`/jobs/jid0000000001/status {"status":"pending","retry_count":0}`}, []string{
			`/jobs/jid0000000001/status: status "pending": no job's state in dialect mrt-zk (state)`,
		}},
		{"another dialect's state", Design, []string{`/jobs/jid0000000002/status {"status":"failed","last_successful_status":"storing","retry_count":0}`}, []string{
			"/jobs/jid0000000002/status: last_successful_status storing: no job's state in dialect design (state)",
		}},
		{"another dialect's time", MrtZK, []string{`/jobs/jid0000000001/status {"status":"Pending","retry_count":0,"last_modified":"2024-03-01T12:00:00Z"}`}, []string{
			`/jobs/jid0000000001/status: last_modified: time "2024-03-01T12:00:00Z": want the format 2006-01-02 15:04:05 -0700 (content)`,
		}},
		{"no retry_count", MrtZK, []string{`/jobs/jid0000000001/status {"status":"Pending"}`}, []string{
			"/jobs/jid0000000001/status: retry_count is missing (content)",
		}},
		{"a status that is no JSON", Design, []string{"/jobs/jid0000000001/status {"}, []string{
			"/jobs/jid0000000001/status: not a JSON object: unexpected EOF (content)",
		}},
		{"a priority of three digits", Design, []string{"/jobs/jid0000000001/priority 100"}, []string{
			"/jobs/jid0000000001/priority: 100: a priority is a number from 0 to 99 (priority)",
		}},
		{"an entry of another priority", Design, []string{"/jobs/jid0000000001/priority 6"}, []string{
			"/jobs/states/pending/05-jid0000000001: job jid0000000001 is pending with priority 6: its entry should be /jobs/states/pending/06-jid0000000001 (priority)",
			"/jobs/states/pending/06-jid0000000001: job jid0000000001 is pending and has no entry there: no worker will find it (queue-entry)",
		}},
		{"two entries", Design, []string{"/jobs/states/held/05-jid0000000001 "}, []string{
			"/jobs/states/held/05-jid0000000001: job jid0000000001 is pending with priority 5: its entry should be /jobs/states/pending/05-jid0000000001 (queue-entry)",
		}},
		{"no entry", MrtZK, []string{"-/jobs/states/pending/05-jid0000000001"}, []string{
			"/jobs/states/pending/05-jid0000000001: job jid0000000001 is pending and has no entry there: no worker will find it (queue-entry)",
		}},
		{"an entry of nothing", Design, []string{"/jobs/states/pending/05-jid0000000007 "}, []string{
			"/jobs/states/pending/05-jid0000000007: job jid0000000007 doesn't exist: a worker that takes it fails (orphan)",
		}},
		{"an entry's name", Design, []string{"/jobs/states/pending/5-jid0000000001 "}, []string{
			`/jobs/states/pending/5-jid0000000001: "5-jid0000000001" is not a queue entry: want two digits of priority, - and a job's id (name)`,
		}},
		{"a folder of no state", Design, []string{"/jobs/states/storing "}, []string{
			"/jobs/states/storing: want the name of a job's state in dialect design here (state)",
		}},
		{"a batch entry in the wrong folder", Design, []string{"-/batches/bid0000000000/states/batch-failed/jid0000000002", "/batches/bid0000000000/states/batch-processing/jid0000000002 "}, []string{
			"/batches/bid0000000000/states/batch-failed/jid0000000002: job jid0000000002 is failed and has no entry there: its batch doesn't know of it (batch-entry)",
			"/batches/bid0000000000/states/batch-processing/jid0000000002: job jid0000000002 is failed: its entry should be /batches/bid0000000000/states/batch-failed/jid0000000002 (batch-entry)",
		}},
		{"a batch entry of nothing", Design, []string{"/batches/bid0000000000/states/batch-completed/jid0000000007 "}, []string{
			"/batches/bid0000000000/states/batch-completed/jid0000000007: job jid0000000007 doesn't exist (orphan)",
		}},
		{"the older folder's name", Design, []string{"/batches/bid0000000000/states/processing "}, []string{
			"/batches/bid0000000000/states/processing: want one of [batch-processing batch-failed batch-completed batch-deleted] here (state)",
		}},
		{"no batch-processing", Design, []string{"/batches/bid0000000001/states ", `/batches/bid0000000001/status {"status":"reporting"}`}, []string{
			"/batches/bid0000000001/states/batch-processing: it must be there, even empty: without it the batch is never reported (states)",
		}},
		{"a pending batch with states", Design, []string{"/batches/bid0000000001/states/batch-processing "}, []string{
			"/batches/bid0000000001/states: the batch is pending and has states, so the client library will never take it: delete them while no worker has the batch; if jobs are in them, find out first who made those (states)",
		}},
		{"a reporting batch without", Design, []string{`/batches/bid0000000001/status {"status":"reporting"}`}, []string{
			"/batches/bid0000000001/states: the batch is reporting and has no states: it looks pending to a worker (states)",
		}},
		{"a batch's unknown state", Design, []string{`/batches/bid0000000001/status {"status":"paused"}`}, []string{
			"/batches/bid0000000001/status: status paused: no batch's state in dialect design (state)",
		}},
		{"an unknown node of a batch", Design, []string{"/batches/bid0000000001/notes x"}, []string{
			"/batches/bid0000000001/notes: want one of states, submission, status, status-report, lock here (unknown)",
		}},
		{"a UUID of no batch", Design, []string{"/batch-uuids/uuid-2 bid0000000009"}, []string{
			`/batch-uuids/uuid-2: batch "bid0000000009" doesn't exist (orphan)`,
		}},
		{"a UUID of another batch", Design, []string{"/batch-uuids/uuid-2 bid0000000000"}, []string{
			`/batch-uuids/uuid-2: the submission of batch bid0000000000 says batchID "uuid-1" (uuid)`,
		}},
		{"a batch without its UUID", Design, []string{"-/batch-uuids/uuid-1"}, []string{
			"/batch-uuids/uuid-1: batch bid0000000000 has this UUID and can't be found by it (missing)",
		}},
		{"strange names", Design, []string{"/batches/bid1 ", "/jobs/job1 ", "/access/medium ", "/access/small/q1 ", "/locks/zoo ", "/locks/queue/egress "}, []string{
			"/access/medium: want small or large here (name)",
			"/access/small/q1: want a request's id (qid and ten digits) here (name)",
			"/batches/bid1: want a batch's id (bid and ten digits) here (name)",
			"/jobs/job1: want states, or a job's id (jid and ten digits) here (name)",
			"/locks/queue/egress: want a hold on a queue: [ingest accessSmall accessLarge] here (name)",
			"/locks/zoo: want one of [collections inventory queue storage] here (name)",
		}},
		{"local ids in another dialect's place", MrtZK, []string{"/locks/queue/localid/x "}, []string{
			"/locks/queue/localid: want a hold on a queue: [ingest accessSmall accessLarge] here (name)",
		}},
		{"an access request without token", Design, []string{"-/access/small/qid0000000000/token", `/access/small/qid0000000000/status {"status":"held"}`}, []string{
			"/access/small/qid0000000000/status: status held: no access request's state in dialect design (state)",
			"/access/small/qid0000000000/token: it must be there (missing)",
		}},
		{"a node below a property", Design, []string{"/jobs/jid0000000001/bid/x "}, []string{
			"/jobs/jid0000000001/bid/x: nothing may be below /jobs/jid0000000001/bid (unknown)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := parseTree(t, good[c.d])
			for _, do := range c.do {
				if path, ok := strings.CutPrefix(do, "-"); ok {
					tree = pruned(t, tree, path)
					continue
				}
				path, data, _ := strings.Cut(do, " ")
				if err := tree.Put(znode.Node{Path: path, Data: []byte(data)}); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, p := range CheckLayout(tree, c.d) {
				got = append(got, p.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// pruned is the tree without a node and everything below it.
func pruned(t *testing.T, tree *znode.Tree, root string) *znode.Tree {
	t.Helper()
	rest := znode.NewTree()
	for n := range tree.All("/") {
		if znode.Within(n.Path, root) {
			continue
		}
		if err := rest.Put(*n); err != nil {
			t.Fatal(err)
		}
	}
	if rest.Len() == tree.Len() {
		t.Fatalf("%s is not there", root)
	}
	return rest
}

// TestCheckLayoutLocks: if the tree has Stats, a lock of the wrong kind is found.
func TestCheckLayoutLocks(t *testing.T) {
	tree := parseTree(t, good[Design])
	put := func(path string, owner int64) {
		if err := tree.Put(znode.Node{Path: path, Stat: znode.Stat{Czxid: 1, EphemeralOwner: owner}}); err != nil {
			t.Fatal(err)
		}
	}
	put("/jobs/jid0000000001/lock", 7) // as it should be
	put("/jobs/jid0000000002/lock", 0)
	put("/locks/collections/c", 7)
	put("/locks/storage/s", 0)
	var got []string
	for _, p := range CheckLayout(tree, Design) {
		got = append(got, p.Path+" "+string(p.Rule))
	}
	want := []string{"/jobs/jid0000000002/lock lock", "/locks/collections/c lock", "/locks/storage/s lock"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
