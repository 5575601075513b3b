package accept

import (
	"context"
	"errors"
	"strings"

	"mrtq/internal/znode"
)

// emptyZooKeeper removes the znodes with which every other scenario starts.
func (w *world) emptyZooKeeper() error {
	w.seen, w.byHand = znode.NewTree(), nil
	return nil
}

func (w *world) adminSetsUp() error {
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error { return a.q.Init(ctx) })
}

func (w *world) foldersAreThere() error {
	wrong := []error{w.done()}
	for _, at := range []string{"/batches", "/batch-uuids", "/jobs", "/jobs/states"} {
		wrong = append(wrong, w.wantNode(at, []byte{}))
	}
	return errors.Join(wrong...)
}

func (w *world) stateFoldersAreThere(states string) error {
	var wrong []error
	for _, state := range strings.Fields(states) {
		wrong = append(wrong, w.wantNode("/jobs/states/"+state, []byte{}))
	}
	return errors.Join(wrong...)
}

func (w *world) accessAndLockFoldersAreThere() error {
	var wrong []error
	for _, at := range []string{"/access/small", "/access/large", "/locks/queue", w.localIDs, "/locks/storage", "/locks/inventory", "/locks/collections"} {
		wrong = append(wrong, w.wantNode(at, []byte{}))
	}
	return errors.Join(wrong...)
}
