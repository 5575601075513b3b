package migrate

import (
	"context"
	"errors"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// CheckRun checks whether a target knows a run. It reads only the runs' records, the
// run's ledger and the trace on /jobs, and writes nothing. The error wraps [ErrNoRun] if
// none of these names the run. Any other error comes from reading. If the run's record is
// damaged or lost, CheckRun returns nil, and [PlanRollback] says what is missing.
func CheckRun(ctx context.Context, target side.Side, id string) error {
	// A client without permission to read the root may not learn what is missing below
	// it.
	if _, err := target.Get(ctx, "/"); err != nil && !errors.Is(err, znode.ErrNoNode) {
		return err
	}
	tree := znode.NewTree()
	for n, err := range target.Walk(ctx, RunsPath) {
		if err == nil {
			err = tree.Put(n)
		}
		if err != nil {
			return err
		}
	}
	_, missing := findRun(tree, id)
	if !errors.Is(missing, ErrNoRun) {
		return nil
	}
	_, err := target.Get(ctx, ledgerPath(id))
	if err == nil {
		return nil
	}
	jobs := znode.Node{}
	if errors.Is(err, znode.ErrNoNode) {
		jobs, err = target.Get(ctx, newqueue.JobsPath)
	}
	switch {
	case errors.Is(err, znode.ErrNoNode):
		return missing
	case err != nil:
		return err
	}
	trace, _ := parseTrace(jobs.Data)
	if _, listed := trace.find(id); listed {
		return nil
	}
	return missing
}
