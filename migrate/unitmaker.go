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

// unitMaker yields the units of a plan in order. First it advances counters, then it enters
// records as done, then it derives batches again. Then it rewrites jobs, which advances
// the counter too. New jobs come last, by ascending id.
//
// If another client's new job takes an id that was meant for one of ours, the
// transactions under way fail. Then [unitMaker.rewind] goes back to what was done. The
// numbers move up, and unitMaker yields the units again from there.
type unitMaker struct {
	p        *Plan
	ahead    []step // the steps before the jobs, in order
	next     int    // index of the next step
	done     int    // how many steps were done
	inFlight []step // steps that were yielded and are not done, in order
	err      error  // why no more can be yielded
	started  map[*batch]*progress
	shifted  map[*batch]bool // batches whose report may name ids that have moved since
}

// step is one unit of a plan: a job, or something that comes before the jobs.
type step struct {
	pl    *plannedJob // the job, or nil
	ahead func() unit // makes the unit of a step that is not a job
	moves string      // the parent whose counter such a step moves
	undo  func()      // undoes what was noted when the step was yielded
}

// progress is how far the units of a batch have come.
type progress struct {
	units int  // how many were yielded
	done  int  // how many of those were done
	open  bool // batch-processing is there, or under way
}

// isOpen reports whether the target has the batch's batch-processing.
func (p *Plan) isOpen(b *batch) bool {
	return p.target.batchAt(b.bid).has("states/" + string(newqueue.FolderProcessing))
}

// countUnit counts the unit of one more job, and reports whether the unit also creates
// batch-processing.
//
// If a batch's folder batch-processing exists and is empty, the client library takes the
// batch for done. A half-created batch must not look like that. So the folder is created
// with the first job in it or, if no job goes into it, with the batch's last job.
func (p *progress) countUnit(b *batch, initial initialState) (opens bool) {
	p.units++
	opens = !p.open && (initial.job.Folder() == newqueue.FolderProcessing || p.units == b.planned)
	p.open = p.open || opens
	return opens
}

// countDone counts a unit that was done. After the last one, what the batch's jobs say is
// not needed any more. It is dropped, because it is large.
func (p *progress) countDone(b *batch) {
	if p.done++; p.done == b.planned {
		b.wrote, b.summary = nil, nil
	}
}

func (p *Plan) unitMaker() *unitMaker {
	m := &unitMaker{p: p, started: map[*batch]*progress{}, shifted: map[*batch]bool{}}
	for _, b := range p.advances {
		for range b.by {
			m.ahead = append(m.ahead, step{moves: b.parent, ahead: func() unit { return advanceUnit(b.parent) }})
		}
	}
	for _, e := range p.declaredDone {
		m.ahead = append(m.ahead, step{ahead: func() unit { return unit{ledger: []ledgerEntry{e}} }})
	}
	for _, b := range p.outdated {
		m.ahead = append(m.ahead, step{ahead: func() unit {
			ops, _ := p.batchOps(b)
			return unit{ops: ops, done: Done{Refreshed: 1}}
		}})
	}
	return m
}

// units yields the units that were not yielded yet. It ends early if a record has changed
// or can't be read again; see [unitMaker.failed].
func (m *unitMaker) units(ctx context.Context) iter.Seq[unit] {
	return func(yield func(unit) bool) {
		for m.next < len(m.ahead) {
			s := m.ahead[m.next]
			u := s.ahead()
			u.steps = []step{s}
			if !m.yieldUnit(u, yield) {
				return
			}
		}
		for j, err := range m.p.loaded(ctx, m.jobsFrom(m.next)) {
			if err != nil {
				m.err = err
				return
			}
			if !m.yieldUnit(m.unit(j), yield) {
				return
			}
		}
	}
}

// jobsFrom yields the jobs from a step on.
func (m *unitMaker) jobsFrom(at int) iter.Seq[*plannedJob] {
	return func(yield func(*plannedJob) bool) {
		for i := max(at-len(m.ahead), 0); i < m.p.plannedCount(); i++ {
			if !yield(m.p.plannedJob(i)) {
				return
			}
		}
	}
}

// yieldUnit yields a unit.
func (m *unitMaker) yieldUnit(u unit, yield func(unit) bool) bool {
	m.next++
	m.inFlight = append(m.inFlight, u.steps...)
	return yield(u)
}

// failed returns why [unitMaker.units] ended early, or nil if it did not.
func (m *unitMaker) failed(ctx context.Context) error {
	switch {
	case m.err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w; run it again to finish", ErrInterrupted)
	case errors.Is(m.err, ErrSourceChanged):
		return &lookAgain{m.err}
	}
	return m.err
}

