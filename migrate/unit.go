package migrate

import (
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// unit is what must be done together: a job with its entries, and ahead of it
// whatever its batch needs first. Units are carried out in order.
type unit struct {
	ops    []znode.Op
	done   Done
	count  int           // of jobs and the like, for progress
	ledger []ledgerEntry // what the custody ledger says of it
	steps  []step        // see [making]
	ends   bool          // the last transaction of a run or of its rollback
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

// burnUnit moves a parent's counter by one.
func burnUnit(parent string) unit {
	path := znode.Join(parent, "mrtq-counter")
	return unit{ops: []znode.Op{znode.Create(path, none), znode.Delete(path, 0)}}
}

// batchOps make a batch, or bring one that was migrated before up to date.
func (p *Plan) batchOps(b *batch) ([]znode.Op, Done) {
	tree := p.ex.tree
	contents := b.contents(p.Dialect)
	b.wrote = contents
	if tree.Get(newqueue.BatchPath(b.bid)) == nil {
		nodes := b.nodes(p.Dialect)
		return creates(nodes[:len(nodes)-1], p.opt.ACL), Done{Batches: 1}
	}
	var ops []znode.Op
	wanted := map[string]bool{}
	for _, n := range contents {
		wanted[n.path] = true
		old := tree.Get(n.path)
		if old == nil {
			ops = append(ops, creates([]leaf{n}, p.opt.ACL)...)
		} else {
			ops = append(ops, rewrites(leaf{n.path, old.Data}, n, p.opt.ACL)...)
		}
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
			if n := p.ex.tree.Get(path); n != nil && (n.Stat.Version != 0 || n.Stat.NumChildren != 0 || name == "lock") {
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
	m := p.making()
	for _, pl := range p.jobs {
		b := p.batchOf(pl.job)
		// What a unit holds is at most a few times its record, unless it
		// brings a batch's report.
		if first := b != nil && m.started[b] == nil; !first && len(pl.rec.Data)*escapeGrowth+smallUnit < limit {
			continue
		}
		if size := znode.MultiSize(m.unit(pl).ops, maxChroot); size > limit {
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
