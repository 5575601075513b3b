// Package newqueue is the new queue as a library: batches, jobs, access requests
// and locks in ZooKeeper, for a Go service that makes them or works on them.
//
// A batch holds jobs; a job stands in three places at once, and a worker finds
// it by the third:
//
//	/jobs/JID                                 what it is, and its status
//	/batches/BID/states/batch-processing/JID  what its batch still waits for
//	/jobs/states/pending/PP-JID               the queue of its state, by priority
//
// [Open] gives a [Queue] on a session. A worker acquires the next [Job] of a
// state, which locks it, does the state's work, and says how it went:
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
// Batches are acquired, processed and reported in the same way.
//
// # Who calls what
//
//   - Who submits: [Queue.CreateBatch], [Queue.CreateAccess],
//     [Queue.FindBatch].
//   - A worker: [Queue.AcquireBatch] and then the methods of [Batch],
//     [Queue.AcquireJob] or [Queue.AcquireJobs] and then those of [Job],
//     [Queue.AcquireAccess] and then those of [Access]. A step releases the lock
//     that the worker acquired. [Queue.Lock] and [Queue.Unlock] are for what
//     workers share. [Queue.CreateJob] adds a job to a batch that is processing.
//   - An administrator, who needs no lock and is refused while a worker holds it:
//     [Queue.ReleaseJob], [Queue.ResumeJob], [Queue.RetryJob],
//     [Queue.SetPriority], [Queue.DeleteJob]; [Queue.ReleaseBatch],
//     [Queue.UpdateReportBatch], [Queue.FailBatch], [Queue.DeleteBatch];
//     [Queue.RetryAccess], [Queue.DeleteAccess].
//   - A cleaning pass: [Queue.CleanupJobs], [Queue.CleanupBatches],
//     [Queue.CleanupAccess], [Queue.RepairBatches].
//   - Who watches: [Queue.WatchBatches], or [Queue.ReportWhenEmptied] for one
//     batch, makes a batch whose jobs are done ready for its report.
//   - Who looks: [Queue.Jobs], [Queue.Job], [Queue.Batches], [Queue.Batch],
//     [Queue.BatchJobs], [Queue.Access], [Queue.IsLocked].
//
// # How a step is made
//
// What may happen, and all that it does, stands in the tables of package states.
// Operations look their row up, decide.go spells it as ZooKeeper operations
// without doing anything, and commit.go sends them as one transaction that is
// refused if anything it was decided on has changed. So a step happens whole or not at all, and of two who race one wins and the other
// is told: see the errors that [Job.Succeed] lists. When a connection breaks in
// the middle, the queue looks whether the step happened before it answers.
//
// The layout (docs/new-layout.md, "Paths") is in paths.go, the states in state.go,
// the two spellings of one layout in dialect.go, and what the znodes hold in
// content.go and values.go. Package lint checks a whole tree against it.
package newqueue
