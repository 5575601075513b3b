package daemons_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/legacyqueue"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// A daemon is killed before each of its writes in turn. When its session has expired, the
// services finish the job, except where the writes of the originals leave a gap.
func TestKilledBeforeEveryWrite(t *testing.T) {
	chain := []services.Daemon{services.Initialize, services.Estimate, services.Provision, services.Download,
		services.Process, services.Store, services.Inventory, services.Notify}
	for at, d := range chain {
		t.Run(string(d), func(t *testing.T) {
			for writes := 1; ; writes++ {
				q := newQueue(t, daemons.Options{})
				jid := q.add("Pending", newqueue.Object{"type": "container"})
				for _, earlier := range chain[:at] {
					q.step(q.worker(earlier))
				}
				worker := q.worker(d)
				turn := worker.Begin()
				var next daemons.Pause
				more := true
				for range writes {
					next, more = turn.Next()
				}
				worker.Kill()
				worker.Expire()
				if !more {
					return
				}
				must(t, q.Run())
				got, want := "done", "done"
				switch {
				case len(q.Waiting()) > 0:
					got = "waits"
				case q.status(jid) != "Completed":
					got = "lost"
				}
				recorded := 1
				switch write := strings.ReplaceAll(next.Write, jid, "J"); {
				case d != services.Notify && strings.HasPrefix(write, "create /jobs/states/"):
					want = "lost" // it is in no queue
				case d == services.Store && (write == "store jid-J" || write == "set /jobs/J/status"):
					want = "waits" // for the lock that the killed process has left
				case d == services.Inventory && write == "set /jobs/J/status":
					recorded = 2
				case d == services.Inventory && write == "delete /jobs/states/recording/05-J":
					recorded = 3 // it takes the job again in Notify and in Completed, because it does not check the status
				}
				if e := q.Executions()["jid-"+jid]; got != want || e.Stored > 1 || got == "done" && e.Recorded != recorded {
					t.Errorf("killed before %q, the job is %s (%s), want %s: %+v, %v", next.Write, got, q.status(jid), want, e, q.Troubles)
				}
				q.World.Close()
			}
		})
	}
}

// A daemon whose session expires works on, without its lock. Another one takes the job
// too, and the work is done twice.
func TestExpiredSession(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	jid := q.add("Recording", nil)
	q.create("/jobs/"+jid+"/inventory", goodInventory)
	first := q.worker(services.Inventory)
	turn := first.Begin()
	q.until(turn, "create /locks/inventory")
	first.Expire()
	q.step(q.Daemon(services.Inventory))
	if did := value(turn.Finish())(t); !did {
		t.Error("it does not work on")
	}
	if e := q.Executions()["jid-"+jid]; e.Recorded != 2 || e.Times() != 2 || len(e.Workers) != 2 {
		t.Errorf("its work: %+v", e)
	}
}

// legacyRecord adds a record to the legacy queue of the same server, below /legacy.
func (q *queue) legacyRecord(path string, s legacy.Status, p legacy.Payload) {
	q.t.Helper()
	data := value(legacyqueue.Encode(legacy.NewHeader(s, time.Now(), legacy.Seconds), legacy.JSON, p))(q.t)
	q.create("/legacy"+path, string(data))
}

func (q *queue) legacyStatus(path string) string {
	q.t.Helper()
	return legacy.Status(q.get("/legacy" + path)[0]).String()
}

func newLegacyQueue(t *testing.T, opt daemons.Options) *queue {
	t.Helper()
	opt.Legacy.Root = "/legacy"
	q := newQueue(t, opt)
	for _, path := range []string{"", "/ingest", "/mrt.inventory.full", "/accessSmall.1", "/accessLarge.1"} {
		q.create("/legacy"+path, "")
	}
	return q
}

func (q *queue) legacyWorker(name string) *daemons.Actor {
	i := slices.IndexFunc(q.LegacyWorkers(), func(a *daemons.Actor) bool { return a.Name == "legacy "+name })
	return q.LegacyWorkers()[i]
}

