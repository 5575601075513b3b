package migrate_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// writesRow is a row of testdata/services-writes.txt.
type writesRow struct {
	name                  string
	writes                [][]string
	check, verify, status string
}

func writesRows(t *testing.T) (rows []writesRow) {
	t.Helper()
	text, err := os.ReadFile("testdata/services-writes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, _, _ := strings.Cut(line, ":")
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			rows = append(rows, writesRow{name: name})
		default:
			row := &rows[len(rows)-1]
			says := strings.Join(words[1:], " ")
			switch {
			case words[0] == "check":
				row.check = says
			case words[0] == "verify":
				row.verify = says
			case words[0] == "status" && len(words) == 2:
				row.status = says
			default:
				row.writes = append(row.writes, append(words, "")[:3])
			}
		}
	}
	return rows
}

// submission is what HandlerSubmit writes of a new submission.
const submission = `{"batchID":"bid-new","profile":"merritt_content","type":"file","filename":"new.zip","update":false,"submitter":"me","notificationFormat":"xml","submissionDate":"Fri Mar 01 20:00:00 UTC 2024"}`

// releasedQueue is a released queue, and the names that the table has for what is in it.
func releasedQueue(t *testing.T) (*site, *strings.Replacer) {
	t.Helper()
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("work", "1")), ingest(2): record(t, legacy.Failed, job("bad", "2")), ingest(3): record(t, legacy.Completed, job("done", "3")),
		ingest(4): record(t, legacy.Completed, job("work", "4")), "/accessSmall.1/mrtQ-000000000001": record(t, legacy.Pending, token("t")),
	}), newqueue.MrtZK)
	s.mustMigrate(s.options())
	names := []string{"{A}", s.jobOf("/accessSmall.1/mrtQ-000000000001"), "{S}", submission, "{long}", strings.Repeat("\"16 characters\"\n", 1250) + "😀"}
	name := func(name, path string) {
		names = append(names, "{"+name+"}", path, "{"+strings.ToLower(name)+"}", znode.Name(path))
	}
	for i, letter := range []string{"J", "F", "C", "D"} {
		job := s.jobOf(ingest(i + 1))
		name(letter, job)
		if batch := strings.TrimPrefix(letter+"B", "J"); letter != "D" {
			name(batch, newqueue.BatchPath(string(s.data(job+"/bid"))))
		}
	}
	name("N", newqueue.BatchPath("bid0000000900"))
	name("K", newqueue.JobPath("jid0000000900"))
	name("L", newqueue.JobPath("jid0000000901"))
	s.release()
	return s, strings.NewReplacer(names...)
}

func (s *site) write(op, path, data string) {
	s.t.Helper()
	switch op {
	case "set":
		s.ensure(path)
		s.set(path, []byte(data))
	case "add":
		o := jsonOf(s.t, s.data(path))
		maps.Copy(o, jsonOf(s.t, []byte(data)))
		s.set(path, s.json(o))
	case "delete":
		s.remove(path)
	case "lock":
		s.must(errorOf(s.door().Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))))
	case "submit":
		s.submit(path, data)
	case "job":
		s.makeJob(path, data)
	case "work":
		s.work(path, data)
	case "status":
		s.setStatus(op, path, data)
	case "move", "requeue":
		s.remove(s.placesOf(path)...)
		s.setStatus(op, path, data)
		s.place(path)
	default:
		s.t.Fatalf("%q is no write", op)
	}
}

func (s *site) json(o map[string]any) []byte {
	s.t.Helper()
	return value(json.Marshal(o))(s)
}

// setStatus writes the status of a job, batch or request. says is the state and perhaps a message.
func (s *site) setStatus(op, path, says string) {
	s.t.Helper()
	o := jsonOf(s.t, s.data(path+"/status"))
	state, message, _ := strings.Cut(says, " ")
	if isJob := znode.Within(path, newqueue.JobsPath); isJob && op != "requeue" && state != "Failed" && state != "Deleted" {
		o["last_successful_status"] = o["status"]
	}
	if op == "requeue" {
		o["retry_count"] = o["retry_count"].(float64) + 1
	}
	o["status"], o["last_modified"], o["message"] = state, time.Now().Format("2006-01-02 15:04:05 -0700"), message
	s.set(path+"/status", s.json(o))
}

