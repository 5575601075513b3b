package accept

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// TestEveryRowCounts removes one row from a table at a time. The scenarios with the row's
// id must fail.
func TestEveryRowCounts(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, e := range states.Entities {
			for i, row := range states.Transitions(e, string(d)) {
				t.Run(fmt.Sprintf("%s/%s", d, row.ID), func(t *testing.T) {
					t.Parallel()
					table := slices.Delete(states.Transitions(e, string(d)), i, i+1)
					mustFail(t, row.ID, "", Options{
						Dialects: []newqueue.Dialect{d}, queue: []client.Option{client.WithTable(e, table)},
					})
				})
			}
		}
	}
}

// TestEveryIllegalPairCounts runs the scenarios about illegal steps on a queue that allows
// every step. Each of them must fail.
func TestEveryIllegalPairCounts(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, e := range states.Entities {
			t.Run(fmt.Sprintf("%s/%s", d, e), func(t *testing.T) {
				t.Parallel()
				table := states.Transitions(e, string(d))
				for i, p := range notJoined(e, d) {
					table = append(table, states.Transition{
						ID: fmt.Sprintf("X%d", i), From: p.from, To: p.to, Who: states.Admin, Nodes: states.NodesKept,
						LastSuccess: states.LSSSame, Retry: states.RetrySame, QueueEntry: states.EntryKept, BatchEntry: states.EntryKept,
					})
				}
				r, err := Run(t.Context(), Options{
					Address: address(t), Tags: "@illegal", Dialects: []newqueue.Dialect{d}, Parallel: 4,
					judged: []Feature{{"illegal.feature", []byte(illegal(e, d))}},
					queue:  []client.Option{client.WithTable(e, table)},
				})
				if err != nil {
					t.Fatal(err)
				}
				if r.Scenarios == 0 || r.Failed != r.Scenarios {
					t.Errorf("%d of %d scenarios have failed", r.Failed, r.Scenarios)
				}
			})
		}
	}
}

// columns has a function for each column of a job's tables that makes a row's value wrong.
// It returns false if the row has no value there.
var columns = map[string]func(*states.Transition) (broken bool){
	"last success": func(t *states.Transition) bool {
		if t.LastSuccess == states.LSSLeft {
			t.LastSuccess = states.LSSSame
		} else {
			t.LastSuccess = states.LSSLeft
		}
		return t.Nodes == states.NodesKept || t.Nodes == states.NodesCreated
	},
	// A failure and a resume write more than what was there before.
	"step before": func(t *states.Transition) bool {
		was := t.LastSuccess
		if was == states.LSSBefore {
			t.LastSuccess = states.LSSSame
		}
		return was == states.LSSBefore
	},
	"retry": func(t *states.Transition) bool {
		if t.Nodes != states.NodesKept {
			return false
		}
		if t.Retry == states.RetryNext {
			t.Retry = states.RetrySame
		} else {
			t.Retry = states.RetryNext
		}
		return true
	},
	"queue entry": func(t *states.Transition) bool {
		t.QueueEntry = states.EntryKept
		return true
	},
	"batch entry": func(t *states.Transition) bool {
		was := t.BatchEntry
		t.BatchEntry = states.EntryKept
		return was != states.EntryKept
	},
}

