package merritt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// problems are the problems of a tree, each on a line.
func problems(t *testing.T, f forest, d newqueue.Dialect) []string {
	t.Helper()
	var all []string
	for _, p := range merritt.Problems(f.tree(t), d) {
		all = append(all, fmt.Sprintf("%s: %s (%s)", p.Path, p.Message(), p.Rule))
	}
	return all
}

// unlockedSample is the sample of a dialect without locks, which other rules are about.
func unlockedSample(t *testing.T, d newqueue.Dialect) forest {
	f := merrittSample(string(d)).sound(t, named(t, "merritt", string(d)))
	for path := range f.clone() {
		if f[path].Stat.EphemeralOwner != 0 || strings.HasPrefix(path, "/locks/storage/") {
			f.remove(path)
		}
	}
	return f
}

// secondBatch adds a batch and its name.
func secondBatch(f forest, status string) {
	f.put("/batches/bid0000000001", "")
	f.put("/batches/bid0000000001/submission", `{"batchID":"bid-2"}`)
	f.put("/batches/bid0000000001/status", status)
	f.put("/batch-uuids/bid-2", "bid0000000001")
}

// completed completes the sample's job, without its queue entry.
func completed(f forest, state string) {
	setKey(f, jobPath+"/status", "status", state)
	f.remove(entryPath)
	f.put(batchPath+"/states/batch-completed", "")
	f.move(inBatch, batchPath+"/states/batch-completed/"+znode.Name(jobPath))
}

// TestProblems: what is found when the sample is broken, and how it reads. TestEveryRule
// breaks every rule of the layout.
func TestProblems(t *testing.T) {
	set := func(path, data string) func(forest) { return func(f forest) { f.put(path, data) } }
	for _, c := range []struct {
		name string
		d    newqueue.Dialect
		do   func(f forest)
		want []string
	}{
		{"an empty tree", newqueue.Design, func(f forest) { clear(f) }, nil},
		{"a job of another batch", newqueue.Design, func(f forest) {
			secondBatch(f, `{"status":"pending"}`)
			f.change(jobPath+"/bid", "bid0000000001")
		}, []string{
			`/batches/bid0000000000/states/batch-processing/jid0000000000: job jid0000000000 belongs to batch "bid0000000001"; expected an entry of a job of this batch (batch-entry/other-batch)`,
			`/batches/bid0000000001/states: no states: it looks pending to a worker; expected states, because it has jobs (batch-states/no-states)`,
			`/batches/bid0000000001/states/batch-processing/jid0000000000: no entry: its batch doesn't know of it; expected an entry of job jid0000000000, which is pending (batch-entry/no-entry)`,
		}},
		{"another dialect's state name", newqueue.MrtZK, set(jobPath+"/status", `{"status":"pending","retry_count":0}`), []string{
			`/jobs/jid0000000000/status: status "pending"; expected a job's state in dialect mrt-zk (job-status/bad-state)`,
		}},
		{"a key twice", newqueue.Design, set(jobPath+"/configuration", `{"title":"a","more":[{"title":"b"},{"x":{"x":1}}],"title":"c"}`), []string{
			`/jobs/jid0000000000/configuration: key "title" is there twice; expected a JSON object; the keys that the client library reads are strings (job-configuration/not-json)`,
		}},
		{"one key in several objects", newqueue.Design, set(jobPath+"/configuration", `{"title":"title","more":[{"title":"b"},{"title":{"title":1}}]}`), nil},
		{"more levels than org.json reads", newqueue.MrtZK, set(jobPath+"/metadata", `{"a":`+strings.Repeat("[", 512)+strings.Repeat("]", 512)+"}"), []string{
			`/jobs/jid0000000000/metadata: objects and arrays are in each other more than 512 levels deep; expected a JSON object of strings (job-metadata/not-json)`,
		}},
		{"as many levels as org.json reads", newqueue.Design, set(jobPath+"/configuration", `{"a":`+strings.Repeat("[", 511)+strings.Repeat("]", 511)+"}"), nil},
		{"bytes that are no text", newqueue.MrtZK, set(jobPath+"/metadata", "{\"a\":\"\xff\"}"), []string{
			`/jobs/jid0000000000/metadata: byte 0xff at offset 6 is not UTF-8; expected a JSON object of strings (job-metadata/not-json)`,
		}},
		{"a completed job without a queue entry (J20)", newqueue.Design, func(f forest) { completed(f, "completed") }, nil},
		{"such a job in the other dialect", newqueue.MrtZK, func(f forest) { completed(f, "Completed") }, []string{
			`/jobs/states/completed/05-jid0000000000: no entry: no worker will find the job; expected an entry of job jid0000000000, which is completed (queue-entry/no-entry)`,
		}},
		{"local ids in another dialect's place", newqueue.MrtZK, func(f forest) { f.put("/locks/queue/localid", ""); f.put("/locks/queue/localid/x", "") }, []string{
			`/locks/queue/localid: "localid"; expected a hold on a queue: ingest, accessSmall or accessLarge (queue-hold/bad-name)`,
		}},
		{"Estimate did not find the size", newqueue.MrtZK, set(jobPath+"/space_needed", "-1"), nil},

		// What the deployed services leave in the ordinary way breaks no rule, and what they leave for ever is named
		// with who leaves it.
		{"a batch that failed before it had a job", newqueue.MrtZK, func(f forest) {
			secondBatch(f, `{"status":"Failed","last_modified":"2024-03-01 12:00:00 -0800","message":"no manifest"}`)
			f.put("/batches/bid0000000001/states", "")
		}, nil},
		{"the same, and an administrator deleted it", newqueue.MrtZK, func(f forest) {
			secondBatch(f, `{"status":"Deleted","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
			f.put("/batches/bid0000000001/states", "")
		}, []string{
			`/batches/bid0000000001/states/batch-processing: it is not there: the hourly cleanup never removes the batch; expected the folder, even empty (batch-states/no-processing)`,
		}},
		{"a cleanup that was killed after it removed a batch's name", newqueue.MrtZK, func(f forest) {
			secondBatch(f, `{"status":"Completed","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
			f.put("/batches/bid0000000001/states", "")
			f.put("/batches/bid0000000001/states/batch-processing", "")
			f.remove("/batch-uuids/bid-2")
		}, nil},
		{"Estimate added 10 to priority 95", newqueue.MrtZK, func(f forest) {
			f.change(jobPath+"/space_needed", "-1")
			f.change(jobPath+"/priority", "105")
			f.remove(entryPath)
			f.put("/jobs/states/pending/105-jid0000000000", "")
		}, []string{
			`/jobs/jid0000000000/priority: 105: a priority is a number from 0 to 99: Estimate adds 10 if it does not find the size of a job; expected a decimal number from 0 to 99 (job-priority/bad-value)`,
			`/jobs/states/pending/105-jid0000000000: a priority of three digits: no daemon finds the job; expected an entry whose priority has two digits (queue-entry/three-digits)`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := unlockedSample(t, c.d)
			c.do(f)
			if got := problems(t, f, c.d); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
