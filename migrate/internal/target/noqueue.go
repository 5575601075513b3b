package target

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
)

// NoQueue is what is at an address instead of a new queue. It shows an operator that the
// address was mistyped.
type NoQueue struct {
	Missing bool     `json:"missing"` // the znode of the chroot is missing too
	Znodes  []string `json:"znodes"`  // the names of the znodes that are there, in order
	// Legacy are the znodes that are legacy queues: they hold records, or have the name of one.
	// Queues are those that hold a new queue.
	Legacy []string `json:"legacy"`
	Queues []string `json:"queues"`
}

const maxSearched = 50

// ReadNoQueue says what is in a place where there is no new queue.
func ReadNoQueue(ctx context.Context, r *zkconn.Reader) (*NoQueue, error) {
	found := &NoQueue{Znodes: []string{}, Legacy: []string{}, Queues: []string{}}
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
	usual := rules.DefaultQueues()
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
