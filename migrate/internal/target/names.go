package target

import (
	"context"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Names are the names of what a target holds.
type Names struct {
	lists map[string][]string // children of /jobs, /batches, /batch-uuids and the access queues, sorted
}

// Numbered are the parents of sequential children, with the prefixes of their names.
var Numbered = map[string]string{
	newqueue.JobsPath:                              newqueue.JobPrefix,
	newqueue.BatchesPath:                           newqueue.BatchPrefix,
	newqueue.AccessQueuePath(newqueue.AccessSmall): newqueue.AccessPrefix,
	newqueue.AccessQueuePath(newqueue.AccessLarge): newqueue.AccessPrefix,
}

// ReadNames lists what the target holds.
func (t *Target) ReadNames(ctx context.Context) (*Names, error) {
	parents := []string{newqueue.BatchUUIDsPath}
	for parent := range Numbered {
		parents = append(parents, parent)
	}
	lists, err := t.Reader.ChildrenAll(ctx, parents)
	if err != nil {
		return nil, err
	}
	n := &Names{lists: map[string][]string{}}
	for i, names := range lists {
		slices.Sort(names)
		n.lists[parents[i]] = names
	}
	return n, nil
}

// Has reports whether a job, a request, a batch or an entry of /batch-uuids is there.
func (n *Names) Has(path string) bool {
	_, there := slices.BinarySearch(n.lists[znode.Parent(path)], znode.Name(path))
	return there
}

// Children returns the names below a parent, sorted. The caller must not change them.
func (n *Names) Children(parent string) []string { return n.lists[parent] }

// Counter says which number the next sequential child of a parent gets.
type Counter struct {
	Prefix string // of the children's names
	Next   int64  // as ZooKeeper counts
	// Free is the lowest number above all names that are there and those that runs gave. It
	// is higher than Next if the children were restored from a dump: see apply.Chain.
	Free int64
}

// Counters reads the counters of the parents of jobs, batches and requests. there are the
// parents that exist.
func (t *Target) Counters(ctx context.Context) (counters map[string]Counter, there []string, err error) {
	names, err := t.ReadNames(ctx)
	if err != nil {
		return nil, nil, err
	}
	nodes, err := t.Reader.GetAll(ctx, slices.Collect(maps.Keys(Numbered))) // not before the names
	if err != nil {
		return nil, nil, err
	}
	next := map[string]int64{}
	for _, n := range nodes {
		number, _ := n.Stat.NextSequence()
		next[n.Path], there = int64(number), append(there, n.Path)
	}
	counters = map[string]Counter{}
	for parent, prefix := range Numbered {
		c := Counter{Prefix: prefix, Next: next[parent], Free: next[parent]}
		for _, name := range append(slices.Clip(names.Children(parent)), t.Ledger.LastGiven(parent)) {
			if id, ok := newqueue.ParseSequenceID(prefix, name); ok {
				c.Free = max(c.Free, int64(id)+1)
			}
		}
		counters[parent] = c
	}
	return counters, there, nil
}

// NextNumbers reads the next numbers of these counters again.
func (t *Target) NextNumbers(ctx context.Context, counters map[string]Counter) error {
	nodes, err := t.Reader.GetAll(ctx, slices.Sorted(maps.Keys(counters)))
	for _, n := range nodes {
		c := counters[n.Path]
		number, _ := n.Stat.NextSequence()
		c.Next = int64(number)
		counters[n.Path] = c
	}
	return err
}

// Count returns how many jobs, batches or requests a parent has.
func (n *Names) Count(parent string) int {
	count := 0
	for _, name := range n.lists[parent] {
		if _, ok := newqueue.ParseSequenceID(Numbered[parent], name); ok {
			count++
		}
	}
	return count
}

// CountUnrelated returns how many jobs, requests and batches there are that no run created.
func (t *Target) CountUnrelated(names *Names) (n int) {
	ours := map[string]int{}
	for e := range t.Ledger.All() {
		if names.Has(e.Job) {
			ours[znode.Parent(e.Job)]++
		}
	}
	for b := range t.Ledger.Batches() {
		if names.Has(newqueue.BatchPath(b.ID)) {
			ours[newqueue.BatchesPath]++
		}
	}
	for parent := range Numbered {
		n += max(0, names.Count(parent)-ours[parent])
	}
	return n
}
