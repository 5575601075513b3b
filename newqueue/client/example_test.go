package client_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// A batch of one job, from its submission to its depositor's report.
func Example() {
	ctx := context.Background()
	server, err := minizk.Start(minizk.Options{}) // or a ZooKeeper of your own
	check(err)
	defer server.Close()
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	check(err)
	defer conn.Close()
	q := client.Open(conn, newqueue.Design)

	// The service that takes submissions.
	bid, err := q.CreateBatch(ctx, newqueue.Submission{
		ProfileName: "merritt_demo_content",
		Submitter:   "submitter",
		Type:        "object-manifest",
		BatchID:     "7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62",
	})
	check(err)

	// A batch worker creates the jobs.
	batch, err := q.AcquireBatch(ctx, newqueue.BatchPending)
	check(err)
	_, err = batch.Process(ctx, client.JobSpec{
		Priority:      client.DefaultPriority,
		Configuration: newqueue.Configuration{PayloadURL: "http://example.org/object.checkm", PayloadType: "Manifest"},
	})
	check(err)

	// Workers, here one for all steps, move the job from state to state.
	for state := newqueue.JobPending; state != newqueue.JobCompleted; {
		job, err := q.AcquireJob(ctx, state)
		check(err)
		// … the step's work …
		check(job.Succeed(ctx))
		fmt.Println(job.ID, "is", job.Status.State)
		state = job.Status.State
	}

	// The watch on the batch finds that all its jobs are done.
	_, err = q.ReportWhenEmptied(ctx, bid)
	check(err)
	batch, err = q.AcquireBatch(ctx, newqueue.BatchReporting)
	check(err)
	report, err := batch.Report(ctx)
	check(err)
	// … the depositor is sent the report …
	check(batch.Finish(ctx, report))
	fmt.Println(batch.ID, "is", batch.Status.State, "with", len(report.Completed), "job completed and", len(report.Failed), "failed")
	// Output:
	// jid0000000000 is estimating
	// jid0000000000 is provisioning
	// jid0000000000 is downloading
	// jid0000000000 is processing
	// jid0000000000 is recording
	// jid0000000000 is notify
	// jid0000000000 is completed
	// bid0000000000 is completed with 1 job completed and 0 failed
}

// A worker has to stop in the middle of its work. Another one gets the job.
func ExampleQueue_Work() {
	server, err := minizk.Start(minizk.Options{}) // or a ZooKeeper of your own
	check(err)
	defer server.Close()
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	check(err)
	defer conn.Close()
	q := client.Open(conn, newqueue.Design)
	bid, err := q.CreateBatch(context.Background(), newqueue.Submission{BatchID: "7f7dd8b6-8ac6-4c41-8b1c-5a4b0b7a3d62"})
	check(err)
	batch, err := q.AcquireBatch(context.Background(), newqueue.BatchPending)
	check(err)
	_, err = batch.Process(context.Background(), client.JobSpec{Priority: client.DefaultPriority})
	check(err)

	ctx, stop := context.WithCancel(context.Background())
	check(q.Work(ctx, newqueue.JobPending, func(ctx context.Context, _ *client.Job) error {
		stop() // as a signal does, see signal.NotifyContext
		return ctx.Err()
	}, nil))
	job, err := q.AcquireJob(context.Background(), newqueue.JobPending)
	check(err)
	fmt.Println(job.ID, "of", bid, "is", job.Status.State)
	// Output: jid0000000000 of bid0000000000 is pending
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
