package daemons_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// counting is a session through a mirror that counts what workers read.
type counting struct {
	daemons.Counting
	reads *int
}

func (c counting) Get(path string) ([]byte, *zk.Stat, error) {
	*c.reads++
	return c.Counting.Get(path)
}

// readsOf has the workers fail every job and request, each job in a batch of its own, so that
// nothing is ever removed. It returns what they read.
func readsOf(t *testing.T, d newqueue.Dialect, items int) int {
	fails := func(string, string) bool { return true }
	var q *queue
	if d == newqueue.MrtZK {
		q = newQueue(t, daemons.Options{})
	} else {
		q = documentedQueue(t, daemons.Options{}, 0)
	}
	nq := client.Open(q.conn, d)
	for i := range items {
		if d == newqueue.MrtZK {
			q.add("Pending", nil)
		} else {
			b := newqueue.Submission{ProfileName: "p", Submitter: "s", BatchID: fmt.Sprint("bid-", i)}
			value(nq.CreateBatch(t.Context(), b))(t)
			acquired := value(nq.AcquireBatch(t.Context(), newqueue.BatchPending))(t)
			value(acquired.Process(t.Context(), client.NewJob{Priority: 5, Configuration: newqueue.Configuration{Other: newqueue.Object{"jobID": fmt.Sprint("jid-", i)}}}))(t)
		}
		value(nq.CreateRequest(t.Context(), newqueue.AccessSmall, newqueue.Token{Token: fmt.Sprint("token-", i)}))(t)
	}
	mirror, reads := daemons.NewMirror(), 0
	place := daemons.Site{Connect: func() (daemons.Session, error) { return counting{mirror.Over(q.dial(t)), &reads}, nil }}
	w := daemons.New(daemons.Options{New: place, Dialect: d, Fails: fails})
	defer w.Close()
	must(t, w.Run())
	must(t, w.Clean())
	failed := 0
	for _, e := range w.Executions() {
		if s := e.States; len(s) > 0 && strings.EqualFold(s[len(s)-1], "failed") {
			failed++
		}
	}
	if failed < 2*items || len(w.Mails) != items || len(w.Removed) > 0 {
		t.Fatalf("%s: %d of %d items failed, %d mails, %d batches removed", d, failed, 2*items, len(w.Mails), len(w.Removed))
	}
	return reads
}

// Workers who look for work do not read again what they passed over. So four times as many failed
// jobs and requests, which stay for ever, take about four times as much work, and not sixteen.
func TestPassedOverOnce(t *testing.T) {
	for _, d := range newqueue.Dialects {
		few, many := readsOf(t, d, 20), readsOf(t, d, 80)
		t.Logf("%s: %d reads for 20, %d for 80", d, few, many)
		if many > 5*few {
			t.Errorf("%s: %d reads for 80 jobs and requests, %d for 20: expected at most five times as many", d, many, few)
		}
	}
}
