package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/text"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// The services look for a hold, and then acquire. If an administrator sets the hold in
// between, they still acquire. This package does better: the transaction that acquires an
// job also creates the hold's znode and deletes it again. The server refuses that
// transaction if the hold is there. (A transaction can check a znode's version, but not
// that there is no znode.) So nothing is acquired once a hold is set. What a worker has
// acquired before, it finishes.

// IgnoreHolds lets a queue acquire jobs, batches and requests although an
// administrator holds their queue. It is for administrators' tools, and for a
// service like the deployed inventory service, which ignores holds.
func IgnoreHolds() Option { return func(q *Queue) { q.ignoreHolds = true } }

// HeldError says that nothing was acquired because an administrator or a migration
// holds the queue. It wraps [ErrHeld].
type HeldError struct {
	Queue newqueue.QueueHold
	// By are the owners of the hold, as mrtq notes them in its znode: persons or
	// runs of a migration. It is empty if the znode does not say.
	By []string
}

// Error names the queue, and who holds it if that is known.
func (e *HeldError) Error() string {
	text := fmt.Sprintf("the queue %s is held", e.Queue)
	if len(e.By) > 0 {
		text += " by " + strings.Join(e.By, ", ")
	}
	return text
}

// Unwrap returns [ErrHeld].
func (e *HeldError) Unwrap() error { return ErrHeld }

// checkHold returns a *[HeldError] if there is a hold that this queue respects.
// Otherwise it returns the path that the hold's creation begins with: that of the hold,
// or of a folder above it that does not exist either. It is "" for a queue that ignores
// holds.
func (q *Queue) checkHold(ctx context.Context, h newqueue.QueueHold) (absent string, err error) {
	if q.ignoreHolds {
		return "", nil
	}
	path := newqueue.QueueHoldPath(h)
	above := []string{newqueue.LocksPath, newqueue.QueueLocksPath}
	there := make([]bool, len(above))
	var n node
	var held bool
	err = each(ctx, len(above)+1, func(ctx context.Context, i int) (err error) {
		if i < len(above) {
			_, there[i], err = q.stat(ctx, above[i])
			return err
		}
		n, held, err = q.maybe(ctx, path)
		if errors.Is(err, zk.ErrNoAuth) { // it is there, and this session may not read it
			held, err = true, nil
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case held:
		return "", &HeldError{h, holdOwners(n.data)}
	}
	for i, folder := range above {
		if !there[i] {
			return folder, nil
		}
	}
	return path, nil
}

// holdOwners reads the owners' names from a hold that mrtq has set. The names are
// quoted if a terminal could misread them.
func holdOwners(data []byte) (names []string) {
	var hold struct{ Owners []struct{ By string } }
	if json.Unmarshal(data, &hold) != nil {
		return nil
	}
	for _, o := range hold.Owners {
		names = append(names, text.Line(o.By))
	}
	return names
}

// stillAbsent are operations that the server refuses if a path exists. "" may exist.
func stillAbsent(path string) []znode.Op {
	if path == "" {
		return nil
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// refusedAt reports whether the server refused a transaction because of a path.
func refusedAt(err error, path string) bool {
	var r *znode.MultiError
	return errors.As(err, &r) && r.Op.Path == path
}
