package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// read reads the target, and refuses one that nothing can be added to.
func (f *follower) read(ctx context.Context) error {
	f.t, f.keys = nil, nil // two ledgers of a large queue need much memory
	t, err := readWhole(ctx, f.r)
	if err != nil {
		return &TargetError{err}
	}
	return f.begin(ctx, t)
}

func (f *follower) begin(ctx context.Context, t *target.Target) (err error) {
	f.t = t
	run := f.t.Ledger.Current()
	switch {
	case run == nil:
		return fmt.Errorf("%w: nothing was migrated", ErrNoRun)
	case run.State == migration.RunRunning:
		return fmt.Errorf("%w: %s", ErrUnfinished, run.ID)
	case run.State == migration.RunRolledBack, run.State == migration.RunRollingBack:
		return fmt.Errorf("%w: %s", ErrRolledBack, run.ID)
	case f.t.RestoredUnnoted():
		return fmt.Errorf("%w: release it with --restored first", ErrRestored)
	}
	f.run = f.t.Ledger.FindRun(run.ID)
	if f.src, err = originOf(ctx, f.t); err != nil {
		return err
	}
	for _, queue := range slices.Sorted(maps.Keys(run.Origin.Czxids)) {
		if standing.QueueOf(run, queue, f.src.Czxids()) == standing.MadeAgain {
			f.opt.Notify(fmt.Sprintf("%s was removed and created again since %s", queue, run.ID))
		}
	}
	f.keys = map[migration.Hash]string{}
	due := map[newqueue.QueueHold]bool{}
	for e := range f.t.Ledger.All() {
		f.keys[e.Key] = e.Job
		if !e.HandedOver {
			due[rules.KindOf(e.Job).Hold()] = true
		}
	}
	delete(f.keys, migration.Hash{}) // that is no key
	f.released = map[newqueue.QueueHold]bool{}
	for _, q := range newqueue.QueueHolds {
		f.released[q] = f.t.MayHaveBegun(run, q)
		for _, other := range target.ReleasedTogether(q) {
			h := f.t.Hold(other)
			f.released[q] = f.released[q] && !due[other] && (h == nil || !h.OfRun())
		}
	}
	f.counters, _, err = f.t.Counters(ctx)
	return err
}

// refresh reads again what has changed since it was read. While nothing has, that is one small request to each side.
func (f *follower) refresh(ctx context.Context) error {
	seen, err := f.states(ctx)
	switch {
	case err != nil:
		return &TargetError{err}
	case f.seen != nil && !maps.Equal(f.seen, seen):
		clear(f.looks)
		if err := f.read(ctx); err != nil {
			return err
		}
	default:
		if listed, err := f.isListed(ctx); err != nil || listed {
			return err
		}
		if f.src, err = f.src.Relist(ctx); err != nil {
			return err
		}
	}
	maps.DeleteFunc(f.looks, func(path string, _ look) bool { return !f.src.Has(path) })
	maps.DeleteFunc(f.consumed, func(_ migration.Hash, path string) bool { return !f.src.Has(path) })
	f.seen, err = f.states(ctx)
	return err
}

// states are the versions of the runs and of the holds.
func (f *follower) states(ctx context.Context) (map[string]znode.Stat, error) {
	paths := []string{ledger.RunsPath}
	for _, run := range f.t.Ledger.Runs {
		paths = append(paths, ledger.RunPath(run.ID))
	}
	for _, q := range newqueue.QueueHolds {
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	nodes, err := f.r.GetAll(ctx, paths)
	states := map[string]znode.Stat{}
	for _, n := range nodes {
		states[n.Path] = znode.Stat{Czxid: n.Stat.Czxid, Version: n.Stat.Version, Cversion: n.Stat.Cversion}
	}
	return states, err
}

// isListed reports whether the legacy queue has the names that were listed.
func (f *follower) isListed(ctx context.Context) (bool, error) {
	var paths []string
	for _, n := range f.src.Nodes {
		paths = append(paths, n.Path)
	}
	nodes, err := f.src.Reader().GetAll(ctx, append(paths, f.src.Missing...))
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(nodes, f.src.Nodes, func(a znode.Node, b source.Node) bool {
		return a.Path == b.Path && a.Stat.Czxid == b.Stat.Czxid && a.Stat.Pzxid == b.Stat.Pzxid
	}), nil
}
