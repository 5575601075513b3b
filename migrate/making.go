package migrate

import (
	"iter"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// making hands out what a plan makes, unit by unit and in order: counters
// brought up, records that are declared done, batches derived again, then jobs
// to be rewritten (whose creation moves the counter too), then new ones by
// ascending id.
//
// When somebody else's new job takes an id that was meant for one of ours, the
// transactions under way fail. Then [making.back] goes back to what was done,
// the numbers move up, and units are handed out again from there.
type making struct {
	p       *Plan
	steps   []step // all, in order
	at      int    // index of the next one
	done    int    // how many were done
	started map[*batch]*progress
	shifted map[*batch]bool // batches that may name ids which moved
}

// step is what one unit makes: a job, or one of the things ahead of the jobs.
type step struct {
	pl    *planned
	ahead func() unit
	moves string // the parent whose counter it moves, ahead of the jobs
	undo  func() // puts back what handing it out noted
}

// progress is how far the units of a batch have come.
type progress struct {
	units int  // handed out
	open  bool // batch-processing is there
}

func (p *Plan) making() *making {
	m := &making{p: p, started: map[*batch]*progress{}, shifted: map[*batch]bool{}}
	for _, b := range p.burns {
		for range b.times {
			m.steps = append(m.steps, step{moves: b.parent, ahead: func() unit { return burnUnit(b.parent) }})
		}
	}
	for _, e := range p.settled {
		m.steps = append(m.steps, step{ahead: func() unit { return unit{ledger: []ledgerEntry{e}} }})
	}
	for _, b := range p.stale {
		m.steps = append(m.steps, step{ahead: func() unit {
			ops, _ := p.batchOps(b)
			return unit{ops: ops, done: Done{Refreshed: 1}}
		}})
	}
	for _, rewrites := range []bool{true, false} {
		for i := range p.jobs {
			if (p.jobs[i].old != nil) == rewrites {
				m.steps = append(m.steps, step{pl: &p.jobs[i]})
			}
		}
	}
	return m
}

// units yields what is not handed out yet.
func (m *making) units() iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for m.at < len(m.steps) {
			s := &m.steps[m.at]
			m.at++
			var u unit
			if s.pl != nil {
				u = m.unit(*s.pl)
				s.undo = u.steps[0].undo
			} else {
				u = s.ahead()
				u.steps = []step{*s}
			}
			if !yield(u) {
				return
			}
		}
	}
}

// landed is told of a transaction that was done.
func (m *making) landed(t unit) {
	for _, s := range t.steps {
		m.done++
		if s.pl == nil || s.pl.old != nil {
			continue
		}
		m.p.numbers.of(s.pl.job).made = s.pl.number + 1
		if b := m.p.batchOf(s.pl.job); b != nil && b.isNew {
			c := m.p.numbers[newqueue.BatchesPath]
			c.made = max(c.made, b.number+1)
		}
	}
}

// back returns to what was done. It says how many children of each parent are
// still to be made ahead of the new ids: those that bring a counter up, and
// rewritten jobs.
func (m *making) back() (ahead map[string]int64) {
	ahead = map[string]int64{}
	for i := m.at - 1; i >= m.done; i-- {
		s := &m.steps[i]
		if s.undo != nil {
			s.undo()
			s.undo = nil
		}
	}
	m.at = m.done
	for _, s := range m.steps[m.done:] {
		if s.moves != "" {
			ahead[s.moves]++
		}
		if s.pl == nil {
			continue
		}
		if s.pl.old == nil {
			break // rewritten jobs come first
		}
		ahead[znode.Parent(s.pl.old.root)]++
	}
	for b := range m.started {
		m.shifted[b] = true
	}
	return ahead
}

// unit is what makes one job, and ahead of it what its batch needs first.
func (m *making) unit(pl planned) unit {
	p := m.p
	u := unit{count: 1}
	p.numbers.assign(pl.job)
	b := p.batchOf(pl.job)
	undo := func() {}
	if b != nil {
		undo = m.joined(b, &u, pl)
		pl.bid = b.bid
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
	u.ledger = []ledgerEntry{ledgerOf(*pl.job)}
	u.steps = []step{{pl: &pl, undo: undo}}
	return u
}

// joined adds to a unit what its job's batch needs, and returns what takes the
// note of it back.
func (m *making) joined(b *batch, u *unit, pl planned) (undo func()) {
	p, wrote := m.p, b.wrote
	first := m.started[b] == nil
	if first {
		m.started[b] = &progress{open: p.ex.tree.Get(b.processing().path) != nil}
		m.number(b)
		u.ops, u.done = p.batchOps(b)
	} else if m.shifted[b] {
		m.number(b)
		u.ops = m.renamed(b)
	}
	delete(m.shifted, b)
	// A batch whose batch-processing is there and empty is taken for done,
	// by the client library and by a watch. So that a half-made one never
	// is, the folder comes with the first job that stands in it, or, if
	// none does, with the last job.
	pr := m.started[b]
	pr.units++
	opens := !pr.open && (pl.land.job.Folder() == newqueue.FolderProcessing || pr.units == b.planned)
	if opens {
		pr.open = true
		u.ops = append(u.ops, creates([]leaf{b.processing()}, p.opt.ACL)...)
	}
	return func() {
		b.wrote = wrote
		pr.units--
		if opens {
			pr.open = false
		}
		if first {
			delete(m.started, b)
		}
	}
}

// number gives the batch, if it is new and not made yet, and its jobs that are
// not made yet their ids as of now.
func (m *making) number(b *batch) {
	if c := m.p.numbers[newqueue.BatchesPath]; b.isNew && b.number >= c.made {
		b.bid = c.id(b.number)
	}
	for _, j := range b.jobs {
		m.p.numbers.assign(j)
	}
}

// renamed are the operations on a batch that was made, and that names jobs whose
// ids have moved since.
func (m *making) renamed(b *batch) []znode.Op {
	var ops []znode.Op
	contents := b.contents(m.p.Dialect)
	for i, n := range contents {
		ops = append(ops, rewrites(b.wrote[i], n, m.p.opt.ACL)...)
	}
	b.wrote = contents
	return ops
}

// rewrites makes a znode again with other data, as everything here that must
// change is made again; nothing where the data is the same.
func rewrites(old, now leaf, acl []znode.ACL) []znode.Op {
	if znode.SameData(old.data, now.data) {
		return nil
	}
	return append([]znode.Op{znode.Delete(now.path, 0)}, creates([]leaf{now}, acl)...)
}
