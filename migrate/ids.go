package migrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// counter allots the explicit ids of one parent's children so that ZooKeeper's
// own numbering carries on after them (docs/migration.md, "One job, one
// transaction").
type counter struct {
	parent, prefix string
	first, next    int64
	// While a plan is carried out, somebody else's new child can take a number
	// that was meant for ours: those that are not made yet move up by shift.
	made  int64 // numbers below are made
	shift int64
}

// id is the name for a number that is not made yet.
func (c *counter) id(number int64) string {
	return newqueue.SequenceID(c.prefix, int32(number+c.shift))
}

// numbering is the counters of a plan, by parent.
type numbering map[string]*counter

// of is the counter that a job's id comes from.
func (n numbering) of(j *job) *counter {
	if isAccess(j.rec.Queue) {
		return n[newqueue.AccessQueuePath(accessQueue(j.rec.Queue))]
	}
	return n[newqueue.JobsPath]
}

// assign gives a new job that is not made yet its id as of now.
func (n numbering) assign(j *job) {
	if c := n.of(j); j.isNew && j.number >= c.made {
		j.id = c.id(j.number)
	}
}

// catchUp reads where the parents' counters are, and moves the numbers that are
// not made yet there. ahead is how many children of a parent are made before them.
func (n numbering) catchUp(ctx context.Context, t *Target, ahead map[string]int64) error {
	if err := t.Sync(ctx); err != nil {
		return err
	}
	for parent, c := range n {
		if c.made >= c.next {
			continue
		}
		stat, there, err := t.Exists(ctx, parent)
		if err != nil {
			return err
		}
		if there {
			next, _ := stat.NextSequence()
			c.shift = int64(next) + ahead[parent] - c.made
		}
	}
	return nil
}

// burn advances a parent's counter by creating and deleting a child. Without
// this, a tree that was restored without its counters would give out ids that
// exist.
type burn struct {
	parent string
	times  int64
}

// maxBurn bounds the time that it takes: about a minute.
const maxBurn = 1_000_000

// counter reads the next number of a parent. before is how many children the
// plan itself creates there before the ids.
func (p *Plan) counter(parent, prefix string, before int) *counter {
	c := &counter{parent: parent, prefix: prefix}
	n := p.ex.tree.Get(parent)
	if n == nil {
		c.first = int64(before)
		c.next, c.made = c.first, c.first
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
	c.next, c.made = c.first, c.first
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

func (c *counter) take() int64 {
	n := c.next
	c.next++
	return n
}

// assignIDs gives ids to batches, jobs and access requests that are new, in
// their order, and fills in the entries. Rewritten jobs are created again
// ahead of the new ones, which moves the counter too.
func (p *Plan) assignIDs() {
	states := 0
	if p.ex.tree.Get(newqueue.JobStatesPath) == nil {
		states = 1 // /jobs/states is a child of /jobs
	}
	p.numbers = numbering{
		newqueue.BatchesPath: p.counter(newqueue.BatchesPath, newqueue.BatchPrefix, 0),
		newqueue.JobsPath:    p.counter(newqueue.JobsPath, newqueue.JobPrefix, states),
	}
	for _, q := range []newqueue.AccessQueue{newqueue.AccessSmall, newqueue.AccessLarge} {
		path := newqueue.AccessQueuePath(q)
		p.numbers[path] = p.counter(path, newqueue.AccessPrefix, 0)
	}
	for _, pl := range p.jobs {
		if pl.old != nil {
			c := p.numbers[znode.Parent(pl.old.root)]
			c.next++
			c.made++
		}
	}
	for _, pl := range p.jobs {
		if pl.old == nil {
			pl.isNew, pl.number = true, p.numbers.of(pl.job).take()
			p.numbers.assign(pl.job)
		}
		if b := pl.batch; b != nil {
			if b.bid == "" {
				c := p.numbers[newqueue.BatchesPath]
				b.isNew, b.number = true, c.take()
				b.bid = c.id(b.number)
			}
			if pl.old != nil && pl.old.bid != b.bid {
				p.problem(Problem{Kind: BatchChanged, Path: pl.rec.Path, Message: fmt.Sprintf("its batchID changed since it became %s in batch %s", pl.id, pl.old.bid),
					Next: "roll back the run that migrated it, and migrate again"})
			}
			pl.bid = b.bid
		}
	}
	for _, b := range p.batches {
		for _, j := range b.jobs {
			j.bid = b.bid
		}
		// A later run may add what the old queue would have handed out before
		// the jobs that are there.
		slices.SortStableFunc(b.jobs, func(x, y *job) int { return cmp.Compare(x.id, y.id) })
	}
	p.fillEntries()
	p.forecast()
}

func (p *Plan) fillEntries() {
	for _, pl := range p.jobs {
		p.Records[pl.entry].ID = pl.id
	}
	for _, b := range p.batches {
		for _, j := range b.jobs {
			p.Records[j.entry].Batch = b.bid
		}
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

// forecast says how many numbers each sequence has left, and refuses a plan
// that needs more.
func (p *Plan) forecast() {
	for _, parent := range []string{newqueue.BatchesPath, newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		c := p.numbers[parent]
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
