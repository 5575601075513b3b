package client_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

var ctx = context.Background()

// noon is the time on the clock in the tests that compare whole trees.
var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.FixedZone("", -8*3600))

func clock() client.Option { return client.WithClock(func() time.Time { return noon }) }

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

func batchOf(t *testing.T, q *client.Queue, n int) (string, []string) {
	t.Helper()
	bid := value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p", BatchID: fmt.Sprint("uuid-", roots.Add(1))}))(t)
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	if b.ID != bid {
		t.Fatalf("acquired %s, made %s", b.ID, bid)
	}
	jobs := make([]client.JobSpec, n)
	for i := range jobs {
		jobs[i] = client.JobSpec{Priority: 5, Configuration: newqueue.Configuration{PayloadURL: fmt.Sprint("http://example.org/", i)}}
	}
	return bid, value(b.Process(ctx, jobs...))(t)
}

func drive(t *testing.T, q *client.Queue, jid string, to newqueue.JobState) {
	t.Helper()
	step := func(s newqueue.JobState, do func(*client.Job) error) {
		t.Helper()
		must(t, do(value(q.AcquireJob(ctx, s))(t)))
	}
	succeed := func(j *client.Job) error { return j.Succeed(ctx) }
	switch to {
	case newqueue.JobHeld:
		step(newqueue.JobPending, func(j *client.Job) error { return j.Hold(ctx, "") })
		return
	case newqueue.JobFailed:
		drive(t, q, jid, newqueue.JobDownloading)
		step(newqueue.JobDownloading, func(j *client.Job) error { return j.Fail(ctx, "404") })
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