func ingestPayload(id string) legacy.Payload {
	return legacy.Payload{"jobID": id, "batchID": "bid-1", "type": "file", "filename": "a.txt", "profile": "p"}
}

// A legacy consumer takes the first pending record that has its digit, and the second
// consumer of a worker only those of high priority.
func TestLegacyOrder(t *testing.T) {
	q := newLegacyQueue(t, daemons.Options{})
	for id, status := range map[string]legacy.Status{
		"05000000000001": legacy.Held, "05000000000002": legacy.Pending, "04010000000003": legacy.Pending,
		"05100000000004": legacy.Pending, "06000000000005": legacy.Pending,
	} {
		q.legacyRecord("/ingest/mrtQ-"+id, status, ingestPayload("jid-"+id))
	}
	took := func(worker string) string {
		turn := q.legacyWorker(worker).Begin()
		q.until(turn, "set to consumed")
		p, more := turn.Next()
		if !more {
			return "nothing"
		}
		value(turn.Finish())(t)
		return p.Write
	}
	for _, want := range []struct{ worker, record string }{
		{"ingest 0 (high priority)", "05100000000004"}, {"ingest 0", "05000000000002"}, {"ingest 0", "06000000000005"}, {"ingest 1", "04010000000003"},
	} {
		if got := took(want.worker); got != "move the payload of bid-1/jid-"+want.record {
			t.Errorf("%s did %q, want that it takes %s", want.worker, got, want.record)
		}
	}
	for _, a := range q.LegacyWorkers() {
		if strings.Contains(a.Name, "ingest") && value(a.Step())(t) {
			t.Errorf("%s still finds something", a.Name)
		}
	}
}

// What a legacy worker does with a record of each queue, and what is left if it is killed.
func TestLegacyWorkers(t *testing.T) {
	const node = "0000000001"
	for name, c := range map[string]struct {
		worker, path string
		payload      legacy.Payload
		fails        bool
		want         string
		work         daemons.Execution
	}{
		"ingest":       {"ingest 0", "/ingest/mrtQ-0500" + node, ingestPayload("a"), false, "completed", daemons.Execution{Stored: 1}},
		"ingest fails": {"ingest 0", "/ingest/mrtQ-0500" + node, ingestPayload("a"), true, "failed", daemons.Execution{}},
		"inventory":    {"inventory", "/mrt.inventory.full/mrtQ-00" + node, legacy.Payload{"manifestURL": "a"}, false, "completed", daemons.Execution{Recorded: 1}},
		"access":       {"access /accessSmall.1", "/accessSmall.1/mrtQ-00" + node, legacy.Payload{"token": "a"}, false, "completed", daemons.Execution{Assembled: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newLegacyQueue(t, daemons.Options{Fails: func(string, string) bool { return c.fails }})
			q.legacyRecord(c.path, legacy.Pending, c.payload)
			worker := q.legacyWorker(c.worker)
			q.step(worker)
			c.work.Workers, c.work.States = []string{worker.Name}, []string{"consumed", c.want}
			if got := q.Executions()["a"]; q.legacyStatus(c.path) != c.want || fmt.Sprint(got) != fmt.Sprint(c.work) {
				t.Errorf("it is %s: %+v, want %+v", q.legacyStatus(c.path), got, c.work)
			}
			// Two take the second record at once. One is killed in the middle.
			other := c.path[:len(c.path)-1] + "2"
			q.legacyRecord(other, legacy.Pending, c.payload)
			turn, late := worker.Begin(), worker.Begin()
			q.until(turn, "set to consumed")
			q.until(late, "set to consumed")
			turn.Next()
			if did := value(late.Finish())(t); did {
				t.Error("two took the same record")
			}
			worker.Kill()
			if did := value(worker.Step())(t); did || q.legacyStatus(other) != "consumed" {
				t.Errorf("a record whose worker was killed is %s", q.legacyStatus(other))
			}
		})
	}
}

