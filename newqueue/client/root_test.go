package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

var rooted = map[string]func(*client.Queue) error{
	"create a batch": func(q *client.Queue) error {
		_, err := q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p", BatchID: "u"})
		return err
	},
	"create a request": func(q *client.Queue) error {
		_, err := q.CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{Token: "x"})
		return err
	},
	"acquire": func(q *client.Queue) error { _, err := q.AcquireJob(ctx, newqueue.JobPending); return err },
	"wait": func(q *client.Queue) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute) // it would wait for ever
		defer cancel()
		_, err := q.NextJob(ctx, newqueue.JobPending)
		return err
	},
	"when empty": func(q *client.Queue) error { _, err := q.ReportWhenEmptied(ctx, "bid0000000001"); return err },
	"hold":       func(q *client.Queue) error { return q.Lock(ctx, newqueue.QueueLock(newqueue.HoldIngest)) },
	"lock":       func(q *client.Queue) error { return q.Lock(ctx, newqueue.InventoryLock("ark:/1")) },
}

// TestNoRoot: if the root is mistyped, the error names it and says what to do, and
// nothing is created. Init creates it.
func TestNoRoot(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		root := w.root + "/typed/wrong"
		q := w.queue(client.WithRoot(root))
		for name, do := range rooted {
			before := w.tree()
			err := do(q)
			if !errors.Is(err, client.ErrNotFound) || !strings.Contains(err.Error(), root) || !strings.Contains(err.Error(), "Init") || errors.Is(err, client.ErrNoneAvailable) {
				t.Errorf("%s: %v", name, err)
			}
			same(t, before, w.tree())
		}
		must(t, q.Init(ctx))
		batchOf(t, q, 1)
		if j := value(q.AcquireJob(ctx, newqueue.JobPending))(t); !j.Locked() {
			t.Error("the job is not locked")
		}
		if left(w.tree(), "/typed/wrong/jobs/jid") == nil {
			t.Error("the queue is somewhere else")
		}
	})
}

// TestOpenRefusesAnUnknownDialect: a queue in it would have no tables, and write jobs without a state.
func TestOpenRefusesAnUnknownDialect(t *testing.T) {
	for d, want := range map[newqueue.Dialect]string{
		"":       `client.Open: unknown dialect "": expected design or mrt-zk`,
		"Design": `client.Open: unknown dialect "Design": expected design or mrt-zk`,
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			client.Open(nil, d)
		}()
	}
}