// TestEveryColumnCounts makes a column wrong in all rows of a job's table. Every row that
// has a value there must fail, and all others must pass.
func TestEveryColumnCounts(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for name, breaks := range columns {
			t.Run(fmt.Sprintf("%s/%s", d, name), func(t *testing.T) {
				t.Parallel()
				table := states.Transitions(states.Job, string(d))
				want := map[string]Result{}
				var tags []string
				for i := range table {
					want[table[i].ID] = Passed
					if breaks(&table[i]) {
						want[table[i].ID] = Failed
					}
					tags = append(tags, "@"+table[i].ID)
				}
				r, err := Run(t.Context(), Options{
					Address: address(t), Tags: strings.Join(tags, ","), Dialects: []newqueue.Dialect{d}, judged: tagged(t, d, tags...), Parallel: 4,
					queue: []client.Option{client.WithTable(states.Job, table)},
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range r.Coverage {
					if result, ok := want[row.ID]; ok && row.Result != result {
						t.Errorf("%s %s: %s %v, want %s", row.ID, row.What, row.Result, row.Why, result)
					}
				}
			})
		}
	}
}

// tagged returns the features that have a scenario with one of the tags, so that the
// others need not be parsed.
func tagged(t *testing.T, d newqueue.Dialect, tags ...string) []Feature {
	t.Helper()
	all, err := featuresOf(d)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f Feature) bool {
		return !slices.ContainsFunc(strings.Fields(string(f.Text)), func(word string) bool { return slices.Contains(tags, word) })
	})
}

// mustFail runs the scenarios of a row. The report must name the row, a
// scenario with its id, and what is wrong.
func mustFail(t *testing.T, id, says string, opt Options) {
	t.Helper()
	opt.Address, opt.Tags = address(t), "@"+id
	opt.judged, opt.Parallel = tagged(t, opt.Dialects[0], opt.Tags), 4
	r, err := Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Coverage, func(row Row) bool { return row.ID == id && row.Result == Failed }) {
		t.Errorf("%s has not failed: %+v", id, r)
	}
	if !slices.ContainsFunc(r.Problems, func(p string) bool {
		return strings.HasPrefix(p, "failed: ") && strings.Contains(p, "@"+id+": ") && strings.Contains(p, says)
	}) {
		t.Errorf("no problem names @%s and says %q: %q", id, says, r.Problems)
	}
}

type saboteur struct {
	client.Conn
	alter func(op any) any // nil drops the operation
}

// Multi sends the altered operations, and answers as if all had been sent and had
// succeeded.
func (s saboteur) Multi(ops ...any) ([]zk.MultiResponse, error) {
	var altered []any
	var kept []int
	for i, op := range ops {
		if op = s.alter(op); op != nil {
			altered, kept = append(altered, op), append(kept, i)
		}
	}
	answers, err := s.Conn.Multi(altered...)
	if len(answers) != len(altered) {
		return answers, err
	}
	all := make([]zk.MultiResponse, len(ops))
	for i, a := range answers {
		all[kept[i]] = a
	}
	return all, err
}

func dropDelete(part string) func(any) any {
	return func(op any) any {
		if d, ok := op.(*zk.DeleteRequest); ok && strings.Contains(d.Path, part) {
			return nil
		}
		return op
	}
}

func creates(part string, alter func(*zk.CreateRequest) any) func(any) any {
	return func(op any) any {
		if c, ok := op.(*zk.CreateRequest); ok && strings.Contains(c.Path, part) {
			changed := *c
			return alter(&changed)
		}
		return op
	}
}

func dropCreate(part string) func(any) any {
	return creates(part, func(*zk.CreateRequest) any { return nil })
}

func ephemeral(part string) func(any) any {
	return creates(part, func(c *zk.CreateRequest) any {
		c.Flags = zk.FlagEphemeral
		return c
	})
}

var persistent = creates("", func(c *zk.CreateRequest) any {
	c.Flags = 0
	return c
})

// moved changes the path of what is created, and of what the same transaction writes to it.
func moved(from, to string) func(any) any {
	return func(op any) any {
		switch op := op.(type) {
		case *zk.CreateRequest:
			op.Path = strings.Replace(op.Path, from, to, 1)
		case *zk.SetDataRequest:
			op.Path = strings.Replace(op.Path, from, to, 1)
		}
		return op
	}
}

func dropSet(name string) func(any) any {
	return func(op any) any {
		if s, ok := op.(*zk.SetDataRequest); ok && path.Base(s.Path) == name {
			return nil
		}
		return op
	}
}