// The legacy consumer leaves a record for inventory, and the cleanup removes what is
// completed or deleted.
func TestLegacyInventoryAndCleanup(t *testing.T) {
	q := newLegacyQueue(t, daemons.Options{})
	q.legacyRecord("/ingest/mrtQ-05000000000001", legacy.Pending, ingestPayload("a"))
	q.legacyRecord("/ingest/mrtQ-05000000000002", legacy.Deleted, ingestPayload("b"))
	q.legacyRecord("/ingest/mrtQ-05000000000003", legacy.Failed, ingestPayload("c"))
	for _, worker := range []string{"ingest 0", "inventory", "cleanup"} {
		q.step(q.legacyWorker(worker))
	}
	left, _, err := q.conn.Children("/legacy/ingest")
	must(t, err)
	if !slices.Equal(left, []string{"mrtQ-05000000000003"}) || q.legacyStatus("/mrt.inventory.full/mrtQ-000000000000") != "completed" {
		t.Errorf("left: %v", left)
	}
}

// The same work counts as one, whoever does it.
func TestLegacyAndNewWorkersCountTogether(t *testing.T) {
	q := newLegacyQueue(t, daemons.Options{})
	jid := q.add("Pending", newqueue.Object{"jobID": "a", "batchID": "bid-1"})
	q.legacyRecord("/ingest/mrtQ-05000000000001", legacy.Pending, ingestPayload("a"))
	q.step(q.legacyWorker("ingest 0"))
	must(t, q.Run())
	// The legacy worker has cleaned the payload up.
	if e := q.Executions()["a"]; e.Times() != 2 || e.Stored != 1 || e.StoredEmpty != 1 || q.status(jid) != "Completed" {
		t.Errorf("its work: %+v", e)
	}
}

// documentedQueue has jobs of dialect design, which workers of that dialect work on.
func documentedQueue(t *testing.T, opt daemons.Options, jobs int) *queue {
	t.Helper()
	opt.Dialect = newqueue.Design
	q := newQueue(t, opt)
	nq := client.Open(q.conn, newqueue.Design)
	for i := range jobs {
		if i%3 == 0 {
			value(nq.CreateBatch(t.Context(), newqueue.Submission{ProfileName: "p", Submitter: "s"}))(t)
			b := value(nq.AcquireBatch(t.Context(), newqueue.BatchPending))(t)
			var all []client.NewJob
			for j := i; j < min(i+3, jobs); j++ {
				all = append(all, client.NewJob{Priority: 5, Configuration: newqueue.Configuration{Other: newqueue.Object{"jobID": fmt.Sprintf("jid-%d", j)}}})
			}
			value(b.Process(t.Context(), all...))(t)
		}
	}
	value(nq.CreateRequest(t.Context(), newqueue.AccessSmall, newqueue.Token{Token: "small"}))(t)
	value(nq.CreateRequest(t.Context(), newqueue.AccessLarge, newqueue.Token{Token: "large"}))(t)
	return q
}

// Workers of dialect design do everything once, in the documented states.
func TestDocumentedWorkers(t *testing.T) {
	q := documentedQueue(t, daemons.Options{Fails: func(worker, record string) bool { return worker == "processing" && record == "jid-1" }}, 4)
	must(t, q.Run())
	states := []string{"estimating", "provisioning", "downloading", "processing", "recording", "notify", "completed"}
	for record, e := range q.Executions() {
		want, times, mailed := states, 1, 1
		switch record {
		case "jid-1":
			want, times = []string{"estimating", "provisioning", "downloading", "processing", "failed"}, 0
		case "small", "large":
			want, mailed = []string{"processing", "completed"}, 0
		}
		if !slices.Equal(e.States, want) || e.Times() != times || e.Mailed != mailed {
			t.Errorf("%s: %+v", record, e)
		}
	}
	if n := len(q.Executions()); n != 6 || len(q.Mails) != 2 {
		t.Errorf("%d records were worked on, %v", n, q.Mails)
	}
	must(t, q.Clean())
	if len(q.Removed) != 1 {
		t.Errorf("the cleanup removed %v", q.Removed)
	}
	left := value(q.States("/jobs"))(t)
	for jid, state := range left {
		if state == "failed" {
			must(t, q.Do(daemons.RequeueJob, jid))
		}
	}
	must(t, q.Run())
	for bid := range value(q.States("/batches"))(t) {
		must(t, q.Do(daemons.UpdateReport, bid))
	}
	must(t, q.Run())
	if e := q.Executions()["jid-1"]; len(left) != 3 || !slices.Equal(e.States[5:], []string{"failed"}) || e.Mailed != 1 {
		t.Errorf("%d jobs were left; after a requeue: %+v", len(left), e)
	}
}

