package migrate

import (
	"context"
	"maps"
	"slices"
	"time"

	"mrtq/internal/part"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/follow"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// place finds the batch of each record that moves. Records whose batch another look must see first are taken out of movers, and what a batch needs
// first comes first.
func (f *follower) place(ctx context.Context, movers *[]source.Fetched) (map[rules.BatchKey]plan.Place, map[string]target.Batch, error) {
	run := f.t.Ledger.Runs[f.run]
	batchOf := func(r source.Fetched) (rules.BatchKey, bool) {
		if r.Err != nil || r.Queue.IsAccess() {
			return rules.BatchKey{}, false
		}
		return rules.BatchOf(r.Record, run.ID, run.Dialect), true
	}
	places, there := map[rules.BatchKey]plan.Place{}, map[string]target.Batch{}
	var open []rules.BatchKey // those that have no place yet
	arrived := map[rules.BatchKey]int{}
	for _, r := range *movers {
		if key, is := batchOf(r); is {
			if arrived[key]++; arrived[key] == 1 {
				open = append(open, key)
			}
		}
	}
	seen := map[string]int64{}
	for n := 1; len(open) > 0; n++ {
		var names []string
		for _, key := range open {
			names = append(names, follow.Name(key.UUID, n))
		}
		batches, err := f.batches(ctx, names, there, seen)
		if err != nil {
			return nil, nil, err
		}
		var next []rules.BatchKey
		for i, key := range open {
			b := batches[i]
			place := b.Place(key.UUID)
			if place == follow.LookAgain && f.w == nil {
				place = follow.Add // there is no next look
			}
			switch place {
			case follow.Add:
				places[key] = plan.Place{Name: names[i], ID: b.ID, Witness: b.Witness}
			case follow.New:
				if f.isQuiet(key, arrived[key]) {
					places[key] = plan.Place{Name: names[i]}
				} else {
					f.soon = true
				}
			case follow.LookAgain:
				f.soon = true
			case follow.NextName:
				next = append(next, key)
			}
		}
		open = next
	}
	f.entries = seen
	*movers = slices.DeleteFunc(*movers, func(r source.Fetched) bool {
		key, is := batchOf(r)
		_, placed := places[key]
		return is && !placed
	})
	// A batch begins with a job that has to run: that is the witness for the others.
	slices.SortStableFunc(*movers, func(a, b source.Fetched) int { return rank(a) - rank(b) })
	return places, there, nil
}

func rank(r source.Fetched) int {
	if r.Err == nil && r.Legacy.Header.Status == legacy.Failed {
		return 1
	}
	return 0
}

// arrival says how many records of a batch that has no place were there, since when, and when the first came.
type arrival struct {
	records      int
	since, first time.Time
}

// longest is how many times as long as for a quiet batch a batch is waited for whose records come and come.
const longest = 10

// isQuiet reports whether no record of a batch has come for some time, or whether they have been coming for long.
func (f *follower) isQuiet(key rules.BatchKey, records int) bool {
	now := time.Now()
	a, known := f.came[key]
	if !known {
		a.first = now
	}
	if a.records != records {
		a.records, a.since = records, now
	}
	f.came[key] = a
	if now.Sub(a.since) < f.opt.Quiet && now.Sub(a.first) < longest*f.opt.Quiet {
		return false
	}
	delete(f.came, key)
	return true
}

// batches reads the batches that have these names. there gets each by its bid, and seen the czxids of the entries of unfinished jobs.
func (f *follower) batches(ctx context.Context, names []string, there map[string]target.Batch, seen map[string]int64) ([]follow.Batch, error) {
	batches := make([]follow.Batch, len(names))
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = newqueue.BatchUUIDPath(name)
	}
	nodes, err := f.getEach(ctx, paths)
	if err != nil {
		return nil, err
	}
	var bids []string
	for i, n := range nodes {
		batches[i].Used = n.Path != "" || f.t.Ledger.UsedName(znode.Name(paths[i]))
		batches[i].Of = names[i]
		if _, is := newqueue.ParseSequenceID(newqueue.BatchPrefix, string(n.Data)); n.Path != "" && is {
			batches[i].ID = string(n.Data)
			bids = append(bids, batches[i].ID)
		}
	}
	read, err := f.t.Batches(ctx, bids, f.t.Ledger.Runs[f.run].Dialect)
	if err != nil {
		return nil, err
	}
	maps.Copy(there, read)
	for i := range batches {
		b := &batches[i]
		if b.ID == "" {
			continue
		}
		is := there[b.ID]
		if !is.There {
			b.ID = ""
			continue
		}
		b.State, b.Locked = is.State, is.Locked
		if is.Of != "" {
			b.Of = is.Of
		}
		if err := f.witness(ctx, b, seen); err != nil {
			return nil, err
		}
	}
	return batches, nil
}

// someEntries is how many entries of a batch are looked at: one that stays is enough.
const someEntries part.Size = 50

// witness finds the oldest entry of an unfinished job that the look before saw, too.
func (f *follower) witness(ctx context.Context, b *follow.Batch, seen map[string]int64) error {
	folder := newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing)
	lists, err := f.r.ChildrenAll(ctx, []string{folder})
	if err != nil {
		return err
	}
	slices.Sort(lists[0])
	b.Unfinished = len(lists[0])
	var paths []string
	for _, name := range lists[0][:min(len(lists[0]), someEntries.N())] {
		paths = append(paths, znode.Join(folder, name))
	}
	nodes, err := f.r.GetAll(ctx, paths)
	oldest := int64(0)
	for _, n := range nodes {
		seen[n.Path] = n.Stat.Czxid
		if f.entries[n.Path] == n.Stat.Czxid && (b.Witness == "" || n.Stat.Czxid < oldest) {
			b.Witness, oldest = n.Path, n.Stat.Czxid
		}
	}
	return err
}

// getEach is GetAll, with an empty node for each path that is not there.
func (f *follower) getEach(ctx context.Context, paths []string) ([]znode.Node, error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(paths)))
	nodes, err := f.r.GetAll(ctx, sorted)
	if err != nil {
		return nil, err
	}
	by := map[string]znode.Node{}
	for _, n := range nodes {
		by[n.Path] = n
	}
	each := make([]znode.Node, len(paths))
	for i, path := range paths {
		each[i] = by[path]
	}
	return each, nil
}