func inStatus(change func(object)) func(any) any {
	return func(op any) any {
		if s, ok := op.(*zk.SetDataRequest); ok && path.Base(s.Path) == "status" {
			o := parse(s.Data)
			change(o)
			return &zk.SetDataRequest{Path: s.Path, Data: encode(o), Version: s.Version}
		}
		return op
	}
}

// TestEveryEffectCounts breaks one effect of a step at a time, in what is sent to the
// server. The scenario of the row with that effect must fail.
func TestEveryEffectCounts(t *testing.T) {
	for _, b := range []struct {
		what, id, says string
		alter          func(any) any
	}{
		{"retry_count is not increased", "J16", `retry_count is 2, expected 3`, inStatus(func(o object) { o["retry_count"] = retries })},
		{"the lock is not released", "J9", `/jobs/jid0000000002/lock is still there`, dropDelete("/lock")},
		{"the lock of a batch is not released", "B2", `/batches/bid0000000001/lock is still there`, dropDelete("/lock")},
		{"the lock of a request is not released", "A2", `/access/small/qid0000000001/lock is still there`, dropDelete("/lock")},
		{"the batch entry stays in the old folder too", "J9", `/states/batch-processing/jid0000000002 is still there`, dropDelete("/batch-processing/")},
		{"the batch entry is lost", "J14", `/states/batch-completed/jid0000000002 is not there`, dropCreate("/batch-completed/")},
		{"the batch entry is created in the wrong folder", "J9", `/states/batch-failed/jid0000000002 is not there`, moved("/batch-failed", "/batch-completed")},
		{"last_successful_status is not kept by a failure", "J9", `last_successful_status is "downloading", expected "provisioning"`, inStatus(func(o object) { o["last_successful_status"] = "downloading" })},
		{"last_successful_status is not set by a success", "J7", `last_successful_status is "estimating", expected "provisioning"`, inStatus(func(o object) { o["last_successful_status"] = "estimating" })},
		{"the queue entry is left behind", "J12", `/jobs/states/recording/05-jid0000000002 is still there`, dropDelete("/jobs/states/")},
		{"the queue entry is lost", "J12", `/jobs/states/notify/05-jid0000000002 is not there`, dropCreate("/jobs/states/")},
		{"the queue entry keeps the old priority", "J6", `/jobs/states/provisioning/12-jid0000000002 is not there`, moved("/12-", "/05-")},
		{"the priority is not written", "J8", `/priority holds "5", expected "3"`, dropSet("priority")},
		{"space_needed is not set", "J6", `/space_needed holds "1234", expected "5000000"`, dropSet("space_needed")},
		{"the time is not written", "J4", `last_modification_date is "2024-02-20T12:00:00-08:00", expected "2024-03-01T12:02:00-08:00"`, inStatus(func(o object) {
			o["last_modification_date"] = spell(newqueue.Design).time(longAgo)
		})},
		{"the time is not written to a batch", "B4", `last_modified is "2024-02-20T12:00:00-08:00", expected "2024-03-01T12:01:00-08:00"`, inStatus(func(o object) { o["last_modified"] = spell(newqueue.Design).time(longAgo) })},
		{"the message is lost", "J9", `message is not there, expected "404 Not Found"`, inStatus(func(o object) { delete(o, "message") })},
		{"the message of a request is lost", "A4", `message is not there, expected "a.txt is not in the cloud"`, inStatus(func(o object) { delete(o, "message") })},
		{"the old message stays", "J16", `message is "what went wrong", expected not there`, inStatus(func(o object) { o["message"] = "what went wrong" })},
		{"the inventory is not written", "J10", `/inventory is not there`, dropCreate("/inventory")},
		{"the identifier is not written", "J10", `/identifiers is not there`, dropCreate("/identifiers")},
		{"the report is not written", "B6", `/status-report is not there`, dropCreate("/status-report")},
		{"an update report is not written", "B9", `/status-report holds`, dropSet("status-report")},
		{"the UUID is not written", "B1", `/batch-uuids/7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62 is not there`, dropCreate("/batch-uuids/")},
		{"the UUID is left behind", "B13", `/batch-uuids/uuid-of-bid0000000001 is still there`, dropDelete("/batch-uuids/")},
		{"a batch that was marked as deleted leaves its UUID", "B14", `/batch-uuids/uuid-of-bid0000000001 is still there`, dropDelete("/batch-uuids/")},
		{"a request that was marked as deleted stays", "A8", `/access/large/qid0000000001 is still there`, dropDelete("/access/")},
		{"what a dead worker left of a batch stays when it is held", "B2", `/batches/bid0000000001/states is still there`, dropDelete("/states")},
		{"what a dead worker left of a batch stays when it is released", "B4", `/batches/bid0000000001/states is still there`, dropDelete("/states")},
		{"a job is created without its queue entry", "J1", `/jobs/states/pending/05-jid0000000003 is not there`, dropCreate("/jobs/states/")},
		{"a job is created without its batch entry", "B3", `/states/batch-processing/jid0000000003 is not there`, dropCreate("/batch-processing/")},
		{"a deleted batch leaves its jobs' queue entries", "B11", `/jobs/states/completed/05-jid0000000002 is still there`, dropDelete("/jobs/states/")},
		{"a deleted job leaves its queue entry", "J21", `/jobs/states/failed/05-jid0000000002 is still there`, dropDelete("/jobs/states/")},
		{"a new request has no token", "A1", `/token is not there`, dropCreate("/token")},
		{"something else is written as well", "J5", `holds "x", expected ""`, creates("/jobs/states/pending/", func(c *zk.CreateRequest) any {
			c.Data = []byte("x")
			return c
		})},
		{"a queue entry ends with the worker's session", "J12", `/jobs/states/notify/05-jid0000000002: it ends with its creator's session`, ephemeral("/jobs/states/notify/")},
		{"a batch entry ends with the worker's session", "J14", `/states/batch-completed/jid0000000002: it ends with its creator's session`, ephemeral("/batch-completed/")},
		{"a report ends with the worker's session", "B6", `/status-report: it ends with its creator's session`, ephemeral("/status-report")},
		{"what should hold nothing holds a null", "J12", `/jobs/states/notify/05-jid0000000002 holds null data`, creates("", func(c *zk.CreateRequest) any {
			if len(c.Data) == 0 {
				c.Data = nil
			}
			return c
		})},
		{"another job's static node is written again, unchanged", "J5", `/jobs/jid0000000000/bid: it was written, and its data is the same as before`, func(op any) any {
			if d, ok := op.(*zk.DeleteRequest); ok && strings.HasSuffix(d.Path, "/lock") {
				return &zk.SetDataRequest{Path: strings.Replace(strings.TrimSuffix(d.Path, "/lock"), "jid0000000002", "jid0000000000", 1) + "/bid", Data: []byte("bid0000000000"), Version: -1}
			}
			return op
		}},
		{"locks are persistent", "Q4", `nothing to acquire`, persistent},
		{"locks are persistent, and a dead worker's stays", "S8", `nothing to acquire`, persistent},
		{"a storage lock is persistent", "K3", `is ephemeral: false, expected true`, persistent},
		{"an administrator's hold is ephemeral", "K2", `is ephemeral: true, expected false`, ephemeral("/collections/")},
		{"a lock is created in another folder", "K5", `/locks/queue/localid/a_bark_13030_owner is not there`, moved("/localid/", "/localids-")},
		{"a state is written as the other dialect writes it", "B8", `status is "UpdateReporting", expected "update-reporting"`, inStatus(func(o object) { o["status"] = "UpdateReporting" })},
	} {
		t.Run(b.what, func(t *testing.T) {
			t.Parallel()
			mustFail(t, b.id, b.says, Options{
				Dialects: []newqueue.Dialect{newqueue.Design},
				conn:     func(c client.Conn) client.Conn { return saboteur{c, b.alter} },
			})
		})
	}
}
