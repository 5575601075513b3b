package migrate

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/target"
)

func keptPaths(ctx context.Context, t *target.Target, index int) (paths []string, err error) {
	run := t.Ledger.Runs[index]
	if !run.Origin.OneEnsemble {
		return nil, nil
	}
	names, err := t.Reader.WithChroot("/").ChildrenAll(ctx, []string{run.Origin.KeptRunPath()})
	if err != nil {
		return nil, err
	}
	slices.Sort(names[0])
	for e := range t.Ledger.OfRun(index) { // what else is there, somebody else has put there
		path := run.KeptPath(e.Job)
		if _, there := slices.BinarySearch(names[0], znode.Name(path)); there && e.Kept {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

func uncompleted(ctx context.Context, t *target.Target) (n int, err error) {
	last := -1
	for i, run := range t.Ledger.Runs {
		if !run.Completed.IsZero() {
			last = i
		}
	}
	for i := range t.Ledger.Runs[:last+1] {
		paths, err := keptPaths(ctx, t, i)
		if err != nil {
			return 0, err
		}
		n += len(paths)
	}
	return n, nil
}
