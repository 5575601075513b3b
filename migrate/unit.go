package migrate

import (
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// unit is what must be done together: a job with its entries, and ahead of it
// whatever its batch needs first. Units are carried out in order.
type unit struct {
	ops   []znode.Op
	done  Done
	count int // of jobs and the like, for progress
}

// planStructure lists the layout's znodes that are missing, holds included.
func (p *Plan) planStructure() {
	if p.Empty() {
		return
	}
	need := append([]string{}, p.Dialect.StartNodes()...)
	states := map[string]bool{}
	queues := map[string]bool{}
	for _, pl := range p.jobs {
		switch {
		case isAccess(pl.rec.Queue):
			queues[newqueue.AccessQueuePath(accessQueue(pl.rec.Queue))] = true
		case pl.land.job != newqueue.JobDeleted || p.Dialect.KeepsDeleted():
			states[newqueue.JobStatePath(pl.land.job)] = true
		}
	}
	for _, s := range p.Dialect.JobStates() {
		if path := newqueue.JobStatePath(s); states[path] && p.Dialect != newqueue.MrtZK {
			need = append(need, path)
		}
	}
	if len(queues) > 0 {
		need = append(need, newqueue.AccessPath)
	}
	for _, q := range []newqueue.AccessQueue{newqueue.AccessSmall, newqueue.AccessLarge} {
		if path := newqueue.AccessQueuePath(q); queues[path] {
			need = append(need, path)
		}
	}
	need = append(need, newqueue.LocksPath, newqueue.QueueLocksPath)
	for i, path := range need {
		if p.ex.tree.Get(path) == nil && !slices.Contains(need[:i], path) {
			p.Structure = append(p.Structure, path)
		}
	}
	for _, h := range newqueue.QueueHolds {
		if path := newqueue.QueueHoldPath(h); p.ex.tree.Get(path) == nil {
			p.holds = append(p.holds, path)
		}
	}
	p.Structure = append(p.Structure, p.holds...)
}

// structure is the run's first unit: the holds before anything else, so that
// no worker starts on half a queue (04-migration, "Safety").
func (p *Plan) structure() unit {
	var nodes []leaf
	for _, path := range p.Structure {
		nodes = append(nodes, leaf{path, none})
	}
	return unit{ops: creates(nodes, p.opt.ACL)}
}

// units yields everything that the plan makes, in order: counters brought up,
// then jobs to be rewritten (whose creation moves the counter too), then new
// ones by ascending id.
func (p *Plan) units() iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for _, b := range p.burns {
			for i := int64(0); i < b.times; i++ {
				if !yield(burnUnit(b.parent)) {
					return
				}
			}
		}
		started := map[*batch]*progress{}
		for _, rewrites := range []bool{true, false} {
			for _, pl := range p.jobs {
				if (pl.old != nil) == rewrites && !yield(p.unit(pl, started)) {
					return
				}
			}
		}
	}
}

// burnUnit moves a parent's counter by one.
func burnUnit(parent string) unit {
	path := znode.Join(parent, "mrtq-counter")
	return unit{ops: []znode.Op{znode.Create(path, none), znode.Delete(path, 0)}}
}

// progress is how far the units of a batch have come.
type progress struct {
	units int  // yielded
	open  bool // batch-processing is there
}

func (p *Plan) unit(pl planned, started map[*batch]*progress) unit {
	u := unit{count: 1}
	b := p.batchOf(pl.job)
	if b != nil && started[b] == nil {
		started[b] = &progress{open: p.ex.tree.Get(b.processing().path) != nil}
		u.ops, u.done = p.batchOps(b)
	}
	if b != nil {
		// A batch whose batch-processing is there and empty is taken for done,
		// by the client library and by a watch. So that a half-made one never
		// is, the folder comes with the first job that stands in it, or, if
		// none does, with the last job.
		pr := started[b]
		pr.units++
		if !pr.open && (pl.land.job.Folder() == newqueue.FolderProcessing || pr.units == b.planned) {
			pr.open = true
			u.ops = append(u.ops, creates([]leaf{b.processing()}, p.opt.ACL)...)
		}
	}
	if pl.old != nil {
		u.ops = append(u.ops, p.ex.removal(*pl.old)...)
		u.done.Rewritten++
	} else if isAccess(pl.rec.Queue) {
		u.done.Access++
	} else {
		u.done.Jobs++
	}
	u.ops = append(u.ops, creates(pl.nodes(p.Dialect), p.opt.ACL)...)
	return u
}

