package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// remove are the operations that delete a batch: its nodes, its UUID, and the nodes and
// entries of its jobs. If a worker holds one of the jobs, the error is [ErrLocked]. It
// deletes jobs that don't fit into the batch's transaction.
func (b *Batch) remove(ctx context.Context, t states.Transition) ([]znode.Op, error) {
	nodes, err := b.subtree(ctx)
	if err != nil {
		return nil, err
	}
	entries := map[string][]string{} // JID → its entries in the batch
	unfinished := false
	nodes = slices.DeleteFunc(nodes, func(path string) bool {
		folder := znode.Parent(path)
		if znode.Parent(folder) != newqueue.BatchStatesPath(b.ID) {
			return path == b.path+"/lock"
		}
		entries[znode.Name(path)] = append(entries[znode.Name(path)], path)
		unfinished = unfinished || folder == newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing)
		return true
	})
	jobs, err := b.removeJobs(ctx, entries)
	if err != nil {
		return nil, err
	}
	if t.Guard == states.OnceFinished && unfinished {
		return nil, b.guardError(t.To, t.Guard)
	}
	uuid, err := b.uuidPath(ctx)
	if err != nil {
		return nil, err
	}
	if uuid != "" {
		nodes = append(nodes, uuid)
	}
	return b.removeAhead(ctx, t, jobs, deleteAll(nodes))
}

// uuidPath is the batch's entry in batch-uuids. It is "" if the batch has none, or its
// submission is damaged.
func (b *Batch) uuidPath(ctx context.Context) (string, error) {
	err := b.load(ctx, b.properties()[1:])
	if errors.As(err, new(*NodeError)) {
		return "", nil
	}
	if err != nil || b.Submission.BatchID == "" {
		return "", err
	}
	path := newqueue.BatchUUIDPath(b.Submission.BatchID)
	n, ok, err := b.q.maybe(ctx, path)
	if ok && string(n.data) == b.ID {
		return path, err
	}
	return "", err
}

func (b *Batch) removeJobs(ctx context.Context, entries map[string][]string) ([][]znode.Op, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	queued, err := b.q.queued(ctx)
	if err != nil {
		return nil, err
	}
	jids := slices.Sorted(maps.Keys(entries))
	jobs := make([][]znode.Op, len(jids))
	err = each(len(jids), func(i int) error {
		jid := jids[i]
		bid, known, err := b.q.maybe(ctx, newqueue.JobPath(jid)+"/bid")
		if err != nil {
			return err
		}
		if known && string(bid.data) != b.ID {
			// The job belongs to another batch, so only its entry is removed.
			jobs[i] = deleteAll(entries[jid])
			return nil
		}
		nodes, err := b.q.subtree(ctx, newqueue.JobPath(jid))
		if slices.Contains(nodes, newqueue.JobPath(jid)+"/lock") {
			return &NodeError{newqueue.JobPath(jid), ErrLocked}
		}
		// The entries first: if a job moves meanwhile, the whole deletion
		// fails.
		jobs[i] = append(deleteAll(append(entries[jid], queued[jid]...)), deleteAll(nodes)...)
		return err
	})
	return jobs, err
}

func (q *Queue) queued(ctx context.Context) (map[string][]string, error) {
	var folders []string
	for _, s := range q.dialect.JobStates() {
		folders = append(folders, newqueue.JobStatePath(s))
	}
	lists, err := q.folders(ctx, folders)
	found := map[string][]string{}
	for i, names := range lists {
		for _, name := range names {
			if _, jid, err := newqueue.ParseJobEntry(name); err == nil {
				found[jid] = append(found[jid], znode.Join(folders[i], name))
			}
		}
	}
	return found, err
}

// removeAhead deletes jobs of a batch that is too large for one transaction,
// some at a time, until the rest fits, and returns the operations for the rest. Each
// transaction deletes whole jobs, and checks that the batch is still in the state that
// was read. If it is interrupted, the batch has fewer jobs and can be deleted again.
func (b *Batch) removeAhead(ctx context.Context, t states.Transition, jobs [][]znode.Op, own []znode.Op) ([]znode.Op, error) {
	proof := b.lockOps(t.Who, nil)
	size := func(ops []znode.Op) int { return znode.MultiSize(ops, len(b.q.root)) }
	left, all := size(proof)+size(own), len(jobs)
	for _, ops := range jobs {
		left += size(ops)
	}
	for len(jobs) > 0 && left > MaxTransaction {
		some := slices.Clone(proof)
		for n := size(some); len(jobs) > 0 && n+size(jobs[0]) <= MaxTransaction; jobs = jobs[1:] {
			n += size(jobs[0])
			left -= size(jobs[0])
			some = append(some, jobs[0]...)
		}
		if len(some) == len(proof) {
			return nil, b.q.fits(append(some, jobs[0]...))
		}
		if err := b.q.commit(ctx, write{ops: some, happened: b.q.removed(some[len(some)-1].Path)}); err != nil {
			return nil, err
		}
		b.gone += all - len(jobs)
		all = len(jobs)
	}
	return append(slices.Concat(jobs...), own...), nil
}

// DeleteBatch deletes a failed or held batch with all its jobs (B11, B12), and
// leaves nothing of them. It returns warnings for the administrator. Errors:
// *[StateError], [ErrLocked] while a worker holds the batch or one of its jobs.
// A batch of more than a thousand jobs may take several transactions. Any error may then come after the first of them: it
// says how many jobs are deleted already.
func (q *Queue) DeleteBatch(ctx context.Context, bid string) (warnings []string, err error) {
	b := q.newBatch(bid)
	if err := b.move(ctx, act{name: "delete", to: states.Deleted, who: states.Admin}); err != nil {
		return nil, err
	}
	if b.Status.State == newqueue.BatchHeld {
		warnings = append(warnings, fmt.Sprintf("the depositor of batch %s will not be told of its deletion", bid))
	}
	return warnings, nil
}
