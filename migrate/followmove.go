package migrate

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// plan plans the jobs of records, without those that can't be migrated, which stay.
func (f *follower) plan(movers *[]source.Fetched, places map[rules.BatchKey]plan.Place, there map[string]target.Batch) (*plan.Made, error) {
	run := &f.t.Ledger.Runs[f.run]
	for {
		builder := plan.New(plan.Input{Options: migration.PlanOptions{Restored: true, MaxBuffer: f.opt.MaxBuffer}, Source: f.src, Target: f.t, Names: &target.Names{}, Dialect: run.Dialect, Places: places, Run: run})
		for _, r := range *movers {
			builder.Add(r)
		}
		made := builder.Finish(there)
		blocked := made.BlockedRecords()
		if len(blocked) == 0 && !made.Blocked() {
			return made, nil
		}
		before := len(*movers)
		*movers = slices.DeleteFunc(*movers, func(r source.Fetched) bool {
			why, is := blocked[r.Path]
			if is {
				f.stays(r.Path, migration.FateStays, why)
			}
			return is
		})
		if len(*movers) == before {
			return nil, fmt.Errorf("%w: %s", ErrBlocked, made.Problems[0])
		}
	}
}

// move carries out a plan.
func (f *follower) move(ctx context.Context, made *plan.Made, movers []source.Fetched) (int, error) {
	run := f.t.Ledger.Runs[f.run]
	turn, err := apply.Lead(ctx, f.w, apply.OwnerName(now()), run.ACL, f.opt.Notify)
	if err != nil {
		return 0, err
	}
	defer turn.Resign()
	if err := f.t.NextNumbers(ctx, f.counters); err != nil {
		return 0, err
	}
	chain := apply.NewChain(f.w, run, made.Limits(f.opt.Limits), f.counters)
	chain.Guard(znode.Check(newqueue.JobsPath, f.t.JobsVersion))
	for i, other := range f.t.Ledger.Runs {
		if i != f.run {
			chain.Guard(znode.Check(ledger.RunPath(other.ID), other.Stat.Version))
		}
	}
	ops, err := f.keptFolder(ctx)
	if err != nil {
		return 0, err
	}
	if len(made.Layout)+len(ops) > 0 {
		for _, path := range made.Layout {
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: rules.None, ACL: run.ACL})
		}
		if err := chain.Do(ctx, ops, func(*migration.Run) {}); err != nil {
			return 0, err
		}
		for _, path := range made.Layout {
			f.t.Layout[path] = znode.Stat{}
		}
	}
	if err := chain.AdvanceCounters(ctx, slices.Collect(maps.Keys(f.counters))); err != nil {
		return 0, err
	}
	done := map[string]bool{}
	var broken error
	err = chain.Send(ctx, func(yield func(apply.Piece, error) bool) {
		for piece, err := range made.Pieces(fetched(movers)) {
			build := piece.Build
			var lines []ledger.Line
			piece.Build = func(ids []string) (ops []znode.Op, _ []ledger.Line) {
				ops, lines = build(ids)
				return ops, lines
			}
			piece.Done = func() {
				broken = reasons.Join(broken, f.t.Ledger.Append(f.run, lines))
				for _, line := range lines {
					if line.Kind == ledger.JobCreated {
						f.keys[line.Key] = line.Job
						done[line.Record] = true
						f.opt.Each(migration.Followed{Record: line.Record, Fate: migration.FateMoves, Job: line.Job, Batch: line.Batch})
					}
				}
			}
			if !yield(piece, err) {
				return
			}
		}
	})
	err = cmp.Or(err, broken)
	delete(f.keys, migration.Hash{})
	f.t.Ledger.Runs[f.run] = chain.Run()
	for path, stat := range f.seen {
		if path == ledger.RunPath(run.ID) {
			stat.Version = chain.Run().Stat.Version
			f.seen[path] = stat
		}
	}
	for _, r := range movers {
		if done[r.Path] || err != nil {
			delete(f.refused, r.Path)
			continue
		}
		f.soon = true
		if f.refused[r.Path]++; f.refused[r.Path] >= maxRefused {
			f.stays(r.Path, migration.FateStays, fmt.Sprintf("the server refuses it each time: %v", chain.LeftOutBy()))
			delete(f.refused, r.Path)
		}
	}
	return len(done), err
}

// keptFolder are the operations that create the run's folder for kept bytes again, if a completion, or somebody, has removed it.
func (f *follower) keptFolder(ctx context.Context) ([]znode.Op, error) {
	p := handoverPass{w: f.w, t: f.t, run: f.run}
	return p.keptParents(ctx)
}

func fetched(records []source.Fetched) iter.Seq2[source.Fetched, error] {
	return func(yield func(source.Fetched, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
