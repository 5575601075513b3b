package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// documented creates jobs as the published design describes it, and as CDL's migration script
// does (docs/field-script.md). It creates one job after the other and takes it through
// the steps to its state, and waits for each answer before the next step. The states
// are those of the generated queue: of twenty jobs one is held, one has failed, two
// are completed and the rest are pending.
func documented(ctx context.Context, conn *zk.Conn, chroot string, jobs int) (sample, error) {
	if _, err := conn.Create(chroot, []byte{}, 0, zk.WorldACL(zk.PermAll)); err != nil {
		return sample{}, fmt.Errorf("%s: %w", chroot, err)
	}
	q := newqueue.Open(conn, newqueue.Design, newqueue.WithRoot(chroot))
	if err := q.Init(ctx); err != nil {
		return sample{}, err
	}
	began := time.Now()
	bid, err := q.CreateBatch(ctx, newqueue.Submission{ProfileName: "demo_merritt_content", Submitter: "demo/Demo Depositor", Type: "object-manifest"})
	if err != nil {
		return sample{}, err
	}
	batch, err := q.AcquireBatch(ctx, newqueue.BatchPending)
	if err != nil {
		return sample{}, err
	}
	if _, err := batch.Process(ctx); err != nil {
		return sample{}, err
	}
	for i := range jobs {
		if err := oneJob(ctx, q, bid, i); err != nil {
			return sample{}, fmt.Errorf("job %d: %w", i, err)
		}
	}
	return since(began), nil
}

// oneJob creates a job and takes it to its state. If the job is not to stay pending, it
// gets the highest priority, so that the next acquire returns it.
func oneJob(ctx context.Context, q *newqueue.Queue, bid string, i int) error {
	kind := i % 20
	job := newqueue.NewJob{
		Priority: newqueue.DefaultPriority,
		Configuration: newqueue.Configuration{
			ProfileName: "demo_merritt_content", Submitter: "demo/Demo Depositor", PayloadType: "Manifest", ResponseType: "xml",
			PayloadURL: fmt.Sprintf("http://example.org/manifests/jid-%07d.checkm", i), LocalID: fmt.Sprintf("loc%06d", i),
		},
		Metadata: newqueue.Metadata{ErcWhat: "First title", ErcWho: "A. Creator", ErcWhen: "2024"},
	}
	if kind < 4 {
		job.Priority = 0
	}
	jid, err := q.CreateJob(ctx, bid, job)
	if err != nil || kind >= 4 {
		return err
	}
	for state := newqueue.JobPending; ; {
		worked, err := q.AcquireJob(ctx, state)
		if err != nil {
			return err
		}
		if worked == nil || worked.ID != jid {
			return fmt.Errorf("a worker got another job than %s in state %s", jid, state)
		}
		switch kind {
		case 0:
			return worked.Hold(ctx)
		case 1:
			return worked.Fail(ctx, "as in the legacy queue")
		}
		if err := worked.Succeed(ctx); err != nil {
			return err
		}
		if state = worked.Status.State; state == newqueue.JobCompleted {
			return nil
		}
	}
}
