package newqueue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// jobRemains are the operations that remove everything of a job.
type jobRemains struct {
	id  string
	ops []znode.Op
}

// snapDeletion reads everything that is deleted with a batch: its nodes, the
// nodes and entries of its jobs, and its UUID. If a worker holds one of the jobs,
// the error is [ErrLocked].
func (q *Queue) snapDeletion(ctx context.Context, s *batchSnap) (err error) {
	b, err := q.Batch(ctx, s.id)
	if err == nil {
		s.batchID = b.Submission.BatchID
	} else if s.batchID = ""; !q.there(ctx, BatchPath(s.id)) {
		return err
	}
	if s.batchID != "" {
		n, ok, err := q.maybe(ctx, BatchUUIDPath(s.batchID))
		if err != nil {
			return err
		}
		s.uuid = ok && string(n.data) == s.id
	}
	all, err := q.subtree(ctx, BatchPath(s.id))
	if err != nil {
		return err
	}
	s.subtree, s.jobs, s.unfinished = nil, nil, false
	entries := map[string][]string{} // JID → its entries in the batch
	for _, path := range all {
		folder := znode.Parent(path)
		switch {
		case path == BatchPath(s.id)+"/lock":
		case znode.Parent(folder) == BatchStatesPath(s.id):
			entries[znode.Name(path)] = append(entries[znode.Name(path)], path)
			s.unfinished = s.unfinished || folder == BatchFolderPath(s.id, FolderProcessing)
		default:
			s.subtree = append(s.subtree, path)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	queued, err := q.queued(ctx)
	if err != nil {
		return err
	}
	for jid, paths := range entries {
		j := jobRemains{id: jid}
		bid, known, err := q.maybe(ctx, JobPath(jid)+"/bid")
		if err != nil {
			return err
		}
		if known && string(bid.data) != s.id {
			// The job belongs to another batch, so only its entry is removed.
			j.ops = deleteAll(paths)
			s.jobs = append(s.jobs, j)
			continue
		}
		nodes, err := q.subtree(ctx, JobPath(jid))
		if err != nil {
			return err
		}
		if slices.Contains(nodes, JobPath(jid)+"/lock") {
			return &NodeError{JobPath(jid), ErrLocked}
		}
		// The entries first: if a job moves meanwhile, the whole deletion
		// fails.
		j.ops = append(deleteAll(append(paths, queued[jid]...)), deleteAll(nodes)...)
		s.jobs = append(s.jobs, j)
	}
	slices.SortFunc(s.jobs, func(a, b jobRemains) int { return strings.Compare(a.id, b.id) })
	return nil
}

// queued lists the queue entries of all jobs.
func (q *Queue) queued(ctx context.Context) (map[string][]string, error) {
	found := map[string][]string{}
	for _, s := range q.dialect.JobStates() {
		names, err := q.children(ctx, JobStatePath(s))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if _, jid, err := ParseJobEntry(name); err == nil {
				found[jid] = append(found[jid], znode.Join(JobStatePath(s), name))
			}
		}
	}
	return found, nil
}

// deleteAhead deletes jobs of a batch that is too large for one transaction,
// some at a time, until the rest fits. Each transaction deletes whole jobs, and
// checks that the batch is still in the state that was read. If it is
// interrupted, the batch has fewer jobs and can be deleted again.
func (q *Queue) deleteAhead(ctx context.Context, t states.Transition, s *batchSnap) error {
	guard := append(lockOps(t.Who, BatchPath(s.id)), znode.Check(BatchPath(s.id)+"/status", s.version))
	for {
		ops, _, err := decideBatch(t, *s, "", q.dialect, q.now())
		if err != nil || q.fits(ops) == nil || len(s.jobs) == 0 {
			return err
		}
		some := slices.Clone(guard)
		n := 0
		for n < len(s.jobs) && q.fits(append(slices.Clone(some), s.jobs[n].ops...)) == nil {
			some = append(some, s.jobs[n].ops...)
			n++
		}
		if n == 0 {
			return q.fits(append(some, s.jobs[0].ops...))
		}
		first := JobPath(s.jobs[0].id)
		err = q.commit(ctx, write{ops: some, done: func(ctx context.Context) (bool, error) {
			_, ok, err := q.stat(ctx, first)
			return !ok, err
		}})
		if err != nil {
			return err
		}
		s.jobs = s.jobs[n:]
	}
}

// DeleteBatch deletes a failed or held batch with all its jobs (B11, B12), and
// leaves nothing of them. Errors: *[StateError], [ErrLocked] while a worker holds
// the batch or one of its jobs.
func (q *Queue) DeleteBatch(ctx context.Context, bid string) (Deletion, error) {
	s, err := q.deleteBatch(ctx, bid, states.Admin)
	if err != nil {
		return Deletion{}, &opError{"delete", BatchPath(bid), err}
	}
	var d Deletion
	if s.status.State == BatchHeld {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the depositor of batch %s will not be told of its deletion", bid))
	}
	return d, nil
}

// CleanBatch removes a batch with all its jobs if it is completed (B13), or if
// the admin tool marked it as deleted (B14). Errors as for [Queue.DeleteBatch],
// and [ErrStillProcessing] while one of its jobs is unfinished: the client
// library does not remove such a batch either.
func (q *Queue) CleanBatch(ctx context.Context, bid string) error {
	if _, err := q.deleteBatch(ctx, bid, states.Automatic); err != nil {
		return &opError{"clean up", BatchPath(bid), err}
	}
	return nil
}

func (q *Queue) deleteBatch(ctx context.Context, bid string, who states.Actor) (batchSnap, error) {
	s, _, err := q.moveBatch(ctx, bid, batchMove{target: func(s batchSnap) (BatchState, error) {
		t, ok := q.machines[EntityBatch].Automatic(string(s.status.State))
		switch {
		case ok != (who == states.Automatic):
			return "", q.refuse(EntityBatch, BatchPath(bid), string(s.status.State), states.Deleted)
		case ok:
			return BatchState(t.To), nil
		}
		return BatchDeleted, nil
	}})
	return s, err
}

// CleanupBatches is the cleaning pass over all batches: see [Queue.CleanBatch].
// It returns the ids of the batches that it removed. It leaves a batch for the
// next pass if a worker holds it or one of its jobs is unfinished. Other errors
// are joined and don't stop the pass.
func (q *Queue) CleanupBatches(ctx context.Context) ([]string, error) {
	batches, err := q.Batches(ctx)
	c := cleaning{q: q, errs: []error{err}}
	for _, b := range batches {
		if _, ok := q.machines[EntityBatch].Automatic(string(b.Status.State)); ok {
			c.add(ctx, b.ID, b.Path(), q.CleanBatch(ctx, b.ID))
		}
	}
	return c.result()
}
