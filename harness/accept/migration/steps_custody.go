package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

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
	for p, n := range before {
		var from struct{ Path string }
		if _, exists := after[p]; !exists && path.Dir(p) == "/jobs" && json.Unmarshal([]byte(n.data), &from) == nil && from.Path != "" {
			w.gone = append(w.gone, from.Path)
		}
	}
	slices.Sort(w.gone)
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
		b, err := q.AcquireReportingBatch(ctx)
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
	var below []string
	for p := range tree {
		if strings.HasPrefix(p, "/migration/") {
			below = append(below, p)
		}
	}
	slices.Sort(below)
	for _, p := range slices.Backward(below) {
		if err := w.conn.Delete(w.root+"/new"+p, -1); err != nil {
			return err
		}
	}
	return w.create(w.root+"/new/migration/m1", []byte{})
}

func (w *world) markerThere() error {
	_, stat, err := w.conn.Get(w.root + "/new/migration/m1")
	if err == nil && stat.Version != 0 {
		err = errors.New("it was written")
	}
	if errors.Is(err, zk.ErrNoNode) {
		err = errors.New("it is gone")
	}
	return err
}

func (w *world) namesGone() error {
	if err := w.wantCode(1); err != nil {
		return err
	}
	var v struct{ Differences []struct{ Kind, Path string } }
	if err := w.json(&v); err != nil {
		return err
	}
	var named []string
	for _, d := range v.Differences {
		if d.Kind == "gone" {
			named = append(named, d.Path)
		}
	}
	slices.Sort(named)
	if !slices.Equal(named, w.gone) {
		return fmt.Errorf("verify names %v, but %v are gone", named, w.gone)
	}
	return nil
}

// blockedBy checks that the plan was refused, and that its table says why.
func (w *world) blockedBy(why string) error {
	if err := w.wantCode(1); err != nil {
		return err
	}
	if text := strings.Join(strings.Fields(w.last.stdout+w.last.stderr), " "); !strings.Contains(text, why) {
		return fmt.Errorf("it says %q", text)
	}
	return nil
}

func (w *world) countsLost() error {
	if err := w.wantCode(1); err != nil {
		return err
	}
	var r struct{ Runs []struct{ Lost int } }
	if err := w.json(&r); err != nil {
		return err
	}
	if len(r.Runs) != 1 || r.Runs[0].Lost != len(w.gone) {
		return fmt.Errorf("rebuild counts %+v, but %d are gone", r.Runs, len(w.gone))
	}
	return nil
}
