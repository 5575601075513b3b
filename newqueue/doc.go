// Package newqueue is the new queue as a library: batches, jobs, access requests
// and locks in ZooKeeper, for a Go service that creates them or works on them.
//
// A batch holds jobs. A job has three places in the tree, and a worker finds it
// by the third:
//
//	/jobs/JID                                 the job: its properties and its status
//	/batches/BID/states/batch-processing/JID  its batch entry: the batch waits for it
//	/jobs/states/pending/PP-JID               its queue entry: priority and id
//
// [Open] returns a [Queue] for a session. A worker acquires the next [Job] in a
// state, which locks it. It does the work of that state, and then says whether
// the work succeeded:
//
//	job, err := q.AcquireJob(ctx, newqueue.JobDownloading)
//	switch {
//	case errors.Is(err, newqueue.ErrNone):
//		return nil // nothing to do now
//	case err != nil:
//		return err
//	}
//	if err := download(ctx, job); err != nil {
//		return job.Fail(ctx, err.Error())
//	}
//	return job.Succeed(ctx)
//
// A worker acquires, processes and reports a [Batch] in the same way. The
// comment of [Queue] has all its methods in a table, by who calls them.
//
// # How a transition is made
//
// The tables of package states say which transitions there are, and all that
// each of them changes. A method finds its row in the table. decide.go turns the
// row into ZooKeeper operations, without I/O. commit.go sends them as one
// transaction, which the server refuses if anything that the decision depends on
// has changed. So a transition happens completely or not at all. If two callers
// race, one succeeds and the other gets an error: [Job.Succeed] lists them. If a
// connection breaks before the answer arrives, the queue reads whether the
// transition happened before it returns.
//
// paths.go has the layout (docs/new-layout.md, "Paths"), state.go the states,
// dialect.go the two dialects, and content.go and status.go what the znodes
// hold. Package lint checks a whole tree against the layout.
package newqueue
