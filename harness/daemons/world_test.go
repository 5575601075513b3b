package daemons_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
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

type cutAt struct {
	daemons.Session
	path string
}

func (s cutAt) Get(path string) ([]byte, *zk.Stat, error) {
	if path == s.path {
		return nil, nil, zk.ErrConnectionClosed
	}
	return s.Session.Get(path)
}

// TestWatcherSaysWhatItCannotRead: the watcher of dialect design tells of a batch that it can't read, and of a lost session.
func TestWatcherSaysWhatItCannotRead(t *testing.T) {
	s := serve(t, znode.NewTree())
	cut := ""
	w := daemons.New(daemons.Options{Dialect: newqueue.Design, New: daemons.Site{Connect: func() (daemons.Session, error) { return cutAt{s.dial(t), cut}, nil }}})
	t.Cleanup(w.Close)
	must(t, w.Start())
	conn := s.dial(t)
	const status = "/batches/bid0000000001/status"
	for _, path := range []string{"/batches/bid0000000001", "/batches/bid0000000001/submission", status} {
		_, err := conn.Create(path, []byte("{"), 0, zk.WorldACL(zk.PermAll))
		must(t, err)
	}
	watcher := w.Workers()[0]
	if _, err := watcher.Step(); err != nil || len(w.Of(status)) != 1 {
		t.Errorf("unreadable: %v, %v", w.Troubles, err)
	}
	watcher.Kill()
	cut = status
	if _, err := watcher.Step(); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("a lost session: %v", err)
	}
}
