package migrate

import (
	"context"
	"fmt"
	"math"

	"mrtq/newqueue"
)

// counter gives explicit ids to one parent's children, so that ZooKeeper's own numbering
// continues after them (docs/migration.md, "One job, one transaction").
type counter struct {
	parent, prefix string
	first, next    int64
	// While a plan is carried out, another client's new child can take a number that was
	// meant for one of ours. Then the numbers that are not used yet move up by shift.
	used  int64 // all numbers below this are used
	shift int64
}

// id is the name for a number that is not used yet.
func (c *counter) id(number int64) string {
	return newqueue.SequenceID(c.prefix, int32(number+c.shift))
}

// counters has the counters of a plan, by parent.
type counters map[string]*counter

// assign gives a new job its present id, unless it is already created.
func (p *Plan) assign(pl *plannedJob) {
	if c := p.counters[p.parentOf(pl)]; !pl.rewrite() && pl.number >= c.used {
		pl.id = int32(pl.number + c.shift)
	}
}

// catchUp reads the parents' counters, and moves the numbers that are not used yet there.
// ahead is how many other children of a parent are created before these.
func (n counters) catchUp(ctx context.Context, t *Target, ahead map[string]int64) error {
	if err := t.Sync(ctx); err != nil {
		return err
	}
	for parent, c := range n {
		if c.used >= c.next {
			continue
		}
		stat, there, err := t.Exists(ctx, parent)
		if err != nil {
			return err
		}
		if there {
			next, _ := stat.NextSequence()
			c.shift = int64(next) + ahead[parent] - c.used
		}
	}
	return nil
}

// counterAdvance advances a parent's counter, by creating and deleting a child. Without it, a tree
// that was restored without its counters would give out ids that already exist.
type counterAdvance struct {
	parent string
	by     int64
}

// maxAdvance limits how far a counter is advanced. It takes about a minute.
const maxAdvance = 1_000_000

// counter reads the next number of a parent. before is how many other children the plan
// creates there first.
func (p *Plan) counter(parent, prefix string, before int) *counter {
	c := &counter{parent: parent, prefix: prefix}
	n := p.ex.tree.Get(parent)
	if n == nil {
		c.first = int64(before)
		c.next, c.used = c.first, c.first
		return c
	}
	at, _ := n.Stat.NextSequence()
	c.first = int64(at) + int64(before)
	if highest, any := p.target.highest[parent]; any && highest >= c.first {
		p.advanceCounter(parent, highest+1-c.first, highest)
		c.first = highest + 1
	}
	c.next, c.used = c.first, c.first
	return c
}

// advanceCounter advances a counter by times, or says that it is too far behind.
func (p *Plan) advanceCounter(parent string, times, highest int64) {
	if times > maxAdvance {
		p.problem(Problem{Kind: CounterBehind, Path: parent,
			Message: fmt.Sprintf("ZooKeeper's counter is %d behind the highest id %d: the next %d creates of any client would fail", times, highest, times),
			Next:    "the tree was restored without its counters: restore it again from a dump that has Stats"})
		return
	}
	p.warn(parent, fmt.Sprintf("ZooKeeper's counter is %d behind the highest id; the migration advances it", times))
	p.advances = append(p.advances, counterAdvance{parent, times})
}

func (c *counter) nextNumber() int64 {
	n := c.next
	c.next++
	return n
}

// assignIDs gives ids to new batches, jobs and access requests, in their order. Rewritten
// jobs are recreated before the new ones, and that moves the counter too.
func (p *Plan) assignIDs() {
	states := 0
	if p.ex.tree.Get(newqueue.JobStatesPath) == nil {
		states = 1 // /jobs/states is a child of /jobs
	}
	p.counters = counters{
		newqueue.BatchesPath: p.counter(newqueue.BatchesPath, newqueue.BatchPrefix, 0),
		newqueue.JobsPath:    p.counter(newqueue.JobsPath, newqueue.JobPrefix, states),
	}
	for _, q := range []newqueue.AccessQueue{newqueue.AccessSmall, newqueue.AccessLarge} {
		path := newqueue.AccessQueuePath(q)
		p.counters[path] = p.counter(path, newqueue.AccessPrefix, 0)
	}
	for i := range p.rewrites {
		c := p.counters[p.parentOf(&p.rewrites[i])]
		c.next++
		c.used++
	}
	for pl := range p.plannedJobs() {
		if !pl.rewrite() {
			pl.number = p.counters[p.parentOf(pl)].nextNumber()
			p.assign(pl)
		}
		b := p.batchOf(pl)
		if b == nil {
			continue
		}
		if b.bid == "" {
			c := p.counters[newqueue.BatchesPath]
			b.isNew, b.number = true, c.nextNumber()
			b.bid = c.id(b.number)
		}
		if pl.rewrite() {
			if was := p.ex.names.text(p.ex.jobs.rows[pl.old-1].bid); was != b.bid {
				p.problem(Problem{Kind: BatchChanged, Path: p.listed.path(pl.record), Message: fmt.Sprintf("its batchID changed since it became %s in batch %s", p.idOf(pl), was),
					Next: "roll back the run that migrated it, and migrate again"})
			}
		}
	}
	p.listBatches()
	p.noteHeadroom()
}

// listBatches lists the batches that the plan creates or changes.
func (p *Plan) listBatches() {
	for _, b := range p.sortedBatches() {
		if !b.dirty {
			continue
		}
		p.Batches = append(p.Batches, BatchEntry{
			BID: b.bid, UUID: b.key.uuid(), Made: p.target.batchAt(b.bid) == nil,
			Jobs: b.count, State: string(b.state()),
		})
	}
}

// noteHeadroom says how many numbers each sequence has left. A plan that needs more gets a
// problem.
func (p *Plan) noteHeadroom() {
	for _, parent := range []string{newqueue.BatchesPath, newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		c := p.counters[parent]
		h := Headroom{Path: parent, Next: c.first, Needs: c.next - c.first, Left: math.MaxInt32 + 1 - c.next}
		if h.Needs == 0 && p.ex.tree.Get(parent) == nil {
			continue
		}
		p.Headroom = append(p.Headroom, h)
		if h.Left < 0 {
			p.problem(Problem{Kind: NoSequence, Path: parent, Message: fmt.Sprintf("it can number %d more children, the plan needs %d", math.MaxInt32+1-c.first, h.Needs),
				Next: "migrate to a fresh chroot"})
		}
	}
}
