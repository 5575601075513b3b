package daemons_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Each daemon writes what its original does, in the same order. No two writes are one
// transaction, so a daemon can be killed between any two.
func TestWhatEachDaemonWrites(t *testing.T) {
	moved := func(from, to string) string {
		return fmt.Sprintf(`set /jobs/J/status
			delete /jobs/states/%s/05-J
			create /jobs/states/%s/05-J
			delete /batches/B/states/batch-processing/J
			create /batches/B/states/batch-processing/J
			delete /jobs/J/lock`, from, to)
	}
	localID := newqueue.Object{"identifiers": `{"primary_id":"","local_id":["a/b"]}`}
	primaryID := newqueue.Object{"identifiers": `{"primary_id":"ark:/1/2","local_id":[]}`}
	for name, c := range map[string]struct {
		daemon  services.Daemon
		state   string
		changed newqueue.Object
		want    string
	}{
		"Initialize": {services.Initialize, "Pending", nil, `create /jobs/J/lock
			move the payload of UUID/jid-J
			` + moved("pending", "estimating")},
		"Initialize, a container": {services.Initialize, "Pending", newqueue.Object{"type": "container"}, `create /jobs/J/lock
			move the payload of UUID/jid-J
			move the payload of UUID/jid-J
			` + moved("pending", "estimating")},
		"Estimate": {services.Estimate, "Estimating", nil, `create /jobs/J/lock
			set /jobs/J/space_needed
			` + moved("estimating", "provisioning")},
		"Provision": {services.Provision, "Provisioning", nil, `create /jobs/J/lock
			` + moved("provisioning", "downloading")},
		"Process": {services.Process, "Processing", nil, `create /jobs/J/lock
			create /jobs/J/inventory
			create /jobs/J/store
			set /jobs/J/identifiers
			set /jobs/J/configuration
			` + moved("processing", "storing")},
		"Process, with a local id": {services.Process, "Processing", localID, `create /jobs/J/lock
			create /locks/localid/a_b_ark_99166_p9owner
			delete /locks/localid/a_b_ark_99166_p9owner
			create /jobs/J/inventory
			create /jobs/J/store
			set /jobs/J/identifiers
			set /jobs/J/configuration
			` + moved("processing", "storing")},
		"Process, with a primary id": {services.Process, "Processing", primaryID, `create /jobs/J/lock
			create /jobs/J/inventory
			create /jobs/J/store
			set /jobs/J/configuration
			` + moved("processing", "storing")},
		"Notify": {services.Notify, "Notify", nil, `create /jobs/J/lock
			move the payload of UUID/jid-J
			set /jobs/J/status
			delete /jobs/states/notify/05-J
			create /jobs/states/completed/05-J
			delete /batches/B/states/batch-processing/J
			create /batches/B/states/batch-completed/J
			delete /jobs/J/lock`},
		"BatchReport": {services.BatchReport, "Completed", nil, `create /batches/B/lock
			set /batches/B/status
			mail the report of B
			set /batches/B/status
			delete /batches/B/lock`},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			q.add(c.state, c.changed)
			if got, want := q.writes(q.worker(c.daemon).Begin()), lines(c.want); !slices.Equal(got, want) {
				t.Errorf("it writes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// If Estimate can't find out a length, it first replaces the entry in its own queue, with
// the lower priority. A priority of three digits is in the name of an entry that no
// daemon can read: it cuts the id at the wrong place.
func TestEstimateWithoutALength(t *testing.T) {
	q := newQueue(t, daemons.Options{Unsized: func(int64) bool { return true }})
	jid := q.add("Pending", newqueue.Object{"type": "manifest"})
	must(t, q.Run())
	if got := q.get("/jobs/" + jid + "/priority"); got != "15" || q.status(jid) != "Completed" {
		t.Errorf("its priority is %s, its status %s", got, q.status(jid))
	}
	late := q.add("Held", newqueue.Object{"type": "manifest"})
	_, err := q.conn.Set("/jobs/"+late+"/priority", []byte("95"), -1)
	must(t, err)
	must(t, q.conn.Delete("/jobs/states/held/05-"+late, -1))
	q.create("/jobs/states/held/95-"+late, "")
	must(t, q.Do(daemons.ReleaseJob, late))
	must(t, q.Run())
	if entry := "/jobs/states/provisioning/105-" + late; !q.exists(entry) {
		t.Errorf("%s is %s, and %s does not exist", late, q.status(late), entry)
	}
}

// Process rewrites every configuration. It adds keys, and changes the order of all.
func TestProcessRewritesTheConfiguration(t *testing.T) {
	full := newqueue.Object{"title": "t", "creator": "c", "date": "d", "objectID": "ark:/1/2", "localID": "l",
		"identifiers": `{"primary_id":"ark:/1/2","local_id":["l"]}`}
	for name, c := range map[string]struct {
		changed newqueue.Object
		payload daemons.Payload
		added   []string
	}{
		"nothing to add":  {full, daemons.InProducer, nil},
		"everything":      {nil, daemons.InProducer, []string{"creator", "date", "objectID", "title"}},
		"without content": {nil, daemons.InFolder, []string{"objectID"}},
		"a local id":      {newqueue.Object{"identifiers": `{"primary_id":"","local_id":["a","b","a"]}`}, daemons.InFolder, []string{"localID", "objectID"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			jid := q.add("Processing", c.changed)
			q.home.Put("bid-bid0000000001", "jid-"+jid, c.payload)
			path := "/jobs/" + jid + "/configuration"
			before, was := q.get(path), q.object(path)
			q.step(q.worker(services.Process))
			after, is := q.get(path), q.object(path)
			if before == after {
				t.Error("its bytes are the same")
			}
			var added []string
			for key, v := range is {
				if _, there := was[key]; !there {
					added = append(added, key)
				} else if v != was[key] {
					t.Errorf("%s was %v and is %v", key, was[key], v)
				}
			}
			if slices.Sort(added); !slices.Equal(added, c.added) || len(is) != len(was)+len(added) {
				t.Errorf("it added %v, want %v", added, c.added)
			}
		})
	}
}

// Local ids come out garbled: the escapes of JSON stay in them.
func TestIdentifiers(t *testing.T) {
	for name, c := range map[string]struct {
		profile, ids, primary string
		local                 []any
	}{
		"plain":                       {"p", `{"primary_id":"","local_id":["a","b","a"]}`, "ark:/99999/fk4minted0001", []any{"a", "b"}},
		"an apostrophe":               {"p", `{"primary_id":"","local_id":["O’Neil"]}`, "ark:/99999/fk4minted0001", []any{`O\u2019Neil`}},
		"a quote and a backslash":     {"p", `{"primary_id":"","local_id":["a\"b\\c"]}`, "ark:/99999/fk4minted0001", []any{`a\b\\c`}},
		"a tag, a control character":  {"p", `{"primary_id":"","local_id":["</a>\u0085"]}`, "ark:/99999/fk4minted0001", []any{`<\/a>\u0085`}},
		"other scripts":               {"p", `{"primary_id":"","local_id":["Ünï 漢字"]}`, "ark:/99999/fk4minted0001", []any{"Ünï 漢字"}},
		"a primary id":                {"p", `{"primary_id":"ark:/1/2","local_id":["a"]}`, "ark:/1/2", []any{"a"}},
		"a primary id, demo":          {"demo_p", `{"primary_id":"ark:/1/2","local_id":[]}`, "ark:/99999/fk4minted0001", []any{"ark:/1/2"}},
		"a primary and local, demo":   {"demo_p", `{"primary_id":"ark:/1/2","local_id":["a"]}`, "ark:/99999/fk4minted0001", []any{"a", "ark:/1/2"}},
		"a profile that is no demo_p": {"merritt_demo_p", `{"primary_id":"ark:/1/2","local_id":["a"]}`, "ark:/1/2", []any{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			jid := q.add("Processing", newqueue.Object{"profile": c.profile, "identifiers": c.ids})
			q.step(q.worker(services.Process))
			o := q.object("/jobs/" + jid + "/identifiers")
			if o["primary_id"] != c.primary || fmt.Sprint(o["local_id"]) != fmt.Sprint(c.local) {
				t.Errorf("its ids are %v", o)
			}
		})
	}
}

// A second job of the same local id is a new version of the same object.
func TestLocalIDFindsItsObject(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	var arks []any
	for range 2 {
		jid := q.add("Pending", newqueue.Object{"identifiers": `{"primary_id":"","local_id":["a"]}`})
		must(t, q.Run())
		arks = append(arks, q.object("/jobs/" + jid + "/identifiers")["primary_id"])
	}
	if arks[0] != arks[1] {
		t.Errorf("the objects are %v", arks)
	}
}

// What is stored depends on where the payload is when a job begins, and with which state. Scenarios @D8 and @D9 have the migrated jobs.
func TestPayload(t *testing.T) {
	digest := func(o newqueue.Object) newqueue.Object {
		o["digestType"], o["digestValue"] = "MD5", "abc"
		return o
	}
	manifest := newqueue.Object{"type": "manifest"}
	for name, c := range map[string]struct {
		state   string // of the job; an administrator then requeues it
		changed newqueue.Object
		payload daemons.Payload
		want    string // the status in the end, and what was stored
		why     string // the message of a failed job
	}{
		"failed":                      {"Failed", nil, daemons.InFolder, "Completed without content", ""},
		"failed, moved":               {"Failed", nil, daemons.InProducer, "Completed with content", ""},
		"failed container":            {"Failed", newqueue.Object{"type": "container"}, daemons.InFolder, "Completed without content", ""},
		"failed manifest":             {"Failed", manifest, daemons.InFolder, "Completed without content", ""},
		"failed manifest, digest":     {"Failed", digest(newqueue.Object{"type": "manifest"}), daemons.InFolder, "Failed", "no such file"},
		"failed manifest, a part":     {"Failed", manifest, daemons.HalfOpened, "Failed", "integrity check fails"},
		"pending file":                {"Pending", nil, daemons.InFolder, "Completed with content", ""},
		"pending manifest":            {"Pending", manifest, daemons.InFolder, "Completed with content", ""},
		"pending, no folder":          {"Pending", nil, daemons.Missing, "Failed", "submission package can't be found"},
		"pending, begun before":       {"Pending", digest(newqueue.Object{}), daemons.InProducer, "Completed with content", ""},
		"pending container, unpacked": {"Pending", digest(newqueue.Object{"type": "container"}), daemons.Opened, "Failed", "no such file"},
		"pending, done before":        {"Pending", nil, daemons.CleanedUp, "Completed without content", ""},
		"failed manifest, moved":      {"Failed", digest(newqueue.Object{"type": "manifest"}), daemons.InProducer, "Completed with content", ""},
		"failed manifest, downloaded": {"Failed", manifest, daemons.Opened, "Failed", "integrity check fails"},
		"digest, slash in filename":   {"Pending", digest(newqueue.Object{"type": "manifest", "filename": "http://a/b.checkm"}), daemons.InFolder, "Failed", "no such file"},
		"digest, slash, a file":       {"Pending", digest(newqueue.Object{"filename": "http://a/b.txt"}), daemons.InFolder, "Completed with content", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			jid := q.add(c.state, c.changed)
			q.home.Put("bid-bid0000000001", "jid-"+jid, c.payload)
			if c.state == "Failed" {
				must(t, q.Do(daemons.RequeueJob, jid))
			}
			must(t, q.Run())
			e := q.Executions()["jid-"+jid]
			got := q.status(jid) + map[[2]int]string{{1, 0}: " with content", {0, 1}: " without content"}[[2]int{e.Stored, e.StoredEmpty}]
			if message := fmt.Sprint(q.object("/jobs/" + jid + "/status")["message"]); got != c.want || !strings.Contains(message, c.why) {
				t.Errorf("it ends %s (%s), want %s", got, message, c.want)
			}
			if len(q.Emails) != 1 || q.Emails[0].OK != strings.HasPrefix(c.want, "Completed") {
				t.Errorf("mailed: %+v", q.Emails)
			}
		})
	}
}

// A job that fails keeps the state that succeeded last, and a requeue goes on after it.
func TestRequeueGoesOnAfterTheLastSuccess(t *testing.T) {
	broken := true
	q := newQueue(t, daemons.Options{Fails: func(worker, _ string) bool { return broken && worker == "Process" }})
	jid := q.add("Pending", nil)
	must(t, q.Run())
	if o := q.object("/jobs/" + jid + "/status"); o["status"] != "Failed" || o["last_successful_status"] != "Downloading" {
		t.Errorf("after a failure in Process its status is %v", o)
	}
	broken = false
	must(t, q.Do(daemons.RequeueJob, jid))
	if got := q.status(jid); got != "Processing" {
		t.Errorf("a requeue makes it %s", got)
	}
	must(t, q.Run())
	if e := q.Executions()["jid-"+jid]; q.status(jid) != "Completed" || e.Stored != 1 || e.Times() != 1 {
		t.Errorf("it is %s: %+v", q.status(jid), e)
	}
}

// A Download that is killed leaves producer/ filled, and the next try fails.
func TestDownloadCannotBeRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		moves int // how often the payload was moved when the daemon is killed
		want  string
	}{
		"before it begins": {0, "Downloading"},
		"in the middle":    {1, "Duplicate filename"},
		"after it":         {2, "the payload is no manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			jid := q.add("Downloading", newqueue.Object{"type": "manifest"})
			q.home.Put("bid-bid0000000001", "jid-"+jid, daemons.InProducer)
			download := q.worker(services.Download)
			turn := download.Begin()
			for range c.moves {
				q.until(turn, "move the payload")
			}
			for range 2 - min(c.moves, 1) { // just after the move, or after the lock
				turn.Next()
			}
			download.Kill()
			if did := value(download.Step())(t); did {
				t.Error("another process takes the job although the session of the first has not expired")
			}
			download.Expire()
			q.step(download)
			o := q.object("/jobs/" + jid + "/status")
			if c.moves == 0 && o["status"] != "Processing" || c.moves > 0 && !strings.Contains(fmt.Sprint(o["message"]), c.want) {
				t.Errorf("its status is %v", o)
			}
		})
	}
}

