package migrate

import (
	"context"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Content says what kind of queue a place holds. It shows an operator that two addresses
// were exchanged, or that one was mistyped.
type Content struct {
	Legacy   bool // a legacy queue
	NewQueue bool
	Empty    bool
	// Below are znodes of the place that hold a new queue.
	Below []string
}

// LookAt finds out what a place holds. queues are where a legacy queue would be. An error
// comes from reading.
func LookAt(ctx context.Context, r *Reader, queues Queues) (Content, error) {
	found, err := target.ReadNoQueue(ctx, r)
	if err != nil {
		return Content{}, err
	}
	paths := []string{newqueue.JobsPath, ledger.MigrationPath}
	for _, nodes := range queues.Nodes {
		paths = append(paths, nodes...)
	}
	there, err := r.GetAll(ctx, paths, nil)
	if err != nil {
		return Content{}, err
	}
	c := Content{Empty: len(found.Znodes) == 0, Legacy: len(found.Legacy) > 0, Below: found.Queues}
	for _, n := range there {
		isNew := n.Path == newqueue.JobsPath || n.Path == ledger.MigrationPath
		c.NewQueue, c.Legacy = c.NewQueue || isNew, c.Legacy || !isNew
	}
	return c, nil
}

// DialectAt returns the dialect of the new queue in a tree: the newest run's, else what its
// znodes show. It is "" if nothing shows it. An error comes from reading.
func DialectAt(ctx context.Context, r *Reader) (newqueue.Dialect, error) {
	return target.DialectAt(ctx, r)
}
