// Package client is the new queue as a library: batches, jobs, access requests
// and locks in ZooKeeper, for a Go service that creates them or works on them.
//
// A batch holds jobs. A job has three places in the tree, and a worker finds it
// by the third:
//
//	/jobs/JID                                 the job: its properties and its status
//	/batches/BID/states/batch-processing/JID  its batch entry: the batch waits for it
//	/jobs/states/pending/PP-JID               its queue entry: priority and id
//
// [Open] returns a [Queue] for a session. A worker waits for the next [Job] in a
// state, and gets it locked. It does the work of that state, and then says whether
// the work succeeded, even if the context has ended meanwhile: then it gives the job back.
//
//	job, err := q.NextJob(ctx, newqueue.JobPending)
//	if err != nil {
//		return err
//	}
//	err = work(ctx, job)
//	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
//	defer cancel()
//	switch {
//	case err == nil:
//		return job.Succeed(end)
//	case ctx.Err() != nil:
//		return job.Unlock(end) // another worker gets it
//	}
//	return job.Fail(end, err.Error())
//
// docs/library.md has a whole service. [Queue.AcquireJob] does not wait.
// [Queue.AcquireJobs] visits all jobs of a state, to choose among them.
//
// A worker acquires, processes and reports a [Batch] in the same way.
//
// # How a transition is made
//
// The tables of package states say which transitions there are, and all that
// each of them changes. move.go makes the transitions of all three, which are an [Item]: it finds the
// row, and sends the operations that decide returns as one transaction, which
// the server refuses if anything that the decision depends on has changed. So a
// transition happens completely or not at all. If two callers race, one succeeds
// and the other gets an error. If a connection breaks before the answer arrives,
// commit.go looks for what only this transition can have left, or for what proves that it did not
// happen. If it finds neither, the error is [ErrUnknownOutcome]. A worker then ends its session,
// and with it the lock that may be left.
package client