// BatchReport loads a batch before it locks it, so two of them can mail its report.
func TestTwoReportersMailTwice(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	jid := q.add("Completed", nil)
	first, second := q.worker(services.BatchReport).Begin(), q.Daemon(services.BatchReport).Begin()
	q.until(first, "create /batches/bid0000000001/lock")
	q.until(second, "create /batches/bid0000000001/lock")
	for _, turn := range []*daemons.Turn{first, second} {
		if did := value(turn.Finish())(t); !did {
			t.Error("a reporter did nothing")
		}
	}
	if len(q.Emails) != 2 || !slices.Equal(q.Emails[0].Completed, []string{"jid-" + jid}) || !slices.Equal(q.Emails[1].Completed, []string{"jid-" + jid}) {
		t.Errorf("mailed: %v", q.Emails)
	}
	if did := value(q.Daemon(services.BatchReport).Step())(t); did {
		t.Error("a third reporter mails it, which loads it after the end")
	}
}

// Store and Process wait for ever for a lock that they can't take.
func TestWaitsForLocks(t *testing.T) {
	for name, c := range map[string]struct {
		daemon       services.Daemon
		state        string
		folder, lock string
		persistent   bool
	}{
		"storage":  {services.Store, "Storing", "/locks/storage", "/locks/storage/ark_1_2", true},
		"local id": {services.Process, "Processing", "/locks/localid", "/locks/localid/a_ark_99166_p9owner", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			d := q.worker(c.daemon)
			add := func() string {
				jid := q.add(c.state, newqueue.Object{"identifiers": `{"primary_id":"","local_id":["a"]}`})
				if c.state == "Storing" {
					q.create("/jobs/"+jid+"/store", `{"manifest_url":"http://m","mode":"add/1/ark%3A%2F1%2F2","delete":""}`)
				}
				return jid
			}
			waits := func(jid string, other *daemons.Actor) {
				t.Helper()
				for range 3 {
					value(d.Step())(t)
				}
				if got := q.Waiting()[d.Name]; !slices.Equal(got, []string{c.lock}) || q.status(jid) != c.state || !q.exists("/jobs/"+jid+"/lock") {
					t.Errorf("it waits for %v, and %s is %s", got, jid, q.status(jid))
				}
				if did := value(other.Step())(t); did {
					t.Error("another process takes the locked job")
				}
			}
			jid := add()
			q.remove(c.folder)
			waits(jid, q.Daemon(c.daemon))
			q.create(c.folder, "") // the services are started again
			q.step(d)
			if q.status(jid) == c.state || len(q.Waiting()) > 0 {
				t.Errorf("with the folder it is %s, and waits for %v", q.status(jid), q.Waiting())
			}
			// A daemon that is killed while it has the lock.
			jid = add()
			turn := d.Begin()
			q.until(turn, "create "+c.lock)
			turn.Next()
			d.Kill()
			d.Expire()
			if left := q.exists(c.lock); left != c.persistent {
				t.Errorf("is the lock left after the session's end? %v", left)
			}
			if c.persistent {
				waits(jid, q.Daemon(c.daemon))
				must(t, q.conn.Delete(c.lock, -1))
			}
			q.step(d)
			if q.status(jid) == c.state {
				t.Errorf("without the lock it is still %s", q.status(jid))
			}
		})
	}
}

