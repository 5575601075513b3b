package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// unit is what must be in one transaction: a job with its entries and, before these, what
// its batch needs first. Units are carried out in order.
type unit struct {
	ops    []znode.Op
	done   Done
	count  int           // of jobs and requests, for progress
	ledger []ledgerEntry // what it adds to the ledger
	steps  []step        // see [unitMaker]
	last   bool          // it is the last transaction of a run or of its rollback
}

// planStructure lists the layout's znodes that are missing, holds included.
func (p *Plan) planStructure() {
	if p.Empty() {
		return
	}
	need := append([]string{}, p.Dialect.StartNodes()...)
	states := map[string]bool{}
	queues := map[string]bool{}
	for pl := range p.plannedJobs() {
		switch initial := p.initialStates[pl.initial]; {
		case initial.access != "":
			queues[parentOfNew(p.kindOf(pl))] = true
		case initial.job != newqueue.JobDeleted || p.Dialect.KeepsDeleted():
			states[newqueue.JobStatePath(initial.job)] = true
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
		if p.plannedCount() == 0 {
			break // nothing that a worker could start on too early
		}
		if path := newqueue.QueueHoldPath(h); p.ex.tree.Get(path) == nil {
			p.holds = append(p.holds, path)
		}
	}
	p.Structure = append(p.Structure, p.holds...)
	for _, path := range p.HoldsAgain() {
		p.warn(path, "the queue was released after the last run; this run would hold it again, and its workers would stop")
	}
}

// structure is the run's first unit. It sets the holds before anything else, so that no
// worker starts on half a queue (docs/promises.md, "migrate holds the queues first").
func (p *Plan) structure() unit {
	var nodes []leaf
	for _, path := range p.Structure {
		nodes = append(nodes, leaf{path, none})
	}
	return unit{ops: creates(nodes, p.opt.ACL)}
}

// advanceUnit advances a parent's counter by one.
func advanceUnit(parent string) unit {
	path := znode.Join(parent, "mrtq-counter")
	return unit{ops: []znode.Op{znode.Create(path, none), znode.Delete(path, 0)}}
}

// contents are the batch's contents, with the present ids of its jobs.
func (p *Plan) contents(b *batch) []leaf {
	p.nameJobs(b)
	defer b.clearNames()
	return b.contents(p.Dialect)
}

// nameJobs gives the batch the present ids of the jobs that its report names. The batch does
// not keep them, because they can move.
func (p *Plan) nameJobs(b *batch) {
	for _, list := range []struct {
		of []member
		to *[]string
	}{{b.failed, &b.tally.failed}, {b.completed, &b.tally.successful}} {
		for _, m := range list.of {
			*list.to = append(*list.to, p.idOfMember(m))
		}
	}
}

func (b *batch) clearNames() { b.tally.failed, b.tally.successful = nil, nil }

// batchOps are the operations that create a batch, or bring a migrated one up to date.
func (p *Plan) batchOps(b *batch) ([]znode.Op, Done) {
	there := p.target.batchAt(b.bid)
	contents := p.contents(b)
	b.wrote = contents
	if there == nil {
		p.nameJobs(b)
		defer b.clearNames()
		nodes := b.nodes(p.Dialect)
		return creates(nodes[:len(nodes)-1], p.opt.ACL), Done{Batches: 1}
	}
	var ops []znode.Op
	reports := false
	for _, n := range contents {
		name := znode.Name(n.path)
		reports = reports || name == statusReport
		switch {
		case !there.has(name):
			ops = append(ops, creates([]leaf{n}, p.opt.ACL)...)
		case !p.target.hasData(there, name, n.data):
			ops = append(ops, recreate(n, p.opt.ACL)...)
		}
	}
	if !reports && there.has(statusReport) {
		ops = append(ops, znode.Delete(newqueue.BatchPath(b.bid)+"/"+statusReport, 0))
	}
	for _, f := range b.folders() {
		if path := newqueue.BatchFolderPath(b.bid, f); f != newqueue.FolderProcessing && !there.has("states/"+string(f)) {
			ops = append(ops, creates([]leaf{{path, none}}, p.opt.ACL)...)
		}
	}
	return ops, Done{}
}

// checkBatches refuses to change a batch that another client has worked on.
func (p *Plan) checkBatches() {
	for _, b := range p.sortedBatches() {
		there := p.target.batchAt(b.bid)
		if !b.dirty || there == nil {
			continue
		}
		for i, name := range batchWorked {
			if there.changed[i] {
				p.problem(Problem{Kind: BatchTouched, Path: newqueue.BatchPath(b.bid) + "/" + name, Message: fmt.Sprintf("the plan adds jobs to batch %s, but another client has worked on it since it was migrated", b.key.uuid()),
					Next: "wait until its lock is free, or add the jobs by hand"})
			}
		}
	}
}

// checkSizes finds the units that a server would refuse because they don't fit a packet,
// before anything is sent.
func (p *Plan) checkSizes(ctx context.Context) error {
	p.checkBatches()
	if p.Blocked() {
		return nil // ids may be missing
	}
	limit := p.opt.packet() - packetSlack - p.recordSize()
	// A unit is at most a few times as large as its record, plus what its batch needs
	// first. Only the records of units that may be too large are read.
	var large []*plannedJob
	var before []*progress // how far the batches of these were
	started := make([]progress, len(p.batchList))
	for pl := range p.plannedJobs() {
		most := int(pl.size)*escapeGrowth + smallUnit
		var so *progress
		if b := p.batchOf(pl); b != nil {
			pr := &started[b.index-1]
			if pr.units > 0 {
				so = new(*pr)
			} else {
				pr.open = p.isOpen(b)
				ops, _ := p.batchOps(b)
				b.wrote = nil
				most += znode.MultiSize(ops, maxChroot)
			}
			pr.countUnit(b, p.initialStates[pl.initial])
		}
		if most >= limit {
			large, before = append(large, pl), append(before, so)
		}
	}
	at := 0
	for j, err := range p.loaded(ctx, slices.Values(large)) {
		if err != nil {
			return err
		}
		m := p.unitMaker()
		if before[at] != nil {
			m.started[p.batchOf(j.plannedJob)] = before[at]
		}
		at++
		if size := znode.MultiSize(m.unit(j).ops, maxChroot); size > limit {
			p.problem(Problem{Kind: TooLarge, Path: j.rec.Path, Message: fmt.Sprintf("its job takes %d bytes in one transaction, the server's limit leaves %d", size, limit),
				Next: "raise jute.maxbuffer on the servers, and plan with the same number"})
		}
	}
	return nil
}

// recordSize is a bound for the run's record, which is in each transaction. It counts what the
// record says of the run, and the longest tail of the ledger.
func (p *Plan) recordSize() int {
	run := p.unfinished
	if !p.Resumes {
		run = Run{ID: p.Run, Plan: strings.Repeat("0", 2*sha256.Size), Source: strings.Repeat("0", max(len(p.opt.Source), maxNamesBytes)), Policies: p.Policies, Holds: p.holds, ACL: p.opt.ACL}
	}
	run.Made = slices.Concat(run.Made, p.Structure)
	stems := map[int]int{} // how many different stems have a length
	seen := map[string]bool{}
	for pl := range p.plannedJobs() {
		stem, _, _ := numbered(p.listed.path(pl.record))
		if !seen[stem] {
			seen[stem] = true
			stems[len(stem)]++
		}
	}
	tail, kinds := tailEntries*maxEntryBytes, 0
	for _, length := range slices.Backward(slices.Sorted(maps.Keys(stems))) {
		n := min(stems[length], tailEntries-kinds)
		tail, kinds = tail+n*(length+maxKindBytes), kinds+n
	}
	return len(run.encode()) + base64.StdEncoding.EncodedLen(tail) + maxQueueBytes*len(QueueKinds)
}

// Bounds in bytes for [Plan.recordSize]: maxEntryBytes is an entry of the ledger without its
// kind (an index, three differences and a hash), maxKindBytes a kind without the record's
// path, maxQueueBytes a queue in [Ledger.Highest] and the counts, and maxNamesBytes the names of
// most sources and migrators.
const (
	maxEntryBytes = 2 + 3*5 + 4
	maxKindBytes  = 32
	maxQueueBytes = 256
	maxNamesBytes = 512
)

// Bounds for [Plan.checkSizes]. JSON writes a byte as at most six, and a text may be in a job
// three times. smallUnit covers the rest of a unit.
const (
	escapeGrowth = 6 * 3
	smallUnit    = 8 << 10
	maxChroot    = 256
)
