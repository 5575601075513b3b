package newqueue_test

import (
	"context"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// watchCounter counts the watches that a queue leaves with its client.
type watchCounter struct {
	newqueue.Conn
	mu     sync.Mutex
	on     map[string]int
	looked chan string // gets the path of each
}

func (c *watchCounter) set(path string) {
	c.mu.Lock()
	c.on[path]++
	c.mu.Unlock()
	c.looked <- path
}

func (c *watchCounter) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	data, stat, changed, err := c.Conn.GetW(path)
	if err == nil {
		c.set(path)
	}
	return data, stat, changed, err
}

func (c *watchCounter) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, changed, err := c.Conn.ChildrenW(path)
	if err == nil {
		c.set(path)
	}
	return names, stat, changed, err
}

func (c *watchCounter) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	ok, stat, changed, err := c.Conn.ExistsW(path)
	if err == nil {
		c.set(path)
	}
	return ok, stat, changed, err
}

// TestWatchWhileItIsMade: the client library creates a batch step by step, and
// its jobs one by one. A watcher waits until the last step.
func TestWatchWhileItIsMade(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	w.put("/batches", "")
	conn, _ := connect(t, address(t))
	counter := &watchCounter{Conn: conn, on: map[string]int{}, looked: make(chan string, 100)}
	watcher := newqueue.Open(counter, w.d, newqueue.WithRoot(w.root))
	stop, cancel := context.WithCancel(ctx)
	told := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- watcher.WatchBatches(stop, func(bid string) { told <- bid }) }()
	looked := func(path string) { // and set a watch there
		t.Helper()
		for <-counter.looked != w.root+path {
		}
	}
	write := func(path, data string, flags int32) {
		t.Helper()
		if _, err := w.raw.Create(w.root+path, []byte(data), flags, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	const batch = "/batches/bid0000000000"
	looked("/batches")
	// Batch.createBatch
	write(batch, "", 0)
	looked(batch)
	write(batch+"/submission", `{"batchID":""}`, 0)
	looked(batch)
	write(batch+"/status", `{"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","message":""}`, 0)
	looked(batch + "/status")
	// Batch.acquirePendingBatch
	write(batch+"/lock", "", zk.FlagEphemeral)
	write(batch+"/states", "", 0)
	w.put(batch+"/status", `{"status":"Processing","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
	looked(batch + "/states")
	// Job.createJob, whose last step is the batch's entry.
	write(batch+"/states/batch-processing", "", 0)
	looked(batch + "/states/batch-processing")
	looked(batch + "/lock") // because the worker that created it still holds it
	write(batch+"/states/batch-processing/jid0000000000", "", 0)
	w.delete(batch + "/lock")
	looked(batch + "/states/batch-processing")
	w.delete(batch + "/states/batch-processing/jid0000000000")
	if got := <-told; got != "bid0000000000" {
		t.Errorf("the callback got %s", got)
	}
	cancel()
	<-ended
}

// TestNotMadeYet: a batch whose jobs are not created yet is not done.
func TestNotMadeYet(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	const batch = "/batches/bid0000000000"
	w.put(batch+"/submission", `{}`)
	w.put(batch+"/status", `{"status":"Processing","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
	w.put(batch+"/states", "")
	before := w.tree()
	err := w.queue().MoveBatch(ctx, "bid0000000000", newqueue.BatchProcessing, newqueue.BatchReporting)
	if want := "move to reporting " + batch + ": " + batch + "/states/batch-processing: it does not exist"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	same(t, before, w.tree())
}

// TestWatchersDontPileUp: watching a batch of many jobs leaves one watch on its
// status, not one for each job.
func TestWatchersDontPileUp(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	const jobs = 5
	bid, ids := batchOf(t, q, jobs)
	conn, _ := connect(t, address(t))
	counter := &watchCounter{Conn: conn, on: map[string]int{}, looked: make(chan string, 100)}
	fired := make(chan bool)
	go func() {
		ok, err := newqueue.Open(counter, w.d, newqueue.WithRoot(w.root)).ReportWhenEmptied(ctx, bid)
		if err != nil {
			t.Error(err)
		}
		fired <- ok
	}()
	folder := w.root + "/batches/" + bid + "/states/batch-processing"
	for range ids {
		for <-counter.looked != folder {
		}
		j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		must(t, j.Fail(ctx, ""))
	}
	if !<-fired {
		t.Error("not fired")
	}
	if n := counter.on[w.root+"/batches/"+bid+"/status"]; n != 1 {
		t.Errorf("%d watches on the status", n)
	}
}
