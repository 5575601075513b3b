package migrate

import (
	"context"
	"errors"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// CheckRun says if nothing in a target tells of a run. It reads only the runs'
// records, the run's ledger and the trace on /jobs, and writes nothing. The error
// wraps [ErrNoRun], or is one of reading. It is nil for a run whose record is damaged
// or lost: [PlanRollback] tells what is missing.
func CheckRun(ctx context.Context, target side.Side, id string) error {
	// Who may not read the top may not know what is missing below it.
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
	if _, told := trace.find(id); told {
		return nil
	}
	return missing
}
