package merritt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/internal/layout"
	"mrtq/newqueue"
)

func (f forest) lock(path string) {
	f.put(path, "")
	n := f[path]
	n.Stat.EphemeralOwner = 7
	f[path] = n
}

// between is the example while a daemon has written the job's status and not yet its entries.
func between(f forest) { setKey(f, jobPath+"/status", "status", "Estimating") }

// What a session that has locked an item leaves between two writes is no error. Other faults of the item are.
func TestWhatALiveWorkerIsDoing(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(f forest)
		want string // rules, with e: before an error and w: before a warning
	}{
		{"a daemon between the status and the entries", func(f forest) { between(f); f.lock(jobPath + "/lock") }, "i:R02/lock i:queue-entry/no-entry i:queue-entry/wrong-queue"},
		{"the same without a lock", between, "e:queue-entry/no-entry e:queue-entry/wrong-queue"},
		{"the same with the lock of another job", func(f forest) { between(f); f.lock(requestPath + "/lock") }, "i:R02/lock e:queue-entry/no-entry e:queue-entry/wrong-queue"},
		{"the lock stays when its session ends", func(f forest) { between(f); f.put(jobPath+"/lock", "") }, "e:job-lock/not-ephemeral w:R02/lock e:queue-entry/no-entry e:queue-entry/wrong-queue"},
		{"between the delete and the create of the entry", func(f forest) { f.remove(entryPath); f.lock(jobPath + "/lock") }, "i:R02/lock i:queue-entry/no-entry"},
		{"a job is being created", func(f forest) {
			f.remove(entryPath)
			f.remove(inBatch)
			f.remove(jobPath + "/status")
			f.remove(jobPath + "/identifiers")
			f.lock(jobPath + "/lock")
		}, "i:R02/lock i:R27/identifiers i:job-status/missing"},
		{"a request is assembled", func(f forest) {
			setKey(f, requestPath+"/status", "status", "Processing")
			f.lock(requestPath + "/lock")
		}, "i:R02/lock i:R31/status.status"},
		{"nobody assembles a request", func(f forest) { setKey(f, requestPath+"/status", "status", "Processing") }, "e:R31/status.status"},
		{"a garbled configuration of a locked job", func(f forest) { f.change(jobPath+"/configuration", "{"); f.lock(jobPath + "/lock") }, "i:R02/lock e:job-configuration/not-json"},
		{"Store is at work", func(f forest) {
			setKey(f, jobPath+"/identifiers", "primary_id", "ark:/99999/fk4")
			inState(f, "Storing")
			f.lock(jobPath + "/lock")
			f.put("/locks/storage/ark_99999_fk4", "")
		}, "i:R02/lock i:R02"},
		{"Store was killed", func(f forest) {
			setKey(f, jobPath+"/identifiers", "primary_id", "ark:/99999/fk4")
			inState(f, "Storing")
			f.put("/locks/storage/ark_99999_fk4", "")
		}, "w:R02"},
		{"Store is at work on another object", func(f forest) {
			setKey(f, jobPath+"/identifiers", "primary_id", "ark:/99999/fk5")
			inState(f, "Storing")
			f.lock(jobPath + "/lock")
			f.put("/locks/storage/ark_99999_fk4", "")
		}, "i:R02/lock w:R02"},
		{"a job of a Failed batch was requeued", func(f forest) {
			setKey(f, batchPath+"/status", "status", "Failed")
			setKey(f, jobPath+"/status", "retry_count", 1)
		}, "i:R05/status"},
		{"a job of a Failed batch was never begun", func(f forest) { setKey(f, batchPath+"/status", "status", "Failed") }, "e:R05/status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := unlockedSample(t, newqueue.MrtZK)
			c.do(f)
			synctest.Test(t, func(t *testing.T) {
				r, err := named(t, "merritt", "mrt-zk").Check(t.Context(), layout.InMemory(f.tree(t)), layout.Options{Looks: 3, Now: time.UnixMilli(exampleTime).Add(time.Hour)})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, x := range r.Findings {
					got = append(got, fmt.Sprintf("%.1s:%s", x.Severity, x.Rule))
				}
				if slices.Sort(got); strings.Join(got, " ") != sorted(c.want) {
					t.Errorf("got  %s\nwant %s\n%v", strings.Join(got, " "), sorted(c.want), r.Findings)
				}
			})
		})
	}
}

func sorted(words string) string {
	all := strings.Fields(words)
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A worker has five seconds to end what it began. Without one nobody waits.
func TestAWorkerIsGivenTime(t *testing.T) {
	for _, c := range []struct {
		locked, ends bool
		want         string
		takes        time.Duration
	}{
		{locked: true, ends: true, takes: 5 * time.Second},
		{locked: true, want: "info", takes: 5 * time.Second},
		{want: "error"},
	} {
		f := unlockedSample(t, newqueue.MrtZK)
		between(f)
		if c.locked {
			f.lock(jobPath + "/lock")
		}
		synctest.Test(t, func(t *testing.T) {
			tree := f.tree(t)
			if c.ends {
				time.AfterFunc(time.Second, func() { *tree = *unlockedSample(t, newqueue.MrtZK).tree(t) })
			}
			began := time.Now()
			r, err := named(t, "merritt", "mrt-zk").Check(t.Context(), layout.InMemory(tree), layout.Options{Looks: 3, Now: time.UnixMilli(exampleTime).Add(time.Hour)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, x := range r.Findings {
				if x.Rule == "queue-entry/no-entry" {
					got = string(x.Severity)
					if (x.LockedBy != "") != c.locked || c.locked && x.Repair != "" {
						t.Errorf("%+v: %+v", c, x)
					}
				}
			}
			if took := time.Since(began); got != c.want || took != c.takes {
				t.Errorf("%+v: %q after %v", c, got, took)
			}
		})
	}
}
