package newqueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

var ctx = context.Background()

// noon is the time on the clock in the tests that compare whole trees.
var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.FixedZone("", -8*3600))

func clock() newqueue.Option { return newqueue.WithClock(func() time.Time { return noon }) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// batchOf creates a batch that is processing, with n pending jobs.
func batchOf(t *testing.T, q *newqueue.Queue, n int) (string, []string) {
	t.Helper()
	bid := value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p", BatchID: fmt.Sprint("uuid-", roots.Add(1))}))(t)
	b := value(q.AcquirePendingBatch(ctx))(t)
	if b.ID != bid {
		t.Fatalf("acquired %s, made %s", b.ID, bid)
	}
	jobs := make([]newqueue.NewJob, n)
	for i := range jobs {
		jobs[i] = newqueue.NewJob{Priority: 5, Configuration: newqueue.Configuration{PayloadURL: fmt.Sprint("http://example.org/", i)}}
	}
	return bid, value(b.Process(ctx, jobs...))(t)
}

// drive moves a job from pending to a state.
func drive(t *testing.T, q *newqueue.Queue, jid string, to newqueue.JobState) {
	t.Helper()
	step := func(s newqueue.JobState, do func(*newqueue.Job) error) {
		t.Helper()
		must(t, do(value(q.AcquireJob(ctx, s))(t)))
	}
	succeed := func(j *newqueue.Job) error { return j.Succeed(ctx) }
	switch to {
	case newqueue.JobHeld:
		step(newqueue.JobPending, func(j *newqueue.Job) error { return j.Hold(ctx) })
		return
	case newqueue.JobFailed:
		drive(t, q, jid, newqueue.JobDownloading)
		step(newqueue.JobDownloading, func(j *newqueue.Job) error { return j.Fail(ctx, "404") })
		return
	case newqueue.JobDeleted: // mrt-zk only
		drive(t, q, jid, newqueue.JobFailed)
		value(q.DeleteJob(ctx, jid))(t)
		return
	}
	for s := newqueue.JobPending; s != to; s = newqueue.Success(s, q.Dialect()) {
		step(s, succeed)
	}
}

// TestEveryJobTransition makes every transition of a job's table, and compares
// the whole tree with one that is built here, according to the documents.
func TestEveryJobTransition(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, row := range states.Of(newqueue.EntityJob, string(d)) {
			if row.From == states.Created {
				continue // TestCreate
			}
			t.Run(fmt.Sprintf("%s/%s", d, row.ID), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, d)
				q := w.queue(clock())
				bid, ids := batchOf(t, q, 1)
				jid := ids[0]
				drive(t, q, jid, newqueue.JobState(row.From))
				if d == newqueue.MrtZK && row.ID == "J20" {
					must(t, q.ReportIfEmptied(ctx, bid))
					b := value(q.AcquireReportingBatch(ctx))(t)
					must(t, b.Finish(ctx, value(b.Report(ctx))(t)))
				}
				before := w.tree()
				old := value(q.Job(ctx, jid))(t).Status
				to := newqueue.JobState(row.To)
				switch row.Who {
				case states.Worker:
					j := value(q.AcquireJob(ctx, newqueue.JobState(row.From)))(t)
					must(t, j.MoveTo(ctx, to, newqueue.WithMessage("why"), newqueue.WithPriority(7), newqueue.WithSpaceNeeded(9)))
				case states.Automatic:
					if cleaned := value(q.CleanupJobs(ctx))(t); !slices.Equal(cleaned, ids) {
						t.Errorf("cleaned up %v, want %v", cleaned, ids)
					}
				default:
					must(t, q.MoveJob(ctx, jid, to, newqueue.WithMessage("why")))
				}
				want := expectJob(t, before, d, row, bid, jid, old)
				for _, c := range znode.Diff(want, w.tree(), "/") {
					t.Errorf("%s: %v", row, c)
				}
				w.check()
			})
		}
	}
}

