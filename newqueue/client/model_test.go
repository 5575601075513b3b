package client_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// modelJob is what a job should be, according to the published design's tables.
type modelJob struct {
	state    string
	priority int
	retries  int
	gone     bool
}

// TestRandomWalks takes random steps and compares the tree with a model, and
// with the layout's invariants, after every one.
func TestRandomWalks(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if checks.Value.String() == checks.DefValue { // a server and a tree a step make 100 walks slow
		must(t, flag.Set("rapid.checks", "4"))
		t.Cleanup(func() { must(t, flag.Set("rapid.checks", checks.DefValue)) })
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { walk(t, rt, d) })
		})
	}
}

// reads matches the rules about what the deployed client library itself reads: those of the layout, and demands of the
// services. Where a tree breaks one, the library throws.
var reads = regexp.MustCompile(`^(R07/|R12/|R18/|R26/|R27/identifiers\.|R28/|R32/|[a-z])`)

// unreadable is what the deployed client library could not read in a tree of its dialect.
func unreadable(t *testing.T, tree *znode.Tree, d newqueue.Dialect) (all []layout.Finding) {
	if d != newqueue.MrtZK || tree.Get("/jobs") == nil {
		return nil
	}
	l := value(merritt.Named("merritt", string(d)))(t)
	for _, f := range value(l.Check(ctx, layout.InMemory(tree), layout.Options{}))(t).Findings {
		if f.Severity != layout.Info && reads.MatchString(f.Rule) {
			all = append(all, f)
		}
	}
	return all
}

