package migrate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// A batch has the same contents whether its jobs are added before they have ids or after.
func TestBatchThatJobsJoinSaysTheSame(t *testing.T) {
	properties := []string{"profile", "filename", "title", "update", "DCtitle", "notification"}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]newqueue.Dialect{newqueue.Design, newqueue.MrtZK}).Draw(t, "dialect")
		key := batchKey{rapid.SampledFrom([]batchKind{ofBatch, ofUnbatched}).Draw(t, "kind"), "b"}
		joins, takes := &batch{key: key, bid: "bid0000000000"}, &batch{key: key, bid: "bid0000000000"}
		p := &Plan{ex: &existing{names: newNames()}}
		p.ex.jobs = newJobRows(p.ex.names)
		for i := range rapid.IntRange(1, 6).Draw(t, "jobs") {
			payload := legacy.Payload{}
			for _, p := range properties {
				if v := rapid.SampledFrom([]string{"absent", "", "true", "x"}).Draw(t, p); v != "absent" {
					payload[p] = v
				}
			}
			j := &job{
				rec:     &Record{Path: fmt.Sprintf("/ingest/%d", i), Queue: Ingest, Legacy: legacy.Record{Payload: payload}},
				initial: initialState{job: rapid.SampledFrom([]newqueue.JobState{newqueue.JobPending, newqueue.JobFailed, newqueue.JobCompleted}).Draw(t, "state")},
				id:      newqueue.SequenceID(newqueue.JobPrefix, int32(i)),
			}
			j.rec.Legacy.Header.Time = time.Unix(int64(rapid.IntRange(1, 3).Draw(t, "time")), 0)
			p.ex.jobs.add(migratedJob{root: j.root()})
			joins.addPlanned(j, existingMember(i), d)
			takes.addJob(j, d)
		}
		p.nameJobs(joins)
		got, want := joins.nodes(d), takes.nodes(d)
		if !slices.EqualFunc(got, want, func(a, b leaf) bool { return a.path == b.path && znode.SameData(a.data, b.data) }) {
			t.Fatalf("it says\n%s, want\n%s", got, want)
		}
		if got, want := joins.submissionWarnings(d), takes.submissionWarnings(d); !slices.Equal(got, want) {
			t.Fatalf("it warns\n%q, want\n%q", got, want)
		}
	})
}
