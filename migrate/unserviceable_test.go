package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func with(p legacy.Payload, changes legacy.Payload) legacy.Payload {
	for name, value := range changes {
		p[name] = value
	}
	return p
}

// What no deployed service could finish blocks the plan, which names every record that it is about.
func TestUnserviceableRecords(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		records []legacy.Payload
		status  legacy.Status
		want    string // requirement: the numbers of the records; "" if nothing blocks
	}{
		"a jobID three times in a batch":       {[]legacy.Payload{job("a", "1"), job("a", "1"), job("a", "2"), job("a", "1")}, legacy.Pending, "R19: 1 2 4"},
		"a jobID in two batches":               {[]legacy.Payload{job("a", "1"), job("b", "1")}, legacy.Pending, ""},
		"a jobID twice, completed":             {[]legacy.Payload{job("a", "1"), job("a", "1")}, legacy.Completed, ""},
		"a manifest with a digest and a slash": {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"type": "manifest", "filename": "http://x/m", "digestType": "MD5", "digestValue": "abc"})}, legacy.Held, "R23: 1"},
		"a manifest with a slash":              {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"type": "manifest", "filename": "http://x/m"})}, legacy.Held, ""},
		"a profile with a slash":               {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"profile": "a/b"})}, legacy.Pending, "R21: 1, R09: batch"},
		"a profile with an emoji":              {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"profile": "😀"})}, legacy.Failed, "R21: 1, R09: batch"},
		"a profile that is a dot":              {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"profile": "."})}, legacy.Pending, "R21: 1, R09: batch"},
		"a profile with NUL":                   {[]legacy.Payload{with(job("a", "1"), legacy.Payload{"profile": "a\x00"})}, legacy.Pending, "R21: 1, R09: batch"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			records := map[string][]byte{}
			for i, p := range c.records {
				records[ingest(i+1)] = record(t, c.status, p)
			}
			s := serve(t, queueTree(t, records), newqueue.MrtZK)
			opt := s.options()
			opt.Choices.Unserviceable = "block"
			p := s.plan(opt.PlanOptions)
			var found []string
			for _, f := range p.Findings {
				if f.Effect != migration.EffectUnfit {
					continue
				}
				text := f.Kind + ":"
				for i, item := range f.Items {
					switch n := strings.TrimLeft(strings.TrimPrefix(item.Path, "/ingest/mrtQ-0500"), "0"); {
					case strings.HasPrefix(item.Path, newqueue.BatchUUIDsPath):
						text += " batch"
					case i == 0 || f.Items[i-1].Path != item.Path:
						text += " " + n
					}
				}
				found = append(found, text)
			}
			if got := strings.Join(found, ", "); got != c.want {
				t.Errorf("found %s, expected %s", got, c.want)
			}
			if (problem(p, migration.ProblemUnserviceable) != nil) != (c.want != "") {
				t.Errorf("problems %v", p.Problems)
			}
		})
	}
}

// A job whose priority Estimate could raise above 99 is named. A lower priority is a choice that the run
// keeps, and the jobs' order stays that of the records.
func TestMaxPriority(t *testing.T) {
	t.Parallel()
	at := func(priority, n int) string { return fmt.Sprintf("/ingest/mrtQ-%02d00%010d", priority, n) }
	manifest := legacy.Payload{"type": "manifest"}
	s := serve(t, queueTree(t, map[string][]byte{
		at(99, 1): record(t, legacy.Pending, with(job("a", "1"), manifest)), at(95, 2): record(t, legacy.Failed, with(job("a", "2"), manifest)),
		at(85, 3): record(t, legacy.Pending, with(job("a", "3"), manifest)), at(95, 4): record(t, legacy.Pending, job("a", "4")),
		at(5, 5): record(t, legacy.Pending, with(job("a", "5"), manifest)), at(99, 6): record(t, legacy.Completed, with(job("a", "6"), manifest)),
	}), newqueue.MrtZK)
	named := func(most string) string {
		opt := s.options()
		opt.Choices.MaxPriority = most
		var all []string
		for _, f := range s.plan(opt.PlanOptions).Findings { // what loses work comes before what never runs
			if all = append(all, fmt.Sprint(f.Kind, " ", len(f.Items), " ", f.Effect)); f.Effect == migration.EffectNeverRuns {
				break
			}
		}
		return strings.Join(all, ", ")
	}
	for most, want := range map[string]string{
		"99": "lost-if-requeued 1 might be lost, lost-if-unsized 2 might be lost, failed-failed 1 might never run",
		"89": "lost-if-requeued 3 might be lost, failed-failed 1 might never run", "79": "failed-failed 1 might never run",
	} {
		if got := named(most); got != want {
			t.Errorf("at most %s: %s, expected %s", most, got, want)
		}
	}
	opt := s.options()
	opt.Choices.MaxPriority = "79"
	s.mustMigrate(opt)
	s.mustVerify()
	jobs := ""
	for _, record := range []string{at(5, 5), at(85, 3), at(95, 2), at(95, 4), at(99, 1)} {
		job := s.jobOf(record)
		if job <= jobs {
			t.Errorf("%s became %s, after %s", record, job, jobs)
		}
		jobs = job
		if want := min(79, int(record[13]-'0')*10+int(record[14]-'0')); string(s.data(job+"/priority")) != fmt.Sprint(want) {
			t.Errorf("%s has priority %s, expected %d", record, s.data(job+"/priority"), want)
		}
	}
	if run := s.status().Current(); run.Choices.MaxPriority != "79" {
		t.Errorf("the run keeps %+v", run.Choices)
	}
	s.set(s.jobOf(at(99, 1))+"/priority", []byte("99"))
	if v := s.verify(); len(v.Differences) == 0 {
		t.Error("verify takes another priority for the run's")
	}
}