// A job that Inventory can't read ends its thread, until the service is started again.
func TestInventoryThreadEnds(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	bad, good := q.add("Recording", nil), q.add("Recording", nil)
	q.create("/jobs/"+good+"/inventory", goodInventory)
	status := q.get("/jobs/" + bad + "/status")
	_, err := q.conn.Set("/jobs/"+bad+"/status", []byte("x"), -1)
	must(t, err)
	inventory := q.worker(services.Inventory)
	must(t, q.Run())
	_, err = q.conn.Set("/jobs/"+bad+"/status", []byte(status), -1)
	must(t, err)
	if did := value(inventory.Step())(t); did || q.status(good) != "Recording" {
		t.Error("it works on")
	}
	inventory.Kill()
	inventory.Expire()
	for q.status(good) == "Recording" {
		q.step(inventory)
	}
}

// Who works although a queue is on hold.
func TestHolds(t *testing.T) {
	ingest, large, small := string(newqueue.HoldIngest), string(newqueue.HoldAccessLarge), string(newqueue.HoldAccessSmall)
	for name, c := range map[string]struct {
		holds []string
		want  string
	}{
		"no hold":      {nil, "pending notify batch large small cleaned"},
		"ingest":       {[]string{ingest}, "notify large small cleaned"},
		"large access": {[]string{large}, "pending notify batch small cleaned"},
		"small access": {[]string{small}, "pending notify batch large small cleaned"}, // the large worker takes small requests
		"access":       {[]string{large, small}, "pending notify batch cleaned"},
		"all":          {[]string{ingest, large, small}, "notify cleaned"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, daemons.Options{})
			for _, h := range c.holds {
				must(t, q.Do(daemons.PauseQueue, h))
			}
			done := q.add("Completed", nil)
			q.remove("/batches/bid0000000001/status")
			q.create("/batches/bid0000000001/status", `{"status":"Completed"}`)
			pending, recording := q.add("Pending", nil), q.add("Recording", nil)
			q.create("/jobs/"+recording+"/inventory", goodInventory)
			q.add("Completed", nil)
			largeToken, smallToken := q.request(newqueue.AccessLarge, "l"), q.request(newqueue.AccessSmall, "s")
			must(t, q.Run())
			must(t, q.Clean())
			var got []string
			for _, i := range []struct {
				what string
				did  bool
			}{
				{"pending", !q.exists("/jobs/states/pending/05-" + pending)}, {"notify", !q.exists("/jobs/states/recording/05-" + recording)},
				{"batch", slices.ContainsFunc(q.Emails, func(m daemons.Email) bool { return m.Batch == "bid0000000004" })},
				{"large", q.object(largeToken + "/status")["status"] == "Completed"}, {"small", q.object(smallToken + "/status")["status"] == "Completed"},
				{"cleaned", !q.exists("/jobs/" + done)},
			} {
				if i.did {
					got = append(got, i.what)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("worked on %v, want %s", got, c.want)
			}
		})
	}
}

