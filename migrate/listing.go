package migrate

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// listing is a target of any size: what there is little of is in memory as a tree
// (see [readSkeleton]), and of jobs, batches and their entries there are rows. All
// else is read part by part.
type listing struct {
	*existing
	side    side.Side
	roots   []ref      // of the jobs and requests, in the order of their paths
	batches []batchRow // in the order of their ids
	inBatch entryRows  // the jobs' entries in batches
	called  nameHash
	part    int               // of jobs or batches, that are looked at together
	see     func(*znode.Node) // if not nil, is told of what is walked through to list it

	vanished map[string]bool // jobs and requests that were gone when they were to be read
}

// batchRow is one child of /batches.
type batchRow struct {
	bid      ref
	run      ref      // that made it; none if no run did
	called   uint64   // hash of what its submission calls it
	jobs     int32    // that name it as theirs, of those that were read
	standing [4]int32 // entries, by folder as in [newqueue.BatchFolders]
	states   bool     // it has states
}

// listTarget reads what is small of a target, and lists what is not. Of jobs and
// requests nothing is read yet. Sample may be nil.
func listTarget(ctx context.Context, s side.Side, sample *ACLSample) (*listing, error) {
	l, err := openListing(ctx, s)
	if err != nil {
		return nil, err
	}
	return l, l.list(ctx, sample)
}

// openListing reads what is small.
func openListing(ctx context.Context, s side.Side) (*listing, error) {
	phases(ctx)(ReadingTarget, 0, 0)
	tree, err := readSkeleton(ctx, s)
	if err != nil {
		return nil, err
	}
	l := &listing{existing: readOwn(tree), side: s, called: newNameHash(), part: partSize, vanished: map[string]bool{}}
	l.inBatch.names = l.names
	return l, nil
}

// list lists the rest.
func (l *listing) list(ctx context.Context, sample *ACLSample) error {
	if err := l.listRoots(ctx); err != nil {
		return err
	}
	sample.spread(len(l.roots))
	l.queued.rows = make([]entryRow, 0, len(l.roots)) // as a rule, each has one
	l.inBatch.rows = make([]entryRow, 0, len(l.roots))
	if err := l.listQueued(ctx); err != nil {
		return err
	}
	return l.listBatches(ctx)
}

func (l *listing) listRoots(ctx context.Context) error {
	parents := []string{newqueue.JobsPath}
	for _, q := range newqueue.AccessQueues {
		parents = append(parents, newqueue.AccessQueuePath(q))
	}
	for _, parent := range parents {
		names, err := childrenOf(ctx, l.side, parent)
		if err != nil {
			return err
		}
		l.roots = slices.Grow(l.roots, len(names))
		for _, name := range names {
			if path := znode.Join(parent, name); path != newqueue.JobStatesPath {
				l.roots = append(l.roots, l.names.ref(path))
			}
		}
	}
	slices.SortFunc(l.roots, l.names.compare)
	return nil
}

func (l *listing) listQueued(ctx context.Context) error {
	tell, listed := phases(ctx), 0
	for n, err := range l.side.Walk(ctx, newqueue.JobStatesPath) {
		if err != nil {
			return err
		}
		listed++
		tell(ReadingTarget, listed, 0)
		if l.see != nil {
			l.see(&n)
		}
		if znode.Parent(znode.Parent(n.Path)) == newqueue.JobStatesPath {
			l.queued.add(&n)
		}
	}
	l.queued.sort()
	return nil
}

func (l *listing) listBatches(ctx context.Context) error {
	var states []ref      // batches that have some
	var called []batchRow // and what they are called
	tell, listed := phases(ctx), len(l.queued.rows)
	for n, err := range l.side.Walk(ctx, newqueue.BatchesPath) {
		if err != nil {
			return err
		}
		listed++
		tell(ReadingTarget, listed, 0)
		if l.see != nil {
			l.see(&n)
		}
		switch below := strings.Split(strings.TrimPrefix(n.Path, newqueue.BatchesPath), "/")[1:]; {
		case len(below) == 1:
			row := batchRow{bid: l.names.ref(below[0])}
			if prov, ok := parseBatchProvenance(n.Data); ok {
				row.run = l.names.ref(prov.Run)
			}
			l.batches = append(l.batches, row)
		case len(below) == 2 && below[1] == "states":
			states = append(states, l.names.ref(below[0]))
		case len(below) == 2 && below[1] == "submission":
			called = append(called, batchRow{bid: l.names.ref(below[0]), called: l.called.of(batchIDIn(n.Data))})
		case isEntry(below):
			l.inBatch.add(&n)
		}
	}
	slices.SortFunc(l.batches, func(a, b batchRow) int { return l.names.compare(a.bid, b.bid) })
	for _, bid := range states {
		if b := l.batch(bid); b != nil {
			b.states = true
		}
	}
	for _, c := range called {
		if b := l.batch(c.bid); b != nil {
			b.called = c.called
		}
	}
	for _, row := range l.inBatch.rows {
		if b := l.batch(row.at); b != nil {
			b.standing[row.in-1]++
		}
	}
	l.inBatch.sort()
	return nil
}

// isEntry reports whether a path below /batches, BID first, is where a job's entry
// stands.
func isEntry(below []string) bool {
	return len(below) == 4 && below[1] == "states" && slices.Contains(newqueue.BatchFolders, newqueue.BatchFolder(below[2]))
}

// batch is the row of a batch; nil if it is not there.
func (l *listing) batch(bid ref) *batchRow {
	i, there := slices.BinarySearchFunc(l.batches, bid, func(b batchRow, bid ref) int { return l.names.compare(b.bid, bid) })
	if !there {
		return nil
	}
	return &l.batches[i]
}

// batchOf is the row of the batch of that id; nil if it is not there.
func (l *listing) batchOf(bid string) *batchRow {
	r, known := l.names.find(bid)
	if !known {
		return nil
	}
	return l.batch(r)
}

// stands reports whether a job or request is there.
func (l *listing) stands(root string) bool {
	r, known := l.names.find(root)
	if !known || l.vanished[root] {
		return false
	}
	_, there := slices.BinarySearchFunc(l.roots, r, l.names.compare)
	return there
}

// allRoots yields the paths of the jobs and requests in order.
func (l *listing) allRoots() iter.Seq[string] { return l.names.texts(l.roots) }

// gone is [held.gone].
func (l *listing) gone(h held) string { return h.gone(l.batchOf(h.bid) != nil) }
