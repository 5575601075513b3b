package lint

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A tree in each dialect in which all is well: a batch that is processing with
// a pending and a failed job, a pending batch, an access request, a hold and
// free data on the entities' own nodes.
var good = map[newqueue.Dialect]string{
	newqueue.Design: `
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
	newqueue.MrtZK: `
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
	for _, d := range newqueue.Dialects {
		for _, p := range Check(parseTree(t, good[d]), d) {
			t.Errorf("%s: %v", d, p)
		}
	}
	if p := Check(znode.NewTree(), newqueue.Design); p != nil {
		t.Errorf("an empty tree: %v", p)
	}
	// A completed job may have lost its queue entry (J20), in dialect design only.
	for d, want := range map[newqueue.Dialect]int{newqueue.Design: 0, newqueue.MrtZK: 1} {
		done := map[newqueue.Dialect]string{newqueue.Design: `"completed"`, newqueue.MrtZK: `"Completed"`}[d]
		text := strings.NewReplacer(
			"batch-failed/jid0000000002", "batch-completed/jid0000000002",
			`"failed","last`, done+`,"last`, `"Failed","last`, done+`,"last`,
			"/jobs/states/failed/99-jid0000000002\n", "",
		).Replace(good[d])
		if got := Check(parseTree(t, text), d); len(got) != want {
			t.Errorf("%s: %v", d, got)
		}
	}
}

// TestCheckLayoutFinds breaks the good tree in one place each: a line of do is
// "path data" to put, or "-path" to delete. (mrtq/migrate/layouts breaks every rule.)
func TestCheckLayoutFinds(t *testing.T) {
	for _, c := range []struct {
		name string
		d    newqueue.Dialect
		do   []string
		want []string
	}{
		{"a job of another batch", newqueue.Design, []string{"/jobs/jid0000000001/bid bid0000000001"}, []string{
			`/batches/bid0000000000/states/batch-processing/jid0000000001: job jid0000000001 belongs to batch "bid0000000001"; expected an entry of a job of this batch (batch-entry/other-batch)`,
			"/batches/bid0000000001/states: no states: it looks pending to a worker; expected states, because it has jobs (batch-states/no-states)",
			"/batches/bid0000000001/states/batch-processing/jid0000000001: no entry: its batch doesn't know of it; expected an entry of job jid0000000001, which is pending (batch-entry/no-entry)",
		}},
		{"another dialect's state name", newqueue.MrtZK, []string{`/jobs/jid0000000001/status {"status":"pending","retry_count":0}`}, []string{
			`/jobs/jid0000000001/status: status "pending"; expected a job's state in dialect mrt-zk (job-status/bad-state)`,
		}},
		{"another dialect's time", newqueue.MrtZK, []string{`/jobs/jid0000000001/status {"status":"Pending","retry_count":0,"last_modified":"2024-03-01T12:00:00Z"}`}, []string{
			`/jobs/jid0000000001/status: last_modified: time "2024-03-01T12:00:00Z": expected the format 2006-01-02 15:04:05 -0700; expected a time as 2024-03-01 12:00:00 +0000 (job-status/bad-time)`,
		}},
		{"a key twice", newqueue.Design, []string{`/jobs/jid0000000001/configuration {"title":"a","more":[{"title":"b"},{"x":{"x":1}}],"title":"c"}`}, []string{
			`/jobs/jid0000000001/configuration: key "title" is there twice; expected a JSON object; the keys that the client library reads are strings (job-configuration/not-json)`,
		}},
		{"one key in several objects", newqueue.Design, []string{`/jobs/jid0000000001/configuration {"title":"title","more":[{"title":"b"},{"title":{"title":1}}]}`}, nil},
		{"an entry of another priority", newqueue.Design, []string{"/jobs/jid0000000001/priority 6"}, []string{
			"/jobs/states/pending/05-jid0000000001: an entry of job jid0000000001, which is pending with priority 6; expected its entry at /jobs/states/pending/06-jid0000000001 (queue-entry/wrong-priority)",
			"/jobs/states/pending/06-jid0000000001: no entry: no worker will find the job; expected an entry of job jid0000000001, which is pending (queue-entry/no-entry)",
		}},
		{"two entries", newqueue.Design, []string{"/jobs/states/held/05-jid0000000001 "}, []string{
			"/jobs/states/held/05-jid0000000001: an entry of job jid0000000001, which is pending with priority 5; expected its entry at /jobs/states/pending/05-jid0000000001 (queue-entry/wrong-queue)",
		}},
		{"a batch entry in the wrong folder", newqueue.Design, []string{"-/batches/bid0000000000/states/batch-failed/jid0000000002", "/batches/bid0000000000/states/batch-processing/jid0000000002 "}, []string{
			"/batches/bid0000000000/states/batch-failed/jid0000000002: no entry: its batch doesn't know of it; expected an entry of job jid0000000002, which is failed (batch-entry/no-entry)",
			"/batches/bid0000000000/states/batch-processing/jid0000000002: an entry of job jid0000000002, which is failed; expected its entry at /batches/bid0000000000/states/batch-failed/jid0000000002 (batch-entry/wrong-folder)",
		}},
		{"a UUID of another batch", newqueue.Design, []string{"/batch-uuids/uuid-2 bid0000000000"}, []string{
			`/batch-uuids/uuid-2: "uuid-2"; expected the batchID of batch bid0000000000, "uuid-1" (batch-uuid/other-batch)`,
		}},
		{"strange names", newqueue.Design, []string{"/batches/bid1 ", "/jobs/job1 ", "/access/medium ", "/access/small/q1 ", "/locks/zoo ", "/locks/queue/egress "}, []string{
			`/access/medium: "medium"; expected small or large (access-queue/bad-name)`,
			`/access/small/q1: "q1"; expected qid and ten digits (request/bad-name)`,
			`/batches/bid1: "bid1"; expected bid and ten digits (batch/bad-name)`,
			`/jobs/job1: "job1"; expected jid and ten digits (job/bad-name)`,
			`/locks/queue/egress: "egress"; expected a hold on a queue: ingest, accessSmall or accessLarge (queue-hold/bad-name)`,
			`/locks/zoo: "zoo"; expected one of collections, inventory, queue, storage (locks/unknown-path)`,
		}},
		{"local ids in another dialect's place", newqueue.MrtZK, []string{"/locks/queue/localid/x "}, []string{
			`/locks/queue/localid: "localid"; expected a hold on a queue: ingest, accessSmall or accessLarge (queue-hold/bad-name)`,
		}},
		{"an access request without token", newqueue.Design, []string{"-/access/small/qid0000000000/token", `/access/small/qid0000000000/status {"status":"held"}`}, []string{
			"/access/small/qid0000000000/status: status held; expected an access request's state in dialect design (request-status/bad-state)",
			"/access/small/qid0000000000/token: it is not there; expected this znode (request-token/missing)",
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
			for _, p := range Check(tree, c.d) {
				got = append(got, p.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// pruned is the tree without a node and what is below it.
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

// TestCheckLayoutLocks: where the tree has Stats, a lock of the wrong kind shows.
func TestCheckLayoutLocks(t *testing.T) {
	tree := parseTree(t, good[newqueue.Design])
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
	for _, p := range Check(tree, newqueue.Design) {
		got = append(got, p.Path+" "+p.Rule)
	}
	want := []string{"/jobs/jid0000000002/lock job-lock/not-ephemeral", "/locks/collections/c collection-hold/not-persistent", "/locks/storage/s storage-lock/not-ephemeral"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
