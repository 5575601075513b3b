package migrate_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/layouts"
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

// released is a released queue, and the names that the table has for what is in it.
func releasedQueue(t *testing.T) (*site, *strings.Replacer) {
	t.Helper()
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("work", "1")), ingest(2): record(t, legacy.Failed, job("bad", "2")), ingest(3): record(t, legacy.Completed, job("done", "3")),
		"/accessSmall.1/mrtQ-000000000001": record(t, legacy.Pending, token("t")),
	}), newqueue.MrtZK)
	s.mustMigrate(s.options())
	names := []string{"{A}", s.jobOf("/accessSmall.1/mrtQ-000000000001")}
	for i, name := range []string{"J", "F", "C"} {
		job := s.jobOf(ingest(i + 1))
		bid := string(s.data(job + "/bid"))
		batch := strings.TrimPrefix(name+"B", "J")
		names = append(names, "{"+name+"}", job, "{"+strings.ToLower(name)+"}", znode.Name(job), "{"+batch+"}", newqueue.BatchPath(bid), "{"+strings.ToLower(batch)+"}", bid)
	}
	s.release()
	return s, strings.NewReplacer(names...)
}

// write does one write of a row.
func (s *site) write(op, path, data string) {
	s.t.Helper()
	switch op {
	case "set":
		s.ensure(path)
		s.set(path, []byte(data))
	case "delete":
		s.remove(path)
	case "lock":
		_, err := s.door().Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		s.must(err)
	case "status", "move", "requeue":
		o := jsonOf(s.t, s.data(path+"/status"))
		old := o["status"].(string)
		o["status"], o["last_modified"] = data, "2026-11-21 12:00:00 -0800"
		if op == "requeue" {
			o["retry_count"] = 1
		}
		text, err := json.Marshal(o)
		s.must(err)
		if op != "status" {
			jid, bid, pp := znode.Name(path), string(s.data(path+"/bid")), string(s.data(path+"/priority"))
			if len(pp) == 1 {
				pp = "0" + pp
			}
			s.remove("/jobs/states/"+strings.ToLower(old)+"/"+pp+"-"+jid, newqueue.BatchEntryPath(bid, newqueue.JobState(strings.ToLower(old)).Folder(), jid))
			folder := newqueue.BatchFolderPath(bid, newqueue.JobState(strings.ToLower(data)).Folder())
			s.ensure(folder)
			s.create(folder+"/"+jid, nil)
			s.create("/jobs/states/"+strings.ToLower(data)+"/"+pp+"-"+jid, nil)
		}
		s.set(path+"/status", text)
	default:
		s.t.Fatalf("%q is no write", op)
	}
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

// checkSays are the rules of a check's errors and warnings, each once.
func (s *site) checkSays() string {
	s.t.Helper()
	l, err := layouts.Named("merritt", layouts.Options{Dialect: string(s.dialect)})
	s.must(err)
	r, err := l.Check(s.t.Context(), s.w.MarkUnreadable(), layout.Options{Looks: 8, Now: time.Now()})
	s.must(err)
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

// Delete of a Failed batch and Cleanup Queue, in the admin tool, leave its Failed jobs, which that tool can't delete. verify says
// what to remove, and then a release is not refused any more.
func TestJobsOfADeletedBatch(t *testing.T) {
	t.Parallel()
	s, names := releasedQueue(t)
	s.remove("/batch-uuids/bid-bad", names.Replace("{FB}"))
	s.create(ingest(9), record(t, legacy.Pending, job("late", "9")))
	opt := s.options()
	opt.HoldAgain = true
	s.mustMigrate(opt)
	v := s.verify()
	if len(v.Differences) != 1 || v.Differences[0].By == "" || len(v.Differences[0].Remove) != 2 {
		t.Fatalf("verify says %+v", v.Differences)
	}
	if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrNotVerified) {
		t.Errorf("release: %v", err)
	}
	s.remove(v.Differences[0].Remove...)
	s.mustVerify()
	s.release()
}
