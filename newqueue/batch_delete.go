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

// prepareDeletion reads everything that is deleted with a batch: the nodes and
// entries of its jobs, and its UUID. If a worker holds one of the jobs, the error
// is [ErrLocked]. It deletes the jobs that don't fit into the batch's transaction.
func (s *batchSnap) prepareDeletion(ctx context.Context, t states.Transition) error {
	if err := s.readUUID(ctx); err != nil {
		return err
	}
	entries := map[string][]string{} // JID → its entries in the batch
	unfinished := false
	s.subtree = slices.DeleteFunc(s.subtree, func(path string) bool {
		folder, jid := znode.Parent(path), znode.Name(path)
		if znode.Parent(folder) != BatchStatesPath(s.batch.ID) {
			return false
		}
		entries[jid] = append(entries[jid], path)
		unfinished = unfinished || folder == BatchFolderPath(s.batch.ID, FolderProcessing)
		return true
	})
	if s.jobs = nil; len(entries) > 0 {
		if err := s.readJobs(ctx, entries); err != nil {
			return err
		}
	}
	if t.Guard == states.OnceFinished && unfinished {
		return ErrStillProcessing
	}
	return s.deleteAhead(ctx, t)
}

// readUUID finds the batch's entry in batch-uuids. A batch whose submission can't be
// read has none.
func (s *batchSnap) readUUID(ctx context.Context) error {
	s.uuid = ""
	b, err := s.q.Batch(ctx, s.batch.ID)
	if err != nil && !s.q.there(ctx, s.path) {
		return err
	}
	if err != nil || b.Submission.BatchID == "" {
		return nil
	}
	path := BatchUUIDPath(b.Submission.BatchID)
	n, ok, err := s.q.maybe(ctx, path)
	if ok && string(n.data) == s.batch.ID {
		s.uuid = path
	}
	return err
}

// readJobs reads what is deleted with each job of a batch.
func (s *batchSnap) readJobs(ctx context.Context, entries map[string][]string) error {
	queued, err := s.q.queued(ctx)
	if err != nil {
		return err
	}
	for jid, paths := range entries {
		bid, known, err := s.q.maybe(ctx, JobPath(jid)+"/bid")
		if err != nil {
			return err
		}
		if known && string(bid.data) != s.batch.ID {
			// The job belongs to another batch, so only its entry is removed.
			s.jobs = append(s.jobs, jobRemains{jid, deleteAll(paths)})
			continue
		}
		nodes, err := s.q.subtree(ctx, JobPath(jid))
		if err != nil {
			return err
		}
		if slices.Contains(nodes, JobPath(jid)+"/lock") {
			return &NodeError{JobPath(jid), ErrLocked}
		}
		// The entries first: if a job moves meanwhile, the whole deletion
		// fails.
		s.jobs = append(s.jobs, jobRemains{jid, append(deleteAll(append(paths, queued[jid]...)), deleteAll(nodes)...)})
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

// deletion are the operations that remove the batch and its jobs.
func (s *batchSnap) deletion() (ops []znode.Op) {
	for _, j := range s.jobs {
		ops = append(ops, j.ops...)
	}
	if s.uuid != "" {
		ops = append(ops, znode.Delete(s.uuid, -1))
	}
	return append(ops, deleteAll(s.subtree)...)
}

// deleteAhead deletes jobs of a batch that is too large for one transaction,
// some at a time, until the rest fits. Each transaction deletes whole jobs, and
// checks that the batch is still in the state that was read. If it is
// interrupted, the batch has fewer jobs and can be deleted again.
func (s *batchSnap) deleteAhead(ctx context.Context, t states.Transition) error {
	guard, err := s.ops(t, nil)
	if err != nil {
		return err
	}
	for len(s.jobs) > 0 && s.q.fits(slices.Concat(guard, s.deletion())) != nil {
		some := slices.Clone(guard)
		n := 0
		for n < len(s.jobs) && s.q.fits(slices.Concat(some, s.jobs[n].ops)) == nil {
			some = append(some, s.jobs[n].ops...)
			n++
		}
		if n == 0 {
			return s.q.fits(slices.Concat(some, s.jobs[0].ops))
		}
		if err := s.q.commit(ctx, write{ops: some, done: s.q.removed(JobPath(s.jobs[0].id))}); err != nil {
			return err
		}
		s.jobs = s.jobs[n:]
	}
	return nil
}

// DeleteBatch deletes a failed or held batch with all its jobs (B11, B12), and
// leaves nothing of them. It returns warnings for the administrator. Errors:
// *[StateError], [ErrLocked] while a worker holds the batch or one of its jobs.
func (q *Queue) DeleteBatch(ctx context.Context, bid string) (warnings []string, err error) {
	s := q.snapBatch(bid)
	if err := q.move(ctx, "delete", s, want{to: states.Deleted, who: states.Admin}); err != nil {
		return nil, err
	}
	if s.from == states.Held {
		warnings = append(warnings, fmt.Sprintf("the depositor of batch %s will not be told of its deletion", bid))
	}
	return warnings, nil
}
