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

// listing is a target of any size. Its skeleton is in memory as a tree (see
// [readSkeleton]). Jobs, batches and their entries are rows. Everything else is read part
// by part.
type listing struct {
	*existing
	side     side.Side
	roots    []ref      // of the jobs and requests, in the order of their paths
	batches  []batchRow // in the order of their ids
	inBatch  entryRows  // the jobs' entries in batches
	batchIDs nameHash
	part     int               // how many jobs or batches a part has
	onNode   func(*znode.Node) // if not nil, is called with every znode that listing reads

	vanished map[string]bool // jobs and requests that were listed and then could not be found
}

// batchRow is one child of /batches.
type batchRow struct {
	bid     ref
	run     ref      // the run that created it; the zero ref if no run did
	batchID uint64   // hash of the batchID in its submission
	jobs    int32    // how many of the jobs read so far name it as their batch
	entries [4]int32 // how many entries are in each folder of [newqueue.BatchFolders]
	states  bool     // it has the znode states
}

// listTarget reads a target's skeleton, and lists the rest. It does not read the jobs and
// requests yet. sample may be nil.
func listTarget(ctx context.Context, s side.Side, sample *ACLSample) (*listing, error) {
	l, err := openListing(ctx, s)
	if err != nil {
		return nil, err
	}
	return l, l.list(ctx, sample)
}

// openListing reads the skeleton.
func openListing(ctx context.Context, s side.Side) (*listing, error) {
	phases(ctx)(ReadingTarget, 0, 0)
	tree, err := readSkeleton(ctx, s)
	if err != nil {
		return nil, err
	}
	l := &listing{existing: readOwn(tree), side: s, batchIDs: newNameHash(), part: partSize, vanished: map[string]bool{}}
	l.inBatch.names = l.names
	return l, nil
}

// list lists the rest.
func (l *listing) list(ctx context.Context, sample *ACLSample) error {
	if err := l.listRoots(ctx); err != nil {
		return err
	}
	sample.spread(len(l.roots))
	l.queued.rows = make([]entryRow, 0, len(l.roots)) // usually each job has one
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
	report, listed := phases(ctx), 0
	for n, err := range l.side.Walk(ctx, newqueue.JobStatesPath) {
		if err != nil {
			return err
		}
		listed++
		report(ReadingTarget, listed, 0)
		if l.onNode != nil {
			l.onNode(&n)
		}
		if znode.Parent(znode.Parent(n.Path)) == newqueue.JobStatesPath {
			l.queued.add(&n)
		}
	}
	l.queued.sort()
	return nil
}

func (l *listing) listBatches(ctx context.Context) error {
	var states []ref      // batches that have the znode states
	var called []batchRow // hashes of the batchIDs
	report, listed := phases(ctx), len(l.queued.rows)
	for n, err := range l.side.Walk(ctx, newqueue.BatchesPath) {
		if err != nil {
			return err
		}
		listed++
		report(ReadingTarget, listed, 0)
		if l.onNode != nil {
			l.onNode(&n)
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
			called = append(called, batchRow{bid: l.names.ref(below[0]), batchID: l.batchIDs.of(batchIDIn(n.Data))})
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
			b.batchID = c.batchID
		}
	}
	for _, row := range l.inBatch.rows {
		if b := l.batch(row.at); b != nil {
			b.entries[row.in-1]++
		}
	}
	l.inBatch.sort()
	return nil
}

// isEntry reports whether a path below /batches, which begins with the BID, is that of a
// job's entry.
func isEntry(below []string) bool {
	return len(below) == 4 && below[1] == "states" && slices.Contains(newqueue.BatchFolders, newqueue.BatchFolder(below[2]))
}

// batch is the row of a batch; nil if the batch is not there.
func (l *listing) batch(bid ref) *batchRow {
	i, there := slices.BinarySearchFunc(l.batches, bid, func(b batchRow, bid ref) int { return l.names.compare(b.bid, bid) })
	if !there {
		return nil
	}
	return &l.batches[i]
}

// batchOf is the row of the batch with that id; nil if the batch is not there.
func (l *listing) batchOf(bid string) *batchRow {
	r, known := l.names.find(bid)
	if !known {
		return nil
	}
	return l.batch(r)
}

// hasJob reports whether a job or request is there.
func (l *listing) hasJob(root string) bool {
	r, known := l.names.find(root)
	if !known || l.vanished[root] {
		return false
	}
	_, there := slices.BinarySearchFunc(l.roots, r, l.names.compare)
	return there
}

// allRoots yields the paths of the jobs and requests in order.
func (l *listing) allRoots() iter.Seq[string] { return l.names.texts(l.roots) }

// whyGone says what happened to a migrated record's job; see [custodyEntry.whyGone].
func (l *listing) whyGone(h custodyEntry) string { return h.whyGone(l.batchOf(h.bid) != nil) }
