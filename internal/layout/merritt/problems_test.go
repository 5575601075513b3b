package merritt

import (
	"fmt"
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
		for _, p := range Problems(parseTree(t, good[d]), d) {
			t.Errorf("%s: %v", d, p)
		}
	}
	if p := Problems(znode.NewTree(), newqueue.Design); p != nil {
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
		if got := Problems(parseTree(t, text), d); len(got) != want {
			t.Errorf("%s: %v", d, got)
		}
	}
}

// TestCheck: what is found in the good trees when they are broken, and how it reads. TestEveryRule
// breaks every rule of the layout, and TestEveryBreak every znode.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, path, data string
		d                newqueue.Dialect
		stat             znode.Stat
		want             []string
	}{
		{name: "a job of another batch", d: newqueue.Design, path: "/jobs/jid0000000001/bid", data: "bid0000000001", want: []string{
			`/batches/bid0000000000/states/batch-processing/jid0000000001: job jid0000000001 belongs to batch "bid0000000001"; expected an entry of a job of this batch (batch-entry/other-batch)`,
			"/batches/bid0000000001/states: no states: it looks pending to a worker; expected states, because it has jobs (batch-states/no-states)",
			"/batches/bid0000000001/states/batch-processing/jid0000000001: no entry: its batch doesn't know of it; expected an entry of job jid0000000001, which is pending (batch-entry/no-entry)",
		}},
		{name: "another dialect's state name", d: newqueue.MrtZK, path: "/jobs/jid0000000001/status", data: `{"status":"pending","retry_count":0}`, want: []string{
			`/jobs/jid0000000001/status: status "pending"; expected a job's state in dialect mrt-zk (job-status/bad-state)`,
		}},
		{name: "another dialect's time", d: newqueue.MrtZK, path: "/jobs/jid0000000001/status", data: `{"status":"Pending","retry_count":0,"last_modified":"2024-03-01T12:00:00Z"}`, want: []string{
			`/jobs/jid0000000001/status: last_modified: time "2024-03-01T12:00:00Z": expected the format 2006-01-02 15:04:05 -0700; expected a time as 2024-03-01 12:00:00 +0000 (job-status/bad-time)`,
		}},
		{name: "a key twice", d: newqueue.Design, path: "/jobs/jid0000000001/configuration", data: `{"title":"a","more":[{"title":"b"},{"x":{"x":1}}],"title":"c"}`, want: []string{
			`/jobs/jid0000000001/configuration: key "title" is there twice; expected a JSON object; the keys that the client library reads are strings (job-configuration/not-json)`,
		}},
		{name: "more levels than org.json reads", d: newqueue.MrtZK, path: "/jobs/jid0000000001/metadata", data: `{"a":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + "}", want: []string{
			"/jobs/jid0000000001/metadata: objects and arrays are in each other more than 512 levels deep; expected a JSON object of strings (job-metadata/not-json)",
		}},
		{name: "as many levels as org.json reads", d: newqueue.Design, path: "/jobs/jid0000000001/configuration", data: `{"a":` + strings.Repeat("[", 511) + strings.Repeat("]", 511) + "}"},
		{name: "bytes that are no text", d: newqueue.MrtZK, path: "/jobs/jid0000000001/metadata", data: "{\"a\":\"\xff\"}", want: []string{
			"/jobs/jid0000000001/metadata: byte 0xff at offset 6 is not UTF-8; expected a JSON object of strings (job-metadata/not-json)",
		}},
		{name: "one key in several objects", d: newqueue.Design, path: "/jobs/jid0000000001/configuration", data: `{"title":"title","more":[{"title":"b"},{"title":{"title":1}}]}`},
		{name: "local ids in another dialect's place", d: newqueue.MrtZK, path: "/locks/queue/localid/x", want: []string{
			`/locks/queue/localid: "localid"; expected a hold on a queue: ingest, accessSmall or accessLarge (queue-hold/bad-name)`,
		}},
		{name: "Estimate did not find the size", d: newqueue.MrtZK, path: "/jobs/jid0000000001/space_needed", data: "-1"},
		{name: "the published design has no size of -1", d: newqueue.Design, path: "/jobs/jid0000000001/space_needed", data: "-1", want: []string{
			`/jobs/jid0000000001/space_needed: "-1" is not a decimal number; expected a decimal number (job-space/bad-value)`,
		}},
		{name: "no service writes another negative size", d: newqueue.MrtZK, path: "/jobs/jid0000000001/space_needed", data: "-2", want: []string{
			`/jobs/jid0000000001/space_needed: "-2" is not a decimal number; expected a decimal number, or -1 if Estimate did not find the size (job-space/bad-value)`,
		}},
		{name: "a lock that stays", d: newqueue.Design, path: "/locks/storage/s", stat: znode.Stat{Czxid: 1}, want: []string{
			`/locks/storage/s: it is persistent, so it stays when its creator's session ends; expected a znode that is ephemeral (storage-lock/not-ephemeral)`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := parseTree(t, good[c.d])
			if err := tree.Put(znode.Node{Path: c.path, Data: []byte(c.data), Stat: c.stat}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range Problems(tree, c.d) {
				got = append(got, fmt.Sprintf("%s: %s (%s)", p.Path, p.Message(), p.Rule))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// What the deployed services leave in the ordinary way breaks no rule, and what they leave for ever is named with
// who leaves it.
func TestWhatServicesLeave(t *testing.T) {
	for _, c := range []struct {
		name string
		set  string // znodes that are added or written; those with a minus are removed
		want []string
	}{
		{"a batch that failed before it had a job", `
/batch-uuids/uuid-2 bid0000000002
/batches/bid0000000002/submission {"batchID":"uuid-2"}
/batches/bid0000000002/status {"status":"Failed","last_modified":"2024-03-01 12:00:00 -0800","message":"no manifest"}
/batches/bid0000000002/states`, nil},
		{"the same, and an administrator deleted it", `
/batch-uuids/uuid-2 bid0000000002
/batches/bid0000000002/submission {"batchID":"uuid-2"}
/batches/bid0000000002/status {"status":"Deleted","last_modified":"2024-03-01 12:00:00 -0800","message":""}
/batches/bid0000000002/states`, []string{
			"/batches/bid0000000002/states/batch-processing: it is not there: the hourly cleanup never removes the batch; expected the folder, even empty (batch-states/no-processing)",
		}},
		{"a cleanup that was killed after it removed a batch's name", `
/batches/bid0000000002/submission {"batchID":"uuid-2"}
/batches/bid0000000002/status {"status":"Completed","last_modified":"2024-03-01 12:00:00 -0800","message":""}
/batches/bid0000000002/states/batch-processing`, nil},
		{"a batch that is at work has lost its name", `
-/batch-uuids/uuid-1`, []string{
			"/batch-uuids/uuid-1: no entry: the batch can't be found by its batchID; expected an entry for batch bid0000000000 (batch-uuid/no-entry)",
		}},
		{"Estimate added 10 to priority 95", `
/jobs/jid0000000001/space_needed -1
/jobs/jid0000000001/priority 105
-/jobs/states/pending/05-jid0000000001
/jobs/states/pending/105-jid0000000001`, []string{
			"/jobs/jid0000000001/priority: 105: a priority is a number from 0 to 99: Estimate adds 10 if it does not find the size of a job; expected a decimal number from 0 to 99 (job-priority/bad-value)",
			"/jobs/states/pending/105-jid0000000001: a priority of three digits: no daemon finds the job; expected an entry whose priority has two digits (queue-entry/three-digits)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var keep []string
			removed := map[string]bool{}
			for _, line := range strings.Split(strings.TrimSpace(c.set), "\n") {
				if path, is := strings.CutPrefix(line, "-"); is {
					removed[path] = true
				}
			}
			for _, line := range strings.Split(good[newqueue.MrtZK]+strings.TrimSpace(c.set), "\n") {
				if path, _, _ := strings.Cut(line, " "); !removed[path] && !strings.HasPrefix(line, "-") {
					keep = append(keep, line)
				}
			}
			var got []string
			for _, p := range Problems(parseTree(t, strings.Join(keep, "\n")), newqueue.MrtZK) {
				got = append(got, fmt.Sprintf("%s: %s (%s)", p.Path, p.Message(), p.Rule))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
