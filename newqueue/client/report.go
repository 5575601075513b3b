package client

import (
	"context"
	"slices"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Report is what the service tells a depositor about a batch.
type Report struct {
	BatchID string
	// Update is true for an update report (B9, B10), false for a first one.
	Update bool
	// State is the batch's state once the report is sent: completed, or failed
	// if at least one job failed.
	State newqueue.BatchState
	// Completed and Failed are the batch's jobs now, sorted.
	Completed, Failed []string
	// NewlyCompleted and NewlyFailed are the jobs that the last report did not
	// list as such. These are all jobs in a first report, and in every report of a
	// dialect that keeps none ([newqueue.Dialect.KeepsReports]). Unresolved are the jobs
	// that the last report already listed as failed, and that still are.
	NewlyCompleted, NewlyFailed, Unresolved []string
	// Unfinished are the jobs that were resumed. A later report will list them.
	Unfinished []string
}

// Changed reports whether the report must be sent. A first report always must,
// an update report only if something has changed since the last one (S7).
func (r Report) Changed() bool {
	return !r.Update || len(r.NewlyCompleted)+len(r.NewlyFailed) > 0
}

// Report makes the report of an acquired reporting or update-reporting batch.
// Send it if [Report.Changed] says so, then pass it to [Batch.Finish]. Errors:
// *[StateError] if the batch is in another state, or with the guard [states.OnceFinished] if no
// job is failed but some were resumed. Then unlock the batch and try again later.
func (b *Batch) Report(ctx context.Context) (r Report, err error) {
	defer wrap("report", b.path, &err)
	if b.Status.State != newqueue.BatchReporting && b.Status.State != states.UpdateReporting {
		return r, b.transitionError("a report", true, "")
	}
	if _, err := b.owns(ctx); err != nil {
		return r, err
	}
	jobs, err := b.jobs(ctx)
	if err != nil {
		return r, err
	}
	r = Report{
		BatchID: b.ID, Update: b.Status.State == newqueue.BatchUpdateReporting,
		Completed: jobs[newqueue.FolderCompleted], Failed: jobs[newqueue.FolderFailed], Unfinished: jobs[newqueue.FolderProcessing],
	}
	if r.State, err = b.reported(jobs); err != nil {
		return Report{}, err
	}
	var last newqueue.StatusReport // none in a first report
	if b.q.dialect.KeepsReports() {
		err = b.load(ctx, []property{{name: "status-report", parse: intoIn(b.q.dialect, &last, newqueue.Parse), optional: true}})
		if err != nil {
			return Report{}, err
		}
	}
	r.NewlyCompleted = missing(r.Completed, last.Successful)
	r.NewlyFailed = missing(r.Failed, last.FailedJobs)
	r.Unresolved = missing(r.Failed, r.NewlyFailed)
	return r, nil
}

func missing(all, known []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(known, s) })
}

// Finish records that a report was sent. It writes the status-report, if the dialect
// keeps one, and the batch's next state in one transaction (B6, B7, B9, B10), and releases the lock.
// Errors as for [Item]. [ErrConflict] also means that the report is out of
// date because a job has moved since: make another report.
func (b *Batch) Finish(ctx context.Context, r Report) error {
	return b.move(ctx, act{name: "finish", worker: true, to: string(r.State), report: &r})
}

func (r Report) lists(jobs map[newqueue.BatchFolder][]string) bool {
	return slices.Equal(r.Completed, jobs[newqueue.FolderCompleted]) && slices.Equal(r.Failed, jobs[newqueue.FolderFailed]) &&
		slices.Equal(r.Unfinished, jobs[newqueue.FolderProcessing])
}
