package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// HoldOptions are the options of a hold.
type HoldOptions struct {
	Queues      []newqueue.QueueHold // to hold; none means all, unless there are Collections
	Collections []string             // to hold; each can be the name of a znode
	By          string               // who holds them
	Why         string
}

// HoldResult is what Hold did.
type HoldResult struct {
	Held []string `json:"held"` // the holds that By is an owner of now
	// Unknown are the Collections of which no batch is there, so that a name may be misspelt, and Profiles are the collections of the batches that
	// are there, in byte order. Both are empty without Collections.
	Unknown  []string `json:"unknown"`
	Profiles []string `json:"profiles"`
}

// Hold holds queues or collections. A hold that is there already gets one more owner. The
// error wraps [ErrNoQueue] if there is no new queue, or [ErrContended], or comes from the server.
func Hold(ctx context.Context, dst *Writer, opt HoldOptions) (*HoldResult, error) {
	there, err := dst.GetAll(ctx, []string{newqueue.JobsPath, newqueue.LocksPath, newqueue.QueueLocksPath, newqueue.CollectionLocksPath})
	if err != nil {
		return nil, cancelled(err)
	}
	if len(there) == 0 {
		return nil, fmt.Errorf("%w: it has neither %s nor %s", ErrNoQueue, newqueue.JobsPath, newqueue.LocksPath)
	}
	owner := migration.HoldOwner{By: opt.By, At: now(), Why: opt.Why}
	held := &HoldResult{Held: []string{}, Unknown: []string{}, Profiles: []string{}}
	for _, path := range holdPaths(opt) {
		if err := addOwner(ctx, dst, path, owner); err != nil {
			return held, cancelled(err)
		}
		held.Held = append(held.Held, path)
	}
	if len(opt.Collections) == 0 {
		return held, nil
	}
	if held.Profiles, err = profiles(ctx, &dst.Reader); err != nil {
		return held, cancelled(err)
	}
	for _, c := range opt.Collections {
		if !slices.Contains(held.Profiles, c) {
			held.Unknown = append(held.Unknown, c)
		}
	}
	return held, nil
}

// profiles are the collections of the batches that are there, in byte order. A submission that can't be read names none.
func profiles(ctx context.Context, r *Reader) ([]string, error) {
	dialect, err := DialectAt(ctx, r)
	if err != nil {
		return nil, err
	}
	bids, err := r.Children(ctx, newqueue.BatchesPath)
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return nil, err
	}
	all := map[string]bool{}
	for some := range slices.Chunk(bids, maxRead.N()) {
		var paths []string
		for _, bid := range some {
			paths = append(paths, newqueue.BatchPath(bid)+"/submission")
		}
		nodes, err := r.GetAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if submission, err := newqueue.Parse[newqueue.Submission](dialect, n.Data); err == nil && submission.ProfileName != "" {
				all[submission.ProfileName] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

func holdPaths(opt HoldOptions) (paths []string) {
	queues := opt.Queues
	if len(queues) == 0 && len(opt.Collections) == 0 {
		queues = newqueue.QueueHolds
	}
	for _, q := range queues {
		paths = append(paths, newqueue.QueueHoldPath(q))
	}
	for _, c := range opt.Collections {
		paths = append(paths, znode.Join(newqueue.CollectionLocksPath, c))
	}
	return paths
}

// maxHoldTries is how often in a row other clients may change a hold before an owner is added.
const maxHoldTries = 100

// addOwner adds an owner to a hold, or creates the hold and the folders above it. If another client changes one of them at the same
// time, or the answer is lost, it looks again. The error wraps [ErrContended] if others keep changing them.
func addOwner(ctx context.Context, w *Writer, path string, owner migration.HoldOwner) error {
	for try := 1; ; try++ {
		var ops []znode.Op
		for _, folder := range []string{newqueue.LocksPath, znode.Parent(path)} {
			if _, there, err := w.Exists(ctx, folder); err != nil {
				return err
			} else if !there {
				ops = append(ops, znode.Create(folder, []byte{}))
			}
		}
		n, err := w.Get(ctx, path)
		switch owners := ledger.ParseOwners(n.Data); {
		case errors.Is(err, znode.ErrNoNode):
			ops = append(ops, znode.Create(path, ledger.EncodeOwners(migration.HoldOwners{owner})))
		case err != nil:
			return err
		case owners.Has(owner.By):
			return nil
		default:
			ops = []znode.Op{znode.Set(path, ledger.EncodeOwners(owners.With(owner)), n.Stat.Version)}
		}
		err = w.Multi(ctx, ops)
		changed := errors.Is(err, znode.ErrNodeExists) || errors.Is(err, znode.ErrBadVersion) || errors.Is(err, znode.ErrNoNode)
		switch {
		case err == nil || !changed && !errors.Is(err, zkconn.ErrUnknownOutcome) || ctx.Err() != nil:
			return err
		case changed && try == maxHoldTries:
			return fmt.Errorf("%w: %w", ErrContended, err)
		}
	}
}
