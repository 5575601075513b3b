package target

import (
	"context"
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

// In returns the names below a parent, sorted. The caller must not change them.
func (n *Names) In(parent string) []string { return n.lists[parent] }

// Counter says which number the next sequential child of a parent gets.
type Counter struct {
	Next int64 // as ZooKeeper counts
	// Free is the lowest number above all names that are there and those that runs gave. It
	// is higher than Next if the children were restored from a dump.
	Free int64
}

// Counter returns the counter of a parent of jobs, batches or requests. stat is the
// parent's, and must not be older than the names.
func (t *Target) Counter(n *Names, parent string, stat znode.Stat) Counter {
	next, _ := stat.NextSequence()
	c := Counter{Next: int64(next), Free: int64(next)}
	taken := func(name string) {
		if id, ok := newqueue.ParseSequenceID(Numbered[parent], name); ok {
			c.Free = max(c.Free, int64(id)+1)
		}
	}
	taken(t.Ledger.LastGiven(parent))
	for _, name := range n.lists[parent] {
		taken(name)
	}
	return c
}

// Count is how many jobs, batches or requests a parent has.
func (n *Names) Count(parent string) int {
	count := 0
	for _, name := range n.lists[parent] {
		if _, ok := newqueue.ParseSequenceID(Numbered[parent], name); ok {
			count++
		}
	}
	return count
}