// Initialize holds a job of a collection that is held; no other daemon looks.
func TestCollectionHold(t *testing.T) {
	for _, state := range []string{"Pending", "Estimating"} {
		q := newQueue(t, daemons.Options{})
		id := q.add(state, nil)
		profile, _ := q.object("/jobs/" + id + "/configuration")["profile"].(string)
		q.create("/locks/collections/"+profile, "")
		must(t, q.Run())
		if got := q.object("/jobs/" + id + "/status")["status"]; (got == "Held") != (state == "Pending") {
			t.Errorf("from %s: it is %v", state, got)
		}
	}
}

// The cleanup runs when the services start, even if ingest is held.
func TestStartCleansUp(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	jid := q.add("Completed", nil)
	_, err := q.conn.Set("/batches/bid0000000001/status", []byte(`{"status":"Completed"}`), -1)
	must(t, err)
	must(t, q.Do(daemons.PauseQueue, "ingest"))
	must(t, q.Start())
	if q.exists("/jobs/"+jid) || q.exists("/batches/bid0000000001") || q.exists("/batch-uuids/bid-bid0000000001") {
		t.Error("the batch is left")
	}
}

// The services make the folders when they start. Later only those of jobs and batches
// are made again, and not while ingest is held.
func TestFolders(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	gone := []string{"/locks", "/access", "/jobs", "/batches", "/batch-uuids"}
	for _, path := range gone {
		if !q.exists(path) {
			t.Errorf("%s was not made", path)
		}
		q.remove(path)
	}
	must(t, q.Run())
	for _, path := range gone {
		if want := !slices.Contains([]string{"/locks", "/access"}, path); q.exists(path) != want {
			t.Errorf("does %s exist? %v", path, !want)
		}
	}
	must(t, q.Start())
	for _, d := range services.Daemons {
		if d == services.Admin {
			continue
		}
		for _, held := range []bool{false, true} {
			if held {
				must(t, q.Do(daemons.PauseQueue, "ingest"))
			}
			q.remove("/jobs/states/storing")
			value(q.Daemon(d).Step())(t)
			made := q.exists("/jobs/states/storing")
			if want := !held && slices.Contains([]services.Daemon{services.Batch, services.BatchReport, services.UpdateBatchReport}, d); made != want {
				t.Errorf("did %s make the folder of a state (ingest is held: %v)? %v", d, held, made)
			}
			must(t, q.Do(daemons.UnpauseQueue, "ingest"))
			must(t, q.Start())
		}
	}
}

// Two access workers that find the same request: the second one looks at its state before
// it locks it, and then can't do anything with it. It stays locked.
func TestTwoAccessWorkers(t *testing.T) {
	q := newQueue(t, daemons.Options{})
	request := q.request(newqueue.AccessSmall, "s")
	late := q.worker(services.Access).Begin()
	q.until(late, "create "+request+"/lock")
	q.step(q.Daemon(services.Access))
	value(late.Finish())(t)
	stuck := q.exists(request+"/lock") && has(q.Troubles, services.Access, services.Stuck, request)
	if e := q.Executions()["s"]; e.Assembled != 1 || len(e.Workers) != 2 || !stuck {
		t.Errorf("its work: %+v, %v", e, q.Troubles)
	}
}