// batchOps make a batch, or bring one that was migrated before up to date.
func (p *Plan) batchOps(b *batch) ([]znode.Op, Done) {
	tree := p.ex.tree
	if tree.Get(newqueue.BatchPath(b.bid)) == nil {
		nodes := b.nodes(p.Dialect)
		return creates(nodes[:len(nodes)-1], p.opt.ACL), Done{Batches: 1}
	}
	var ops []znode.Op
	wanted := map[string]bool{}
	for _, n := range b.contents(p.Dialect) {
		wanted[n.path] = true
		old := tree.Get(n.path)
		if old != nil && znode.SameData(old.Data, n.data) {
			continue
		}
		if old != nil {
			ops = append(ops, znode.Delete(n.path, 0))
		}
		ops = append(ops, creates([]leaf{n}, p.opt.ACL)...)
	}
	if report := newqueue.BatchPath(b.bid) + "/status-report"; !wanted[report] && tree.Get(report) != nil {
		ops = append(ops, znode.Delete(report, 0))
	}
	for _, f := range b.folders() {
		if path := newqueue.BatchFolderPath(b.bid, f); f != newqueue.FolderProcessing && tree.Get(path) == nil {
			ops = append(ops, creates([]leaf{{path, none}}, p.opt.ACL)...)
		}
	}
	return ops, Done{}
}

// checkBatches refuses to change a batch that somebody has worked on.
func (p *Plan) checkBatches() {
	for _, b := range p.sortedBatches() {
		if !b.dirty || p.ex.tree.Get(newqueue.BatchPath(b.bid)) == nil {
			continue
		}
		for _, name := range []string{"submission", "status", "status-report", "lock"} {
			path := newqueue.BatchPath(b.bid) + "/" + name
			if n := p.ex.tree.Get(path); n != nil && (n.Stat.Version != 0 || name == "lock") {
				p.problem(Problem{Kind: BatchTouched, Path: path, Message: fmt.Sprintf("batch %s is to get jobs, and somebody has worked on it since it was migrated", b.key.uuid()),
					Next: "wait until its lock is free, or add the jobs by hand"})
			}
		}
	}
}

// checkSizes refuses what the server would: a unit that doesn't fit a packet
// is named here, before anything is sent.
func (p *Plan) checkSizes() {
	p.checkBatches()
	if p.Blocked() {
		return // ids may be missing
	}
	limit := p.opt.packet() - packetSlack
	started := map[*batch]*progress{}
	for _, pl := range p.jobs {
		b := p.batchOf(pl.job)
		// What a unit holds is at most a few times its record, unless it
		// brings a batch's report.
		if first := b != nil && started[b] == nil; !first && len(pl.rec.Data)*escapeGrowth+smallUnit < limit {
			continue
		}
		if size := znode.MultiSize(p.unit(pl, started).ops, maxChroot); size > limit {
			p.problem(Problem{Kind: TooLarge, Path: pl.rec.Path, Message: fmt.Sprintf("its job takes %d bytes in one transaction, the server's limit leaves %d", size, limit),
				Next: "raise jute.maxbuffer on the servers and give the same number with --packet"})
		}
	}
}

// Bounds for [Plan.checkSizes]: JSON writes a byte as six at most and a text
// may stand three times in a job; smallUnit covers the rest of one.
const (
	escapeGrowth = 6 * 3
	smallUnit    = 8 << 10
	maxChroot    = 256
)
