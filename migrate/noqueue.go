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

// NoQueue is what stands at a place where no new queue is. A place that was
// mistyped shows by it.
type NoQueue struct {
	Missing bool     `json:"missing"` // not even the znode of the chroot is there
	Znodes  []string `json:"znodes"`  // the names of the znodes that are there, in order
	// Legacy are those of them that hold legacy records, Queues those in which a new
	// queue is.
	Legacy []string `json:"legacy"`
	Queues []string `json:"queues"`
}

// ReadNoQueue says what stands where no new queue is; nil if one is there.
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
	for _, name := range names[:min(len(names), mostLookedInto)] {
		inside, err := childrenOf(ctx, s, "/"+name)
		if err != nil {
			continue // it may be closed to us, and is not what was asked about
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

// isRecordName reports whether a znode is named as a legacy record is.
func isRecordName(name string) bool {
	_, err := legacy.ParseKey(name)
	return err == nil
}

// mostLookedInto is in how many znodes mrtq looks for a queue, at a place that has
// many.
const mostLookedInto = 50
