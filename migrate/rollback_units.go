package migrate

import (
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// undoneGroup is the run's jobs that name one batch, or none, and the batch, if it
// is there and a migration's, or has some of them.
type undoneGroup struct {
	jobs  []undoneJob
	batch *undoneBatch
}

// groups yields what the run made, newest batch first, so that what is left after
// an interruption is a beginning; at last what is in no batch.
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

// decide says what goes and what is kept.
func (u *Undo) decide() {
	for g := range u.groups() {
		if g.batch != nil && g.batch.own {
			if g.batch.stays {
				u.keep(newqueue.BatchPath(u.target.names.text(g.batch.bid)), keptBatch(g.batch.why, len(g.jobs)))
				for _, j := range g.jobs {
					u.runsTwice(j, g.batch.why)
				}
				continue
			}
			u.Done.Batches++
		}
		for _, j := range g.jobs {
			if j.stays {
				u.keep(u.target.names.text(j.root), u.stay[j.root])
				u.runsTwice(j, "")
				continue
			}
			u.Done.add(j.done())
		}
		if g.batch != nil && g.batch.rewrote {
			u.keep(newqueue.BatchPath(u.target.names.text(g.batch.bid)), "an earlier run made it and this one added to it: its status and submission stay as this run wrote them, until a migration derives them again")
		}
	}
}

func (j undoneJob) done() Done {
	if j.bid == (ref{}) {
		return Done{Access: 1}
	}
	return Done{Jobs: 1}
}

// units yields what is to be sent. A batch goes after its last job.
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
		// With the last job that stands in it goes batch-processing itself: there
		// and empty, it would mean that the batch is done.
		own := g.batch != nil && g.batch.own
		processing, left := znode.Op{}, int32(-1)
		if own {
			bid := u.target.names.text(g.batch.bid)
			left = u.target.batch(g.batch.bid).standing[slices.Index(newqueue.BatchFolders, newqueue.FolderProcessing)]
			processing = u.deleteOf(g.batch, newqueue.BatchFolderPath(bid, newqueue.FolderProcessing))
		}
		closed := false
		for _, j := range g.jobs {
			if j.stays {
				continue
			}
			ops := u.removal(j)
			if left > 0 && u.standsIn(j, newqueue.FolderProcessing) {
				if left--; left == 0 {
					ops, closed = append(ops, processing), true
				}
			}
			back := u.target.custody.held.at(int(j.held)).ledgerEntry
			back.op = tookBack
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

// standsIn reports whether a job stands in a folder of its batch.
func (u *Undo) standsIn(j undoneJob, f newqueue.BatchFolder) bool {
	in := int8(slices.Index(newqueue.BatchFolders, f)) + 1
	return slices.ContainsFunc(u.target.inBatch.of(znode.Name(u.target.names.text(j.root))), func(e entryRow) bool { return e.at == j.bid && e.in == in })
}

// removal are the operations that take a job or request away, if it is as it was
// when it was looked at: children before parents.
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

// batchRemoval are the operations that take a batch away after its jobs.
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

// deleteOf is the operation among those of a batch that removes a node.
func (u *Undo) deleteOf(b *undoneBatch, path string) znode.Op {
	for _, op := range b.ops {
		if op.Path == path {
			return op
		}
	}
	return znode.Delete(path, 0)
}

// deletes removes nodes at version 0, children before parents.
func deletes(paths []string) []znode.Op {
	slices.Sort(paths)
	slices.Reverse(paths)
	ops := make([]znode.Op, len(paths))
	for i, path := range paths {
		ops[i] = znode.Delete(path, 0)
	}
	return ops
}
