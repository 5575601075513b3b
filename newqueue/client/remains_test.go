package client_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestStrayEntry: an entry in a batch's folder names another batch's job. It is
// removed with the batch, and the job stays.
func TestStrayEntry(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 1)
		held := value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
		holdBatch(t, q, held)
		before := w.tree()
		w.put("/batches/"+held+"/states/batch-processing/"+ids[0], "")
		value(q.DeleteBatch(ctx, held))(t)
		after := w.tree()
		if after.Get("/batches/"+held) != nil {
			t.Error("the batch is still there")
		}
		for _, c := range znode.Diff(before, after, "/jobs") {
			t.Errorf("changed: %v", c)
		}
		w.check()
	})
}

// TestInTheWay: a znode that no operation created is in the way of a transition.
// The error names it. "Another client changed it first" would not help.
func TestInTheWay(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 1)
		stray := "/jobs/states/estimating/05-" + ids[0]
		w.put(stray, "")
		j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		before := w.tree()
		err := j.Succeed(ctx)
		var bad *client.NodeError
		if !errors.As(err, &bad) || bad.Path != stray || !errors.Is(err, client.ErrExists) || errors.Is(err, client.ErrConflict) {
			t.Errorf("%v", err)
		}
		same(t, before, w.tree())
		w.delete(stray)
		must(t, j.Succeed(ctx))
	})
}

// TestUUIDStays: the connection is lost just when a deletion reads the batch's submission. It does not leave the batch's UUID.
func TestUUIDStays(t *testing.T) {
	for _, d := range newqueue.Dialects {
		synctest.Test(t, func(t *testing.T) {
			conn := bubbled(t)
			q := client.Open(conn, d)
			bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "x"}))(t)
			holdBatch(t, q, bid)
			var reads atomic.Int32
			out := &hooked{Conn: conn, read: func(path string) error {
				if strings.HasSuffix(path, "/submission") {
					reads.Add(1)
				}
				if reads.Load() > 1 { // it has listed what is below the batch
					return zk.ErrNoServer
				}
				return nil
			}}
			if err := errorOf(client.Open(out, d).DeleteBatch(ctx, bid)); !errors.Is(err, zk.ErrNoServer) {
				t.Errorf("%s: %v", d, err)
			}
			if there, _, err := conn.Exists(newqueue.BatchPath(bid)); !there || err != nil {
				t.Errorf("%s: the batch is gone: %v", d, err)
			}
		})
	}
}

// TestLeftStatesGrow: somebody adds a child to a states that was left, between an acquisition's look and its write.
func TestLeftStatesGrow(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		c, q := w.hooked()
		bid := value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
		w.put(newqueue.BatchStatesPath(bid), "")
		c.meddle(func() { w.put(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing), "") })
		b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
		value(b.Process(ctx, client.JobSpec{}))(t)
		w.check()
	})
}
