// Package newqueue is the new queue as a library: batches, jobs, access requests
// and locks in ZooKeeper, for a Go service that creates them or works on them.
//
// A batch holds jobs. A job is in three places at once, and a worker finds it by
// the third:
//
//	/jobs/JID                                 what it is, and its status
//	/batches/BID/states/batch-processing/JID  what its batch waits for
//	/jobs/states/pending/PP-JID               the queue of its state, by priority
//
// [Open] gives a [Queue] on a session. A worker acquires the next [Job] of a
// state, which locks the job. Then it does the work, and reports the result:
//
//	job, err := q.AcquireJob(ctx, newqueue.JobDownloading)
//	switch {
//	case errors.Is(err, newqueue.ErrNone):
//		// nothing to do now
//	case err != nil:
//		return err
//	}
//	if err := download(ctx, job); err != nil {
//		return job.Fail(ctx, err.Error())
//	}
//	return job.Succeed(ctx)
//
// Batches are acquired, processed and reported in the same way. An
// administrator's steps (release, resume, retry, delete) and the automatic
// passes (clean up, repair) are methods of the queue and need no lock.
//
// Tables say what may happen, and everything that it does: [Transitions], one
// for each entity and [Dialect]. An operation looks up its row. decide.go turns
// the row into ZooKeeper operations, without any I/O. commit.go sends them as one
// transaction, which is refused if anything has changed that the decision was
// based on. So a step happens completely or not at all. If two callers race, one
// wins, and the other gets an error: see the errors of [Job.Succeed]. If the
// connection breaks in the middle, the queue finds out whether the step happened
// before it answers.
//
// The layout (docs/new-layout.md, "Paths") is in paths.go, the states are in
// state.go, the two dialects in dialect.go, and what the znodes hold in content.go
// and values.go. [CheckLayout] checks a whole tree.
package newqueue
