package daemons_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// changes counts the reads and the changes of all sessions.
type changes struct {
	reads int
	below map[string]uint64 // changes, by the paths above them
}

// counting is a session that counts.
type counting struct {
	daemons.Session
	*changes
}

func (c *changes) Changes(path string) uint64 { return c.below[path] }

func (c *changes) changed(path string) {
	for path != "/" {
		path = znode.Parent(path)
		c.below[path]++
	}
}

func (c *counting) Get(path string) ([]byte, *zk.Stat, error) {
	c.reads++
	return c.Session.Get(path)
}

func (c *counting) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	made, err := c.Session.Create(path, data, flags, acl)
	c.changed(path)
	return made, err
}

func (c *counting) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	c.changed(path)
	return c.Session.Set(path, data, version)
}

func (c *counting) Delete(path string, version int32) error {
	c.changed(path)
	return c.Session.Delete(path, version)
}

func (c *counting) Multi(ops ...any) ([]zk.MultiResponse, error) {
	for _, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			c.changed(op.Path)
		case *zk.SetDataRequest:
			c.changed(op.Path)
		case *zk.DeleteRequest:
			c.changed(op.Path)
		}
	}
	return c.Session.Multi(ops...)
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
	c := changes{below: map[string]uint64{}}
	place := daemons.Site{Connect: func() (daemons.Session, error) { return &counting{q.dial(t), &c}, nil }}
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
	return c.reads
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
