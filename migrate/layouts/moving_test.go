package layouts_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/internal/layout"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// moves is a tree that changes when a walk gets to the queue of pending jobs.
type moves struct {
	tree *znode.Tree
	then func()
}

func (m *moves) Get(ctx context.Context, path string) (znode.Node, error) {
	return layout.InMemory(m.tree).Get(ctx, path)
}

func (m *moves) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		last := ""
		for n, err := range layout.InMemory(m.tree).Walk(ctx, root) {
			if n.Path == "/jobs/states/pending" {
				m.then()
				break
			}
			if !yield(n, err) {
				return
			}
			last = n.Path
		}
		for n, err := range layout.InMemory(m.tree).Walk(ctx, root) {
			if n.Path > last && !yield(n, err) {
				return
			}
		}
	}
}

// If a znode moved between two reads, the check looks again and reports nothing. A real
// fault is still there at the second look.
func TestMovedMeanwhile(t *testing.T) {
	l := named(t, "merritt", "design")
	for _, c := range []struct {
		name   string
		moving bool
		broken bool
		looks  int
		want   int
	}{
		{"it moves, one look", true, false, 1, 1},
		{"it moves, two looks", true, false, 2, 0},
		{"it is broken, three looks", false, true, 3, 1},
		{"it moves and is broken, two looks", true, true, 2, 1},
	} {
		f := merrittSample("design").sound(t, l.Map)
		if c.broken {
			f.put("/batch-uuids/bid-9", "bid0000000009")
		}
		tree := f.tree(t)
		state := newqueue.JobPending
		s := &moves{tree, func() {
			if !c.moving || state == newqueue.JobHeld {
				return
			}
			// The job's status has been read. Now its entry is removed.
			state = newqueue.JobHeld
			g := f.clone()
			g.remove(entryPath)
			g.put("/jobs/states/held/05-jid0000000000", "")
			g.change(jobPath+"/status", `{"status":"held","retry_count":0}`)
			*tree = *g.tree(t)
		}}
		r, err := l.Check(t.Context(), s, layout.Options{Looks: c.looks})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Count(layout.Error); got < c.want || c.want == 0 && got > 0 {
			t.Errorf("%s: %d errors, want %d: %v", c.name, got, c.want, r.Findings)
		}
	}
}

// A check has no findings while workers use the queue.
func TestLiveQueue(t *testing.T) {
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	open := func() *newqueue.Queue {
		conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		return newqueue.Open(conn, newqueue.Design)
	}
	q := open()
	const jobs = 12
	makeBatch(t, q, jobs)
	moved := make(chan struct{}, 1)
	for range 3 {
		q := open()
		workers.Go(func() {
			for ctx.Err() == nil {
				job, err := q.AcquireJob(ctx, newqueue.JobPending)
				if err != nil {
					continue // another worker was faster
				}
				if err := job.Hold(ctx); err == nil {
					_ = q.ReleaseJob(ctx, job.ID) // ends with ctx
				}
				select {
				case moved <- struct{}{}:
				default:
				}
			}
		})
	}
	addr, err := zkconn.ParseAddress(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	r, err := zkconn.OpenReader(ctx, zkconn.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := named(t, "merritt", "design")
	for i := range 10 {
		<-moved
		report, err := l.Check(ctx, r, layout.Options{Looks: 8, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			if f.Severity != layout.Info {
				t.Errorf("check %d: %v", i, f)
			}
		}
	}
}

func makeBatch(t *testing.T, q *newqueue.Queue, jobs int) {
	t.Helper()
	ctx := t.Context()
	if _, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: "bid-live"}); err != nil {
		t.Fatal(err)
	}
	batch, err := q.AcquireBatch(ctx, newqueue.BatchPending)
	if err != nil {
		t.Fatal(err)
	}
	var all []newqueue.NewJob
	for i := range jobs {
		all = append(all, newqueue.NewJob{Priority: 5, Configuration: newqueue.Configuration{PayloadURL: fmt.Sprint("http://example.org/", i), PayloadType: "Manifest"}})
	}
	if _, err := batch.Process(ctx, all...); err != nil {
		t.Fatal(err)
	}
}
