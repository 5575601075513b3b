package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// making yields what a plan creates, unit by unit and in order: first counters
// are advanced, then records are entered as done, then batches are derived
// again. Then jobs are rewritten, which advances the counter too. New jobs come
// last, by ascending id.
//
// If somebody else's new job takes an id that one of ours was to get, the
// transactions under way fail. Then [making.back] returns to what was done, the
// numbers move up, and the units are yielded again from there.
type making struct {
	p       *Plan
	ahead   []step     // all that is not a job, in order
	jobs    []*planned // in order, after those
	at      int        // index of the next one
	done    int        // how many were done
	handed  []step     // out and not done, in order
	err     error      // why no more can be handed out
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
	done  int  // of those
	open  bool // batch-processing is there
}

// isOpen reports whether the target has the batch's batch-processing.
func (p *Plan) isOpen(b *batch) bool { return p.ex.tree.Get(b.processing().path) != nil }

// hand hands out the unit of one more job, and reports whether batch-processing
// comes with it.
//
// The client library and a watch take a batch for done if its batch-processing
// exists and is empty. A half-created batch must not look so. So the folder is
// created with the first job in it, or, if there is none, with the last job.
func (p *progress) hand(b *batch, j *job) (opens bool) {
	p.units++
	opens = !p.open && (j.land.job.Folder() == newqueue.FolderProcessing || p.units == b.planned)
	p.open = p.open || opens
	return opens
}

// landed is told of a unit that was done. After the last one, nobody asks any more
// what the batch's jobs say, and a batch is far larger than what else is kept of it.
func (p *progress) landed(b *batch) {
	if p.done++; p.done == b.planned {
		b.wrote, b.said = nil, nil
	}
}

func (p *Plan) making() *making {
	m := &making{p: p, started: map[*batch]*progress{}, shifted: map[*batch]bool{}}
	for _, b := range p.burns {
		for range b.times {
			m.ahead = append(m.ahead, step{moves: b.parent, ahead: func() unit { return burnUnit(b.parent) }})
		}
	}
	for _, e := range p.settled {
		m.ahead = append(m.ahead, step{ahead: func() unit { return unit{ledger: []ledgerEntry{e}} }})
	}
	for _, b := range p.stale {
		m.ahead = append(m.ahead, step{ahead: func() unit {
			ops, _ := p.batchOps(b)
			return unit{ops: ops, done: Done{Refreshed: 1}}
		}})
	}
	for _, rewrites := range []bool{true, false} {
		for i := range p.jobs {
			if (p.jobs[i].old != nil) == rewrites {
				m.jobs = append(m.jobs, &p.jobs[i])
			}
		}
	}
	return m
}

// units yields what is not handed out yet. It ends early where a record can't be
// read again as it was; see [making.failed].
func (m *making) units(ctx context.Context) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for m.at < len(m.ahead) {
			s := m.ahead[m.at]
			u := s.ahead()
			u.steps = []step{s}
			if !m.hand(u, yield) {
				return
			}
		}
		left := m.jobs[m.at-len(m.ahead):]
		for j, err := range m.p.loaded(ctx, left) {
			if err != nil {
				m.err = err
				return
			}
			pl := left[0]
			left = left[1:]
			if !m.hand(m.unit(*pl, j.rec), yield) {
				return
			}
		}
	}
}

// hand hands out a unit of one step.
func (m *making) hand(u unit, yield func(unit) bool) bool {
	m.at++
	m.handed = append(m.handed, u.steps...)
	return yield(u)
}

// failed is why not all was handed out.
func (m *making) failed(ctx context.Context) error {
	switch {
	case m.err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w; run the same command again to finish", ErrInterrupted)
	case errors.Is(m.err, errSourceChanged):
		return &lookAgain{m.err}
	}
	return m.err
}

// landed records a transaction that was done.
func (m *making) landed(t unit) {
	m.handed = m.handed[len(t.steps):]
	for _, s := range t.steps {
		m.done++
		if s.pl == nil {
			continue
		}
		if b := s.pl.batch; b != nil {
			m.started[b].landed(b)
		}
		if s.pl.old != nil {
			continue
		}
		m.p.numbers.of(s.pl.job).made = s.pl.number + 1
		if b := s.pl.batch; b != nil && b.isNew {
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
	for _, s := range slices.Backward(m.handed) {
		if s.undo != nil {
			s.undo()
		}
	}
	m.at, m.handed = m.done, nil
	for _, s := range m.ahead[min(m.done, len(m.ahead)):] {
		if s.moves != "" {
			ahead[s.moves]++
		}
	}
	for _, pl := range m.jobs[max(m.done-len(m.ahead), 0):] {
		if pl.old == nil {
			break // rewritten jobs come first
		}
		ahead[znode.Parent(pl.old.root)]++
	}
	for b := range m.started {
		m.shifted[b] = true
	}
	return ahead
}

// unit is what makes one job of its record, and ahead of it what its batch needs
// first.
func (m *making) unit(pl planned, rec *Record) unit {
	p := m.p
	u := unit{count: 1}
	p.numbers.assign(pl.job)
	b := pl.batch
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
	whole := *pl.job
	whole.rec = rec
	u.ops = append(u.ops, creates(whole.nodes(p.Dialect), p.opt.ACL)...)
	u.ledger = []ledgerEntry{ledgerOf(*pl.job)}
	u.steps = []step{{pl: &pl, undo: undo}}
	return u
}

// joined adds to a unit what its job's batch needs, and returns a function that
// undoes the bookkeeping.
func (m *making) joined(b *batch, u *unit, pl planned) (undo func()) {
	p, wrote := m.p, b.wrote
	first := m.started[b] == nil
	if first {
		m.started[b] = &progress{open: p.isOpen(b)}
		m.number(b)
		u.ops, u.done = p.batchOps(b)
	} else if m.shifted[b] {
		m.number(b)
		u.ops = m.renamed(b)
	}
	delete(m.shifted, b)
	pr := m.started[b]
	opens := pr.hand(b, pl.job)
	if opens {
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

// rewrites deletes a znode and creates it with other data, because the
// migration never sets a znode. If the data is the same, it does nothing.
func rewrites(old, now leaf, acl []znode.ACL) []znode.Op {
	if znode.SameData(old.data, now.data) {
		return nil
	}
	return append([]znode.Op{znode.Delete(now.path, 0)}, creates([]leaf{now}, acl)...)
}