// placesOf are the two entries of a job, as its status and priority say.
func (s *site) placesOf(job string) []string {
	s.t.Helper()
	state := newqueue.JobState(strings.ToLower(jsonOf(s.t, s.data(job+"/status"))["status"].(string)))
	priority := value(strconv.Atoi(string(s.data(job + "/priority"))))(s)
	return []string{newqueue.JobEntryPath(state, priority, znode.Name(job)), newqueue.BatchEntryPath(string(s.data(job+"/bid")), state.Folder(), znode.Name(job))}
}

func (s *site) place(job string) {
	s.t.Helper()
	for _, entry := range s.placesOf(job) {
		s.ensure(znode.Parent(entry), entry)
	}
}

// work brings a job to a state, as the daemons do.
func (s *site) work(job, state string) {
	s.t.Helper()
	states := strings.Fields("Pending Estimating Provisioning Downloading Processing Storing Recording Notify Completed")
	from := slices.Index(states, jsonOf(s.t, s.data(job+"/status"))["status"].(string))
	for _, next := range states[from+1 : slices.Index(states, state)+1] {
		message := " Success"
		switch next {
		case "Estimating", "Notify": // Initialize and inventory write none
			message = ""
		case "Storing": // Process
			ark := jsonOf(s.t, s.data(job+"/identifiers"))["primary_id"].(string)
			if ark == "" {
				ark = "ark:/99999/" + znode.Name(job)
				s.write("add", job+"/identifiers", `{"primary_id":"`+ark+`"}`)
				s.write("add", job+"/configuration", `{"objectID":"`+ark+`"}`)
			}
			ark = url.QueryEscape(ark)
			s.write("set", job+"/inventory", `{"manifest_url":"http://store:35121/manifest/9502/`+ark+`","mode":""}`)
			s.write("set", job+"/store", `{"manifest_url":"http://ingest:33121/ingestqueue/bid/jid/system/mrt-manifest.txt","mode":"add/9502/`+ark+`","delete":""}`)
		}
		s.write("move", job, next+message)
	}
}

func (s *site) submit(batch, text string) {
	s.t.Helper()
	s.create(batch, nil)
	if id, ok := jsonOf(s.t, []byte(text))["batchID"].(string); ok {
		s.create(newqueue.BatchUUIDPath(id), []byte(znode.Name(batch)))
	}
	s.create(batch+"/submission", []byte(text))
	s.create(batch+"/status", []byte(`{"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","message":""}`))
}

func (s *site) makeJob(job, bid string) {
	s.t.Helper()
	jid := znode.Name(job)
	o := jsonOf(s.t, s.data(newqueue.BatchPath(bid)+"/submission"))
	o["jobID"] = "jid-" + jid
	s.create(job, nil)
	s.create(job+"/bid", []byte(bid))
	s.create(job+"/priority", []byte("5"))
	s.create(job+"/space_needed", []byte("0"))
	s.create(job+"/configuration", s.json(o))
	s.create(job+"/identifiers", []byte(`{"primary_id":"","local_id":["local-`+jid+`"]}`))
	s.create(job+"/status", []byte(`{"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","last_successful_status":null,"retry_count":0,"message":""}`))
	s.place(job)
}

// TestServicesWrites: what the services' own code writes, finished and half done, is judged as the table says.
func TestServicesWrites(t *testing.T) {
	for _, row := range writesRows(t) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, names := releasedQueue(t)
			for _, w := range row.writes {
				s.write(w[0], names.Replace(w[1]), names.Replace(w[2]))
			}
			if got := s.checkSays(); got != row.check {
				t.Errorf("check says %q, expected %q", got, row.check)
			}
			v := s.verify()
			got := strings.TrimPrefix(kinds(v), "ok")
			if len(v.Notices) > 0 {
				got = strings.TrimSpace(got + " also")
			}
			if got != row.verify {
				t.Errorf("verify says %q, expected %q: %v %v", got, row.verify, v.Differences, v.Notices)
			}
			status := s.status()
			if got := map[bool]string{true: "also"}[len(status.Abandoned) > 0]; got != row.status {
				t.Errorf("status says %q, expected %q", got, row.status)
			}
		})
	}
}

