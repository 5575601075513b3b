package migrate

import (
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// undoneGroup is a batch and the run's jobs that name it. batch is nil if these jobs name
// none, or if it is not there.
type undoneGroup struct {
	jobs  []undoneJob
	batch *undoneBatch
}

// groups yields what the run made, newest batch first. So an interrupted rollback leaves
// the first batches, as an interrupted migration does. What is in no batch comes last.
func (u *Undo) groups() iter.Seq[undoneGroup] {
	n := u.target.names
	return func(yield func(undoneGroup) bool) {
		jobs, batches := u.jobs, u.batches
		for len(jobs) > 0 || len(batches) > 0 {
			var g undoneGroup
			if len(batches) > 0 && (len(jobs) == 0 || n.compare(batches[0].bid, jobs[0].bid) >= 0) {
				g.batch, batches = &batches[0], batches[1:]
			}
			end := 0
			for end < len(jobs) && (g.batch == nil && jobs[end].bid == jobs[0].bid || g.batch != nil && jobs[end].bid == g.batch.bid) {
				end++
			}
			g.jobs, jobs = jobs[:end], jobs[end:]
			if !yield(g) {
				return
			}
		}
	}
}

// decide counts what is removed and lists what is kept.
func (u *Undo) decide() {
	for g := range u.groups() {
		if g.batch != nil && g.batch.own {
			if g.batch.stays {
				u.keep(newqueue.BatchPath(u.target.names.text(g.batch.bid)), keptBatch(g.batch.why, len(g.jobs)))
				for _, j := range g.jobs {
					u.noteRunsTwice(j, g.batch.why)
				}
				continue
			}
			u.Done.Batches++
		}
		for _, j := range g.jobs {
			if j.stays {
				u.keep(u.target.names.text(j.root), u.stay[j.root])
				u.noteRunsTwice(j, "")
				continue
			}
			u.Done.add(j.done())
		}
		if g.batch != nil && g.batch.rewrote {
			u.keep(newqueue.BatchPath(u.target.names.text(g.batch.bid)), "an earlier run made it and this one added to it; its status and submission stay as this run wrote them, until a migration derives them again")
		}
	}
}

func (j undoneJob) done() Done {
	if j.bid == (ref{}) {
		return Done{Access: 1}
	}
	return Done{Jobs: 1}
}

// units yields the operations to send. A batch is removed after its last job.
func (u *Undo) units() iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for g := range u.groups() {
			if g.batch != nil && g.batch.own && g.batch.stays {
				continue
			}
			for t := range u.groupUnits(g) {
				if !yield(t) {
					return
				}
			}
		}
	}
}

func (u *Undo) groupUnits(g undoneGroup) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		// The folder batch-processing is removed together with the last job in it. If
		// it were there and empty, a service would take the batch for done.
		own := g.batch != nil && g.batch.own
		processing, left := znode.Op{}, int32(-1)
		if own {
			bid := u.target.names.text(g.batch.bid)
			left = u.target.batch(g.batch.bid).entries[slices.Index(newqueue.BatchFolders, newqueue.FolderProcessing)]
			processing = u.deleteOf(g.batch, newqueue.BatchFolderPath(bid, newqueue.FolderProcessing))
		}
		closed := false
		for _, j := range g.jobs {
			if j.stays {
				continue
			}
			ops := u.removal(j)
			if left > 0 && u.hasEntry(j, newqueue.FolderProcessing) {
				if left--; left == 0 {
					ops, closed = append(ops, processing), true
				}
			}
			back := u.target.custody.entries.at(int(j.entry)).ledgerEntry
			back.op = opRolledBack
			if !yield(unit{ops: ops, done: j.done(), count: 1, ledger: []ledgerEntry{back}}) {
				return
			}
		}
		switch {
		case own:
			ops := u.batchRemoval(g.batch)
			if closed {
				ops = slices.DeleteFunc(ops, func(o znode.Op) bool { return o.Path == processing.Path })
			}
			yield(unit{ops: ops, done: Done{Batches: 1}, count: 1})
		case g.batch != nil:
			for i, empty := range g.batch.empty {
				path := newqueue.BatchFolderPath(u.target.names.text(g.batch.bid), newqueue.BatchFolders[i])
				if empty && !yield(unit{ops: []znode.Op{znode.Delete(path, 0)}}) {
					return
				}
			}
		}
	}
}

// hasEntry reports whether a job has an entry in a folder of its batch.
func (u *Undo) hasEntry(j undoneJob, f newqueue.BatchFolder) bool {
	in := int8(slices.Index(newqueue.BatchFolders, f)) + 1
	return slices.ContainsFunc(u.target.inBatch.of(znode.Name(u.target.names.text(j.root))), func(e entryRow) bool { return e.at == j.bid && e.in == in })
}

// removal returns the operations that remove a job or request, children before parents.
// They fail if another client changed it since it was read.
func (u *Undo) removal(j undoneJob) []znode.Op {
	if ops, forced := u.forced[j.root]; forced {
		return ops
	}
	root := u.target.names.text(j.root)
	paths := j.nodes.paths(root, jobNodeNames)
	if jid := znode.Name(root); j.bid != (ref{}) {
		for _, e := range u.target.inBatch.of(jid) {
			if e.at == j.bid {
				paths = append(paths, u.target.inBatch.path(e))
			}
		}
		paths = append(paths, u.target.queued.paths(jid)...)
	}
	return deletes(paths)
}

// batchRemoval returns the operations that remove a batch after its jobs.
func (u *Undo) batchRemoval(b *undoneBatch) []znode.Op {
	ops := slices.Clone(b.ops)
	if ops == nil {
		ops = deletes(b.nodes.paths(newqueue.BatchPath(u.target.names.text(b.bid)), batchNodeNames))
	}
	n := u.target.names
	at, _ := slices.BinarySearchFunc(u.uuids, b.bid, func(x namedBatch, bid ref) int { return n.compare(x.bid, bid) })
	for _, x := range u.uuids[at:] {
		if x.bid != b.bid {
			break
		}
		ops = append(ops, znode.Delete(x.path, x.version))
	}
	return ops
}

// deleteOf returns the operation that removes one znode of a batch.
func (u *Undo) deleteOf(b *undoneBatch, path string) znode.Op {
	for _, op := range b.ops {
		if op.Path == path {
			return op
		}
	}
	return znode.Delete(path, 0)
}

// deletes returns the operations that remove znodes at version 0, children before
// parents.
func deletes(paths []string) []znode.Op {
	slices.Sort(paths)
	slices.Reverse(paths)
	ops := make([]znode.Op, len(paths))
	for i, path := range paths {
		ops[i] = znode.Delete(path, 0)
	}
	return ops
}
