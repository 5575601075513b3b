package migrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// counter allots the explicit ids of one parent's children so that ZooKeeper's
// own numbering carries on after them (04-migration, "One job, one
// transaction").
type counter struct {
	parent, prefix string
	first, next    int64
}

// burn advances a parent's counter by creating and deleting a child: a tree
// that was restored without its counters would otherwise hand out ids that
// exist.
type burn struct {
	parent string
	times  int64
}

// maxBurn bounds the time that it takes: about a minute.
const maxBurn = 1_000_000

// counter reads where a parent's numbering stands. before is how many children
// the plan itself makes there ahead of the ids.
func (p *Plan) counter(parent, prefix string, before int) *counter {
	c := &counter{parent: parent, prefix: prefix}
	n := p.ex.tree.Get(parent)
	if n == nil {
		c.first = int64(before)
		c.next = c.first
		return c
	}
	at, _ := n.Stat.NextSequence()
	c.first = int64(at) + int64(before)
	highest := int64(-1)
	for _, name := range p.ex.tree.Children(parent) {
		if seq, ok := newqueue.ParseSequenceID(prefix, name); ok {
			highest = max(highest, int64(seq))
		}
	}
	if highest >= c.first {
		p.burnTo(parent, highest+1-c.first, highest)
		c.first = highest + 1
	}
	c.next = c.first
	return c
}

func (p *Plan) burnTo(parent string, times, highest int64) {
	if times > maxBurn {
		p.problem(Problem{Kind: CounterBehind, Path: parent,
			Message: fmt.Sprintf("ZooKeeper's counter is %d behind the highest id %d: any client's next create would fail for that long", times, highest),
			Next:    "the tree was restored without its counters: restore it with mrtq restore from a dump that has Stats"})
		return
	}
	p.warn(parent, fmt.Sprintf("ZooKeeper's counter is %d behind the highest id; it is brought up", times))
	p.burns = append(p.burns, burn{parent, times})
}

func (c *counter) take() string {
	id := newqueue.SequenceID(c.prefix, int32(c.next))
	c.next++
	return id
}

// assignIDs gives ids to batches, jobs and access requests that are new, in
// their order, and fills in the entries. Rewritten jobs are created again
// ahead of the new ones, which moves the counter too.
func (p *Plan) assignIDs() {
	states := 0
	if p.ex.tree.Get(newqueue.JobStatesPath) == nil {
		states = 1 // /jobs/states is a child of /jobs
	}
	counters := map[string]*counter{
		newqueue.BatchesPath: p.counter(newqueue.BatchesPath, newqueue.BatchPrefix, 0),
		newqueue.JobsPath:    p.counter(newqueue.JobsPath, newqueue.JobPrefix, states),
	}
	for _, q := range []newqueue.AccessQueue{newqueue.AccessSmall, newqueue.AccessLarge} {
		path := newqueue.AccessQueuePath(q)
		counters[path] = p.counter(path, newqueue.AccessPrefix, 0)
	}
	for _, pl := range p.jobs {
		if pl.old != nil {
			counters[znode.Parent(pl.old.root)].next++
		}
	}
	ids := map[string]string{} // by record path
	for i := range p.jobs {
		pl := &p.jobs[i]
		if pl.old == nil {
			if isAccess(pl.rec.Queue) {
				pl.id = counters[newqueue.AccessQueuePath(accessQueue(pl.rec.Queue))].take()
			} else {
				pl.id = counters[newqueue.JobsPath].take()
			}
		}
		if b := p.batchOf(pl.job); b != nil {
			if b.bid == "" {
				b.bid = counters[newqueue.BatchesPath].take()
			}
			if pl.old != nil && pl.old.bid != b.bid {
				p.problem(Problem{Kind: BatchChanged, Path: pl.rec.Path, Message: fmt.Sprintf("its batchID changed since it became %s in batch %s", pl.id, pl.old.bid),
					Next: "roll back the run that migrated it, and migrate again"})
			}
			pl.bid = b.bid
		}
		ids[pl.rec.Path] = pl.id
	}
	for _, b := range p.batches {
		for i := range b.jobs {
			j := &b.jobs[i]
			j.bid = b.bid
			if j.id == "" {
				j.id = ids[j.rec.Path]
			}
		}
		// A later run may add what the old queue would have handed out before
		// the jobs that are there.
		slices.SortStableFunc(b.jobs, func(x, y job) int { return cmp.Compare(x.id, y.id) })
	}
	p.fillEntries(ids)
	p.forecast(counters)
}

func (p *Plan) batchOf(j job) *batch {
	if isAccess(j.rec.Queue) {
		return nil
	}
	return p.batches[keyOf(*j.rec, j.run)]
}

func (p *Plan) fillEntries(ids map[string]string) {
	bids := map[string]string{}
	for _, b := range p.batches {
		for _, j := range b.jobs {
			bids[j.rec.Path] = b.bid
		}
	}
	for i := range p.Records {
		e := &p.Records[i]
		if id := ids[e.Path]; id != "" {
			e.ID = id
		}
		e.Batch = bids[e.Path]
	}
	for _, b := range p.sortedBatches() {
		if !b.dirty {
			continue
		}
		p.Batches = append(p.Batches, BatchEntry{
			BID: b.bid, UUID: b.key.uuid(), Made: p.ex.tree.Get(newqueue.BatchPath(b.bid)) == nil,
			Jobs: len(b.jobs), State: string(b.state()),
		})
	}
}

// forecast tells how much room the sequences have, and refuses what has none.
func (p *Plan) forecast(counters map[string]*counter) {
	for _, parent := range []string{newqueue.BatchesPath, newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		c := counters[parent]
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
