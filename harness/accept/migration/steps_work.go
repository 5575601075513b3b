package migration

// The steps with workers that use package newqueue, and with the field's own script.

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// workOff lets the services move every job as far as possible, report the batches
// that are done, and clean up. An administrator deletes failed and held jobs.
func (w *world) workOff() error {
	ctx := context.Background()
	q := newqueue.Open(w.conn, newqueue.Dialect(w.dialect), newqueue.WithRoot(w.root+"/new"), newqueue.WithACL(w.acl))
	before, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, *newqueue.Queue) error{workJobs, deleteRest, report, cleanUp} {
		if err := step(ctx, q); err != nil {
			return err
		}
	}
	after, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, jid := range before.Children(newqueue.JobsPath) {
		path := newqueue.JobPath(jid)
		if from := recordOf(before.Get(path)); from != "" && after.Get(path) == nil {
			w.gone = append(w.gone, from)
		}
	}
	if len(w.gone) == 0 {
		return errors.New("nothing was cleaned")
	}
	return nil
}

func workJobs(ctx context.Context, q *newqueue.Queue) error {
	for _, first := range []newqueue.JobState{newqueue.JobPending, newqueue.JobRecording} {
		for state := first; ; {
			job, err := q.AcquireJob(ctx, state)
			if errors.Is(err, newqueue.ErrNone) {
				break
			}
			if err == nil {
				err = job.Succeed(ctx)
			}
			if err != nil {
				return err
			}
			if state = job.Status.State; state == newqueue.JobCompleted {
				state = first // continue with the next job
			}
		}
	}
	return nil
}

func deleteRest(ctx context.Context, q *newqueue.Queue) error {
	for _, state := range []newqueue.JobState{newqueue.JobFailed, newqueue.JobHeld} {
		jobs, err := q.Jobs(ctx, state)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if _, err := q.DeleteJob(ctx, j.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func report(ctx context.Context, q *newqueue.Queue) error {
	batches, err := q.Batches(ctx)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := q.ReportIfEmptied(ctx, b.ID); err != nil && !errors.Is(err, newqueue.ErrStillProcessing) && !isState(err) {
			return err
		}
	}
	for {
		b, err := q.AcquireBatch(ctx, newqueue.BatchReporting)
		if errors.Is(err, newqueue.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := b.Report(ctx)
		if err == nil {
			err = b.Finish(ctx, r)
		}
		if err != nil {
			return err
		}
	}
}

func cleanUp(ctx context.Context, q *newqueue.Queue) error {
	if _, err := q.CleanupJobs(ctx); err != nil {
		return err
	}
	_, err := q.CleanupBatches(ctx)
	return err
}

func isState(err error) bool {
	var state *newqueue.StateError
	return errors.As(err, &state)
}

// setMarker removes everything below /migration and creates the field's own
// marker (docs/field-script.md, "Migration levels").
func (w *world) setMarker() error {
	tree, err := w.tree("/new")
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(tree.Paths("/migration")) {
		if path == "/migration" {
			continue
		}
		if err := w.conn.Delete(w.root+"/new"+path, -1); err != nil {
			return err
		}
	}
	return w.create("/new/migration/m1", nil)
}

// recordOf returns the path of the record that a job or a request was migrated from, "" if
// it was not migrated.
func recordOf(n *znode.Node) string {
	var from struct{ Path string }
	if json.Unmarshal(n.Data, &from) != nil {
		return ""
	}
	return from.Path
}