// recordDone records a transaction that was done.
func (m *unitMaker) recordDone(t unit) {
	m.inFlight = m.inFlight[len(t.steps):]
	for _, s := range t.steps {
		m.done++
		if s.pl == nil {
			continue
		}
		b := m.p.batchOf(s.pl)
		if b != nil {
			m.started[b].countDone(b)
		}
		if s.pl.rewrite() {
			continue
		}
		m.p.counters[m.p.parentOf(s.pl)].used = s.pl.number + 1
		if b != nil && b.isNew {
			c := m.p.counters[newqueue.BatchesPath]
			c.used = max(c.used, b.number+1)
		}
	}
}

// rewind goes back to what was done. It returns, by parent, how many children are still to
// be created before the ones with new ids: those that advance a counter, and rewritten
// jobs.
func (m *unitMaker) rewind() (ahead map[string]int64) {
	ahead = map[string]int64{}
	for _, s := range slices.Backward(m.inFlight) {
		if s.undo != nil {
			s.undo()
		}
	}
	m.next, m.inFlight = m.done, nil
	for _, s := range m.ahead[min(m.done, len(m.ahead)):] {
		if s.moves != "" {
			ahead[s.moves]++
		}
	}
	for pl := range m.jobsFrom(m.done) {
		if !pl.rewrite() {
			break // rewritten jobs come first
		}
		ahead[m.p.parentOf(pl)]++
	}
	for b := range m.started {
		m.shifted[b] = true
	}
	return ahead
}

// unit is the unit that creates a job, after what its batch needs first.
func (m *unitMaker) unit(j loadedJob) unit {
	p := m.p
	u := unit{count: 1}
	p.assign(j.plannedJob)
	undo := func() {}
	if b := p.batchOf(j.plannedJob); b != nil {
		undo = m.addBatch(b, &u, j.plannedJob)
	}
	if j.rewrite() {
		u.ops = append(u.ops, p.target.removal(p.ex.jobs.rows[j.old-1])...)
		u.done.Rewritten++
	} else if isAccess(j.rec.Queue) {
		u.done.Access++
	} else {
		u.done.Jobs++
	}
	whole := p.jobOf(j.plannedJob, j.rec)
	u.ops = append(u.ops, creates(whole.nodes(p.Dialect), p.opt.ACL)...)
	u.ledger = []ledgerEntry{ledgerOf(*whole)}
	u.steps = []step{{pl: j.plannedJob, undo: undo}}
	return u
}

// addBatch adds to a unit what its job's batch needs, and returns a function that
// undoes the bookkeeping.
func (m *unitMaker) addBatch(b *batch, u *unit, pl *plannedJob) (undo func()) {
	p, wrote := m.p, b.wrote
	first := m.started[b] == nil
	if first {
		m.started[b] = &progress{open: p.isOpen(b)}
		m.assignIDs(b)
		u.ops, u.done = p.batchOps(b)
	} else if m.shifted[b] {
		m.assignIDs(b)
		u.ops = m.renumber(b)
	}
	delete(m.shifted, b)
	pr := m.started[b]
	opens := pr.countUnit(b, p.initialStates[pl.initial])
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

// assignIDs gives present ids to the batch and to the jobs that its report names, unless
// they are already created.
func (m *unitMaker) assignIDs(b *batch) {
	if c := m.p.counters[newqueue.BatchesPath]; b.isNew && b.number >= c.used {
		b.bid = c.id(b.number)
	}
	for _, named := range [][]member{b.failed, b.completed} {
		for _, j := range named {
			if i, made := j.created(); made {
				m.p.assign(&m.p.creates[i])
			}
		}
	}
}

// renumber are the operations that correct a batch whose report names jobs by ids that
// have moved since it was created.
func (m *unitMaker) renumber(b *batch) []znode.Op {
	var ops []znode.Op
	contents := m.p.contents(b)
	for i, n := range contents {
		ops = append(ops, recreateChanged(b.wrote[i], n, m.p.opt.ACL)...)
	}
	b.wrote = contents
	return ops
}

// recreateChanged deletes a znode and creates it with other data, because the
// migration never sets a znode. If the data is the same, it does nothing.
func recreateChanged(old, now leaf, acl []znode.ACL) []znode.Op {
	if znode.SameData(old.data, now.data) {
		return nil
	}
	return recreate(now, acl)
}

// recreate deletes a znode and creates it with other data.
func recreate(now leaf, acl []znode.ACL) []znode.Op {
	return append([]znode.Op{znode.Delete(now.path, 0)}, creates([]leaf{now}, acl)...)
}