func (s *site) checkSays() string {
	s.t.Helper()
	l := value(merritt.Named("merritt", string(s.dialect)))(s)
	r := value(l.Check(s.t.Context(), s.w.MarkUnreadable(), layout.Options{MaxReads: 8, Now: time.Now()}))(s)
	var all []string
	for _, f := range r.Findings {
		switch {
		case f.LockedBy != "":
			all = append(all, "working")
		case f.Severity == layout.Error:
			all = append(all, f.Rule)
		case f.Severity == layout.Warning:
			all = append(all, f.Rule+"?")
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// Cleanups that were killed, or two at one batch, can leave a completed job whose batch is gone, a part of it, or its entry. Nobody needs that: after a
// rollback, a release lifts the holds on the jobs of others.
func TestLeftByCleanup(t *testing.T) {
	entryOf := func(s *site) string {
		return newqueue.JobEntryPath(newqueue.JobCompleted, 7, znode.Name(s.jobOf(completedRecord)))
	}
	for name, left := range map[string]func(s *site) (remove string){
		"a job":         func(s *site) string { leftByCleanup()(s); return s.jobOf(completedRecord) },
		"a part of one": func(s *site) string { leftByCleanup("bid", "status")(s); return s.jobOf(completedRecord) },
		"its entry": func(s *site) string {
			leftByCleanup()(s)
			s.remove(s.jobOf(completedRecord))
			s.create(entryOf(s), nil)
			return entryOf(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			lifeStates["released"](s)
			s.fails() // a job of another batch
			remove := left(s)
			if undo := s.mustRollback(migrate.RollbackOptions{}); !undo.Held {
				t.Errorf("rollback: %+v", undo)
			}
			v := s.verify()
			if name == "its entry" {
				if len(v.Differences) != 1 || !slices.Equal(v.Differences[0].Remove, []string{remove}) {
					t.Errorf("verify says %+v", v.Differences)
				}
			} else if !v.OK() || len(v.Notices) != 1 || !strings.HasSuffix(v.Notices[0].Why, "deleteall "+remove) {
				t.Errorf("verify says %+v", v)
			}
			if s.release(); s.holdsNow() != "" {
				t.Errorf("still held: %s", s.holdsNow())
			}
			s.remove(remove)
			s.mustVerify()
		})
	}
}

// Delete of a Failed batch and Cleanup Queue, in the admin tool, leave its Failed jobs, which that tool can neither requeue nor delete. verify says
// what to remove. A release refuses until then only if it would hand over their records.
func TestJobsOfADeletedBatch(t *testing.T) {
	t.Parallel()
	for _, released := range []bool{false, true} {
		s := serve(t, lifeQueue(t), newqueue.MrtZK)
		s.mustMigrate(s.options())
		if released {
			s.release()
		}
		s.remove(newqueue.BatchUUIDPath("bid-d"), newqueue.BatchPath(string(s.data(s.jobOf(failedRecord)+"/bid"))))
		s.removeJob("/ingest/mrtQ-08000000000007", newqueue.JobCompleted, 8)
		if released {
			s.mustRollback(migrate.RollbackOptions{})
		}
		v := s.verify()
		i := slices.IndexFunc(v.Differences, func(d migration.Difference) bool { return len(d.Remove) > 0 })
		if i < 0 || v.Differences[i].By == "" || len(v.Differences[i].Remove) != 2 || v.CountGroup(migration.DamageGroup) != 1 {
			t.Fatalf("verify says %+v", v.Differences)
		}
		if _, err := s.tryRelease(migrate.ReleaseOptions{}); errors.Is(err, migrate.ErrNotVerified) == released {
			t.Errorf("released %t: %v", released, err)
		}
		if s.remove(v.Differences[i].Remove...); s.verify().CountGroup(migration.DamageGroup) > 0 {
			t.Errorf("%v", s.verify().Differences)
		}
	}
}
