package migrate

import (
	"context"
	"slices"
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// UnreportedBatch is a batch that waits for no job, and of which nothing has changed for long.
type UnreportedBatch struct {
	Path  string    `json:"path"`
	State string    `json:"state"`
	Since time.Time `json:"since"` // when its state was written or its last job was done
}

func (b *UnreportedBatch) due() bool { return time.Since(b.Since) >= newqueue.ReportedWithin }

func awaitsReport(state string) bool {
	return newqueue.BatchState(strings.ReplaceAll(state, "updatereporting", "update-reporting")).AwaitsReport() // as either dialect spells it
}

// reports finds the batches that somebody should have reported. While the queue is held, nobody does.
func (r *statusReader) reports(ctx context.Context) error {
	held, err := r.t.Reader.MarkUnreadable().GetAll(ctx, []string{newqueue.QueueHoldPath(newqueue.HoldIngest)})
	if err != nil || len(held) > 0 {
		return err
	}
	var due []UnreportedBatch
	var folders []string
	for _, b := range r.waiting {
		locked := slices.ContainsFunc(r.status.Locks, func(l LockStatus) bool { return l.Path == b.Path+"/lock" })
		if b.due() && !locked {
			due, folders = append(due, b), append(folders, newqueue.BatchFolderPath(znode.Name(b.Path), newqueue.FolderProcessing))
		}
	}
	unfinished, err := r.t.Reader.ChildrenAll(ctx, folders)
	if err != nil {
		return err
	}
	for i, b := range due {
		if unfinished[i] == nil || len(unfinished[i]) > 0 { // without the folder it is damaged, and check says so
			continue
		}
		if err := r.lastDone(ctx, &b); err != nil {
			return err
		}
		if b.due() {
			r.status.Unreported = append(r.status.Unreported, b)
		}
	}
	return nil
}

func (r *statusReader) lastDone(ctx context.Context, b *UnreportedBatch) error {
	var folders, statuses []string
	for _, f := range newqueue.BatchFolders {
		folders = append(folders, newqueue.BatchFolderPath(znode.Name(b.Path), f))
	}
	jobs, err := r.t.Reader.ChildrenAll(ctx, folders)
	if err != nil {
		return err
	}
	for _, names := range jobs {
		for _, jid := range names {
			statuses = append(statuses, newqueue.JobPath(jid)+"/status")
		}
	}
	return r.t.Reader.MarkUnreadable().GetEach(ctx, statuses, func(n znode.Node) {
		if done := changedAt(n); done.After(b.Since) {
			b.Since = done
		}
	})
}

// changedAt is when an item got its state: as its status says, else when that was written. An administrator's tool, which deletes jobs
// and asks for update reports, leaves the time as it was.
func changedAt(status znode.Node) time.Time {
	o, err := newqueue.ParseObject(status.Data)
	if state := stateIn(status.Data); err == nil && state != "deleted" && !strings.HasPrefix(state, "update") {
		for _, d := range newqueue.Dialects {
			job, _ := newqueue.FromObject[newqueue.JobStatus](d, o)
			batch, _ := newqueue.FromObject[newqueue.BatchStatus](d, o)
			for _, said := range []time.Time{job.LastModified, batch.LastModified} {
				if !said.IsZero() {
					return said.UTC()
				}
			}
		}
	}
	return time.UnixMilli(status.Stat.Mtime).UTC()
}
