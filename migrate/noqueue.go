package migrate

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// NoQueue is what is at an address instead of a new queue. It shows an operator that the
// address was mistyped.
type NoQueue struct {
	Missing bool     `json:"missing"` // the znode of the chroot is missing too
	Znodes  []string `json:"znodes"`  // the names of the znodes that are there, in order
	// Legacy are the znodes that hold legacy records. Queues are those that hold a new
	// queue.
	Legacy []string `json:"legacy"`
	Queues []string `json:"queues"`
}

// ReadNoQueue says what is in a place instead of a new queue. It returns nil if there is
// a new queue.
func ReadNoQueue(ctx context.Context, s side.Side) (*NoQueue, error) {
	tree, err := readSkeleton(ctx, s)
	if err != nil {
		return nil, err
	}
	return readNoQueue(ctx, s, tree)
}

func readNoQueue(ctx context.Context, s side.Side, skeleton *znode.Tree) (*NoQueue, error) {
	for _, path := range []string{newqueue.BatchesPath, newqueue.JobsPath, newqueue.AccessPath, RunsPath} {
		if skeleton.Get(path) != nil {
			return nil, nil
		}
	}
	found := &NoQueue{Znodes: []string{}, Legacy: []string{}, Queues: []string{}}
	names, err := s.Children(ctx, "/")
	if errors.Is(err, znode.ErrNoNode) {
		found.Missing = true
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	found.Znodes = append(found.Znodes, names...)
	for _, name := range names[:min(len(names), maxSearched)] {
		inside, err := childrenOf(ctx, s, "/"+name)
		if err != nil {
			continue // the client may not read it, and it is only a hint
		}
		if slices.ContainsFunc(inside, func(child string) bool { return isRecordName(child) }) {
			found.Legacy = append(found.Legacy, name)
		}
		if slices.Contains(inside, znode.Name(newqueue.JobsPath)) && slices.Contains(inside, znode.Name(newqueue.BatchesPath)) {
			found.Queues = append(found.Queues, name)
		}
	}
	return found, nil
}

// isRecordName reports whether a znode has the name of a legacy record.
func isRecordName(name string) bool {
	_, err := legacy.ParseKey(name)
	return err == nil
}

// maxSearched is how many znodes mrtq searches for a queue at most.
const maxSearched = 50