// A worker of dialect design that loses its session before its transition can't make it,
// and another one does the work.
func TestDocumentedWorkerLosesItsSession(t *testing.T) {
	q := documentedQueue(t, daemons.Options{}, 1)
	worker := q.worker("pending")
	turn := worker.Begin()
	q.until(turn, "succeed with")
	worker.Expire()
	if _, err := turn.Finish(); err == nil {
		t.Error("it made the transition")
	}
	must(t, q.Run())
	if e := q.Executions()["jid-0"]; e.Times() != 1 || len(e.Workers) != 8 {
		t.Errorf("its work: %+v", e)
	}
}

// What the admin tool does with a job, and what it keeps of its status.
func TestAdministrator(t *testing.T) {
	for name, c := range map[string]struct {
		action     daemons.Action
		state      string
		want, last string
		retries    string
		refused    bool
	}{
		"hold":                     {daemons.HoldJob, "Pending", "Held", "Pending", "0", false},
		"release":                  {daemons.ReleaseJob, "Held", "Pending", "Held", "0", false},
		"requeue":                  {daemons.RequeueJob, "Failed", "Estimating", "<nil>", "1", false},
		"delete":                   {daemons.DeleteJob, "Failed", "Deleted", "<nil>", "0", false},
		"a step that no rule has":  {daemons.HoldJob, "Completed", "Held", "Completed", "0", false},
		"an action of dialect x":   {"x", "Pending", "Pending", "<nil>", "0", true},
		"a priority keeps all":     {daemons.SetPriority, "Pending", "Pending", "<nil>", "0", false},
		"delete without a failure": {daemons.DeleteJob, "Held", "Deleted", "<nil>", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			jid := q.add(c.state, nil)
			if err := q.Do(c.action, jid); (err != nil) != c.refused {
				t.Fatal(err)
			}
			o := q.object("/jobs/" + jid + "/status")
			if o["status"] != c.want || fmt.Sprint(o["last_successful_status"]) != c.last || fmt.Sprint(o["retry_count"]) != c.retries {
				t.Errorf("its status is %v", o)
			}
			if c.refused {
				return
			}
			priority := q.get("/jobs/" + jid + "/priority")
			if (priority != "05") != (c.action == daemons.SetPriority) {
				t.Errorf("its priority is %s", priority)
			}
			entry := fmt.Sprintf("/jobs/states/%s/%02s-%s", strings.ToLower(c.want), priority, jid)
			if !q.exists(entry) || !q.exists("/batches/bid0000000001/states/"+folderOf(c.want)+"/"+jid) {
				t.Errorf("it is not at %s", entry)
			}
		})
	}
}

// A requeue needs the job's lock, which nothing else that an administrator does needs.
func TestAdministratorAndLocks(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	jid := q.add("Failed", nil)
	q.create("/jobs/"+jid+"/lock", "")
	if err := q.Do(daemons.RequeueJob, jid); err == nil {
		t.Error("a locked job was requeued")
	}
	must(t, q.Do(daemons.DeleteJob, jid))
	if q.status(jid) != "Deleted" {
		t.Errorf("it is %s", q.status(jid))
	}
	// Unpausing removes a hold with all that was in it.
	q.create("/locks/queue/ingest", `["a run","a person"]`)
	must(t, q.Do(daemons.UnpauseQueue, "ingest"))
	if q.exists("/locks/queue/ingest") {
		t.Error("the hold is left")
	}
}