// expectJob is the tree after a job's transition, according to
// docs/transitions.md.
func expectJob(t *testing.T, before *znode.Tree, d newqueue.Dialect, row states.Transition, bid, jid string, old newqueue.JobStatus) *znode.Tree {
	t.Helper()
	var ops []znode.Op
	job := "/jobs/" + jid
	entry := func(state, pp string) string { return "/jobs/states/" + state + "/" + pp + "-" + jid }
	folder := map[string]string{"failed": "batch-failed", "completed": "batch-completed", "deleted": "batch-deleted"}
	batch := func(state string) string {
		f := folder[state]
		if f == "" {
			f = "batch-processing"
		}
		return "/batches/" + bid + "/states/" + f
	}
	pp := "05"
	if row.Who == states.Worker {
		pp = "07"
		ops = append(ops, znode.Set(job+"/priority", []byte("7"), -1), znode.Set(job+"/space_needed", []byte("9"), -1))
	}
	ops = append(ops, znode.Delete(entry(row.From, "05"), -1))
	gone := row.To == states.Removed || row.To == "deleted" && d == newqueue.Design
	switch {
	case row.ID == "J20" && d == newqueue.Design: // only the queue entry goes
	case gone:
		ops = append(ops, znode.Delete(batch(row.From)+"/"+jid, -1))
		for _, p := range slices.Backward(before.Paths(job)) {
			ops = append(ops, znode.Delete(p, -1))
		}
	default:
		for _, f := range []string{"/jobs/states/" + row.To, batch(row.To)} {
			if before.Get(f) == nil {
				ops = append(ops, znode.Create(f, []byte{}))
			}
		}
		ops = append(ops, znode.Create(entry(row.To, pp), []byte{}))
		if batch(row.From) != batch(row.To) {
			ops = append(ops, znode.Delete(batch(row.From)+"/"+jid, -1), znode.Create(batch(row.To)+"/"+jid, []byte{}))
		}
		ops = append(ops, znode.Set(job+"/status", []byte(expectStatus(d, row, old)), -1))
	}
	return changed(t, before, ops)
}

// changed is the tree after the operations, without Stats.
func changed(t *testing.T, tree *znode.Tree, ops []znode.Op) *znode.Tree {
	t.Helper()
	data := map[string][]byte{}
	for n := range tree.All("/") {
		data[n.Path] = n.Data
	}
	for _, op := range ops {
		if _, there := data[op.Path]; there == (op.Kind == znode.OpCreate) {
			t.Fatalf("%v: there already, or not there", op)
		}
		if data[op.Path] = op.Data; op.Kind == znode.OpDelete {
			delete(data, op.Path)
		}
	}
	after := znode.NewTree()
	for path, d := range data {
		must(t, after.Put(znode.Node{Path: path, Data: d}))
	}
	return after
}

// expectStatus writes the status by hand.
func expectStatus(d newqueue.Dialect, row states.Transition, old newqueue.JobStatus) string {
	retry := old.RetryCount
	last := string(old.LastSuccessful)
	if row.From == "failed" && row.To != "deleted" {
		retry++
	}
	if d == newqueue.Design {
		if row.From != "pending" && row.From != "held" && row.From != "failed" && row.To != "failed" {
			last = row.From
		}
	} else if row.To == "failed" || row.From == "failed" && row.To != "deleted" {
		chain := []string{"", "pending", "estimating", "provisioning", "downloading", "processing", "storing", "recording", "notify"}
		at := row.To
		if at == "failed" {
			at = row.From
		}
		last = chain[slices.Index(chain, at)-1]
	} else if row.To != "deleted" {
		last = row.From
	}
	title := func(s string) string {
		if d == newqueue.MrtZK {
			return string(s[0]-'a'+'A') + s[1:]
		}
		return s
	}
	null := "null"
	if last != "" {
		null = `"` + title(last) + `"`
	}
	if d == newqueue.MrtZK {
		return fmt.Sprintf(`{"last_modified":"2024-03-01 12:00:00 -0800","last_successful_status":%s,"message":"why","retry_count":%d,"status":"%s"}`, null, retry, title(row.To))
	}
	return fmt.Sprintf(`{"last_modification_date":"2024-03-01T12:00:00-08:00","last_successful_status":%s,"message":"why","retry_count":%d,"status":"%s"}`, null, retry, row.To)
}