func walk(t *testing.T, rt *rapid.T, d newqueue.Dialect) {
	w := newWorld(t, d)
	q := w.queue()
	worker, workerSession := w.open()
	jobs := map[string]*modelJob{}
	batches := map[string]newqueue.BatchState{}
	jobBatch := map[string]string{}
	held := map[string]*client.Job{} // what the worker has

	fatal := func(err error) {
		if err != nil {
			rt.Fatal(err)
		}
	}
	alive := func() []string {
		var ids []string
		for id, j := range jobs {
			if !j.gone {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		return ids
	}
	pick := func(ids []string) string {
		if len(ids) == 0 {
			rt.Skip("none")
		}
		return rapid.SampledFrom(ids).Draw(rt, "job")
	}
	// step applies a row's effect to the model.
	step := func(j *modelJob, tr states.Transition) {
		j.state = tr.To
		if tr.Retry == states.RetryNext {
			j.retries++
		}
		j.gone = tr.Nodes == states.NodesRemoved
	}
	rt.Repeat(map[string]func(*rapid.T){
		"submit": func(rt *rapid.T) {
			bid, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: fmt.Sprint("w", roots.Add(1))})
			fatal(err)
			b, err := worker.AcquireBatch(ctx, newqueue.BatchPending)
			fatal(err)
			specs := make([]client.JobSpec, rapid.IntRange(0, 3).Draw(rt, "jobs"))
			for i := range specs {
				specs[i].Configuration = newqueue.Configuration{ProfileName: "p", PayloadURL: "http://x"}
				specs[i].Priority = rapid.IntRange(1, 99).Draw(rt, "priority")
			}
			ids, err := b.Process(ctx, specs...)
			fatal(err)
			batches[bid] = newqueue.BatchProcessing
			for i, id := range ids {
				jobs[id], jobBatch[id] = &modelJob{state: "pending", priority: specs[i].Priority}, bid
			}
		},
		"acquire": func(rt *rapid.T) {
			s := rapid.SampledFrom(states.States(states.Job, string(d))).Draw(rt, "state")
			var want string
			best := 100
			for _, id := range alive() {
				if j := jobs[id]; j.state == s && held[id] == nil && j.priority < best {
					want, best = id, j.priority
				}
			}
			j, err := worker.AcquireJob(ctx, newqueue.JobState(s))
			switch {
			case errors.Is(err, newqueue.ErrValue): // no worker's state
			case errors.Is(err, client.ErrNoneAvailable) && want == "":
			case err != nil || j.ID != want:
				rt.Fatalf("acquired %v (%v), want %s", j, err, want)
			default:
				held[j.ID] = j
			}
		},
		"work": func(rt *rapid.T) {
			j := held[pick(slices.Sorted(maps.Keys(held)))]
			var rows []states.Transition
			for _, n := range states.Transitions(states.Job, string(d)).From(jobs[j.ID].state) {
				if n.Who == states.Worker {
					rows = append(rows, n)
				}
			}
			row := rapid.SampledFrom(rows).Draw(rt, "row")
			if rapid.Bool().Draw(rt, "changes priority") {
				jobs[j.ID].priority = rapid.IntRange(1, 99).Draw(rt, "priority")
				j.Priority = jobs[j.ID].priority
			}
			fatal(j.MoveTo(ctx, row.To, ""))
			delete(held, j.ID)
			step(jobs[j.ID], row)
		},
		"lose the worker's session": func(rt *rapid.T) {
			fatal(workerSession.expire())
			for id, j := range held {
				if err := j.Succeed(ctx); !errors.Is(err, client.ErrNotLocked) {
					rt.Fatalf("%s after the session's end: %v", id, err)
				}
			}
			clear(held)
		},
		"administer": func(rt *rapid.T) {
			id := pick(alive())
			to := rapid.SampledFrom(states.States(states.Job, string(d))).Draw(rt, "to")
			row, ok := states.Transitions(states.Job, string(d)).Find(jobs[id].state, to)
			before := w.tree()
			lss := value(q.Job(ctx, id))(t).Status.LastSuccessful
			err := q.MoveJob(ctx, id, "", newqueue.JobState(to))
			var want error
			switch {
			case !ok:
				if !errors.As(err, new(*client.StateError)) {
					rt.Fatalf("%s → %s: %v", jobs[id].state, to, err)
				}
				err, want = nil, nil
			case row.Who == states.Worker:
				want = client.ErrNotLocked
			case row.Retry == states.RetryNext && d == newqueue.Design && lss == "":
				if guard(err) != states.OnceStepped {
					rt.Fatalf("%s: %v", row, err)
				}
				err, want = nil, nil
			case row.ID == "J20":
				// The entry may be removed already, although the job itself
				// stays completed.
				if gone := err != nil; gone && !errors.Is(err, client.ErrNotFound) {
					rt.Fatal(err)
				}
				return
			default:
				fatal(err)
				step(jobs[id], row)
				return
			}
			if !errors.Is(err, want) {
				rt.Fatalf("%s: %v, want %v", row, err, want)
			}
			for _, c := range znode.Diff(before, w.tree(), "/") {
				rt.Fatalf("a refused %s → %s changed %v", jobs[id].state, to, c)
			}
		},
		"reprioritise": func(rt *rapid.T) {
			id := pick(alive())
			p := rapid.IntRange(1, 99).Draw(rt, "priority")
			err := q.SetPriority(ctx, id, p)
			if jobs[id].state == "completed" && errors.Is(err, client.ErrNotFound) {
				return // its entry is gone (J20)
			}
			fatal(err)
			jobs[id].priority = p
		},
		"report": func(rt *rapid.T) {
			for bid, s := range batches {
				switch s {
				case newqueue.BatchProcessing:
					empty := true
					for id, b := range jobBatch {
						j := jobs[id]
						empty = empty && (b != bid || j.gone || newqueue.JobState(j.state).Folder() != newqueue.FolderProcessing)
					}
					err := q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting)
					if empty == (err != nil) || err != nil && guard(err) != states.OnceEmptied {
						rt.Fatalf("%s, empty %t: %v", bid, empty, err)
					}
					if empty {
						batches[bid] = newqueue.BatchReporting
					}
				case newqueue.BatchFailed:
					fatal(q.MoveBatch(ctx, bid, "", newqueue.BatchUpdateReporting))
					batches[bid] = newqueue.BatchUpdateReporting
				case newqueue.BatchReporting, newqueue.BatchUpdateReporting:
					b, err := worker.AcquireBatch(ctx, s)
					fatal(err)
					r, err := b.Report(ctx)
					if guard(err) == states.OnceFinished {
						fatal(b.Unlock(ctx))
						continue
					}
					fatal(err)
					fatal(b.Finish(ctx, r))
					batches[b.ID] = r.State
				}
			}
		},
		"": func(rt *rapid.T) {
			tree := w.tree()
			for _, p := range append(merritt.Problems(tree, d), unreadable(t, tree, d)...) {
				rt.Errorf("layout: %v", p)
			}
			for id, j := range jobs {
				n := tree.Get("/jobs/" + id + "/status")
				if j.gone {
					if tree.Get("/jobs/"+id) != nil {
						rt.Errorf("%s should be gone", id)
					}
					continue
				}
				s, err := newqueue.Parse[newqueue.JobStatus](d, n.Data)
				if err != nil || string(s.State) != j.state || s.RetryCount != j.retries || string(tree.Get("/jobs/"+id+"/priority").Data) != fmt.Sprint(j.priority) {
					rt.Errorf("%s is %+v, want %+v", id, s, *j)
				}
				locked := tree.Get("/jobs/"+id+"/lock") != nil
				if locked != (held[id] != nil) {
					rt.Errorf("%s locked: %t", id, locked)
				}
			}
			for bid, want := range batches {
				s, err := newqueue.Parse[newqueue.BatchStatus](d, tree.Get("/batches/"+bid+"/status").Data)
				if err != nil || s.State != want {
					rt.Errorf("%s is %s (%v), want %s", bid, s.State, err, want)
				}
			}
		},
	})
}
