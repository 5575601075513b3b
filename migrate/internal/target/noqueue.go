package target

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

const maxSearched = 50

// ReadNoQueue says what is in a place where there is no new queue.
func ReadNoQueue(ctx context.Context, r *zkconn.Reader) (*migration.NoQueue, error) {
	found := &migration.NoQueue{Znodes: []string{}, Legacy: []string{}, Queues: []string{}}
	names, err := r.Children(ctx, "/")
	if errors.Is(err, znode.ErrNoNode) {
		found.Missing = true
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	found.Znodes = append(found.Znodes, names...)
	usual := migration.DefaultQueues()
	usual.Locks = nil // any program can have a lock
	for _, name := range names[:min(len(names), maxSearched)] {
		inside, err := r.Children(ctx, "/"+name)
		if err != nil {
			continue // the client may not read it, and it is only a hint
		}
		if slices.ContainsFunc(inside, isRecord) || slices.Contains(usual.Roots(), "/"+name) {
			found.Legacy = append(found.Legacy, name)
		}
		if slices.Contains(inside, znode.Name(newqueue.JobsPath)) && slices.Contains(inside, znode.Name(newqueue.BatchesPath)) {
			found.Queues = append(found.Queues, name)
		}
	}
	return found, nil
}