// TestIllegalJobTransitions tries every pair of states without a transition:
// that gives a typed error, and no byte changes.
func TestIllegalJobTransitions(t *testing.T) {
	for _, d := range newqueue.Dialects {
		byState := map[string][]string{}
		for _, p := range states.Illegal(newqueue.EntityJob, string(d)) {
			byState[p.From] = append(byState[p.From], p.To)
		}
		for from, targets := range byState {
			if from == "deleted" && d == newqueue.Design {
				continue // nothing is left to move
			}
			t.Run(string(d)+"/"+from, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, d)
				q := w.queue()
				_, ids := batchOf(t, q, 1)
				drive(t, q, ids[0], newqueue.JobState(from))
				before := w.tree()
				for _, to := range targets {
					err := q.MoveJob(ctx, ids[0], newqueue.JobState(to))
					var state *newqueue.StateError
					if !errors.As(err, &state) || state.Entity != newqueue.EntityJob || state.From != from || state.To != to || state.Path != "/jobs/"+ids[0] {
						t.Errorf("%s → %s: %v", from, to, err)
						continue
					}
					var allowed []string
					for _, n := range states.Of(newqueue.EntityJob, string(d)).From(from) {
						allowed = append(allowed, n.To)
					}
					if !slices.Equal(state.Allowed, allowed) {
						t.Errorf("%s → %s: allowed %v, want %v", from, to, state.Allowed, allowed)
					}
				}
				// A worker's steps are refused without the lock.
				for _, n := range states.Of(newqueue.EntityJob, string(d)).From(from) {
					if n.Who == states.Worker {
						if err := q.MoveJob(ctx, ids[0], newqueue.JobState(n.To)); !errors.Is(err, newqueue.ErrNotLocked) {
							t.Errorf("%s without a lock: %v", n, err)
						}
					}
				}
				for _, c := range znode.Diff(before, w.tree(), "/") {
					t.Errorf("changed: %v", c)
				}
			})
		}
	}
}

// TestCreate compares a new batch and its jobs with a golden dump.
func TestCreate(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue(clock())
		must(t, q.Init(ctx))
		value(q.CreateBatch(ctx, newqueue.Submission{
			ProfileName: "profile", Submitter: "me", PayloadFilename: "f.checkm", SubmissionDate: noon, ErcWhat: "what", ErcWho: "who",
			ErcWhen: "when", ErcWhere: "where", Type: "batch-manifest", SubmissionMode: "add", BatchID: "u/1",
		}))(t)
		b := value(q.AcquirePendingBatch(ctx))(t)
		value(b.Process(ctx,
			newqueue.NewJob{
				Priority: 5, SpaceNeeded: 1 << 40,
				Configuration: newqueue.Configuration{ProfileName: "profile", Submitter: "me", SubmissionDate: noon, PayloadURL: "http://x/1?a=1&b=<2>",
					PayloadType: "object-manifest", ResponseType: "xml", LocalID: "loc001", SubmissionMode: "add", Other: newqueue.Object{"working_dir": "/zfs"}},
				Identifiers: newqueue.Identifiers{LocalIDs: []string{"loc001"}},
				Metadata:    newqueue.Metadata{ErcWhat: "what"},
			},
			newqueue.NewJob{Priority: 99}))(t)
		w.check()
		var b2 bytes.Buffer
		for n := range w.tree().All("/") {
			fmt.Fprintf(&b2, "%s %s\n", n.Path, n.Data)
		}
		goldenFile(t, "created."+string(w.d), b2.Bytes())
	})
}
