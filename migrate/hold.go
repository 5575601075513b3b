package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
)

// HoldOptions are the options of a hold.
type HoldOptions struct {
	Queues      []newqueue.QueueHold // to hold; none means all, unless there are Collections
	Collections []string             // to hold
	By          string               // who holds them
	Why         string
	ACL         []ACL            // of new holds; nil is open to all
	Now         func() time.Time // nil: time.Now
}

// Held is what Hold did.
type Held struct {
	Held []string `json:"held"` // the holds that By is an owner of now
}

// Hold holds queues or collections. A hold that is there already gets one more owner. The
// error wraps [ErrNoQueue] if there is no new queue, or comes from the server.
func Hold(ctx context.Context, w *Writer, opt HoldOptions) (*Held, error) {
	there, err := w.GetAll(ctx, []string{newqueue.JobsPath, newqueue.LocksPath, newqueue.QueueLocksPath, newqueue.CollectionLocksPath}, nil)
	if err != nil {
		return nil, cancelled(err)
	}
	if len(there) == 0 {
		return nil, fmt.Errorf("%w: it has neither %s nor %s", ErrNoQueue, newqueue.JobsPath, newqueue.LocksPath)
	}
	for _, c := range opt.Collections {
		if c == "" || strings.Contains(c, "/") || znode.ValidatePath("/"+c) != nil {
			return nil, fmt.Errorf("%q is no collection: its mnemonic can't be a znode's name", c)
		}
	}
	owner := ledger.Owner{By: opt.By, At: now(opt.Now), Why: opt.Why}
	held := &Held{Held: []string{}}
	for _, path := range holdPaths(opt) {
		for _, parent := range []string{newqueue.LocksPath, znode.Parent(path)} {
			if err := apply.Ensure(ctx, w, parent, opt.ACL); err != nil {
				return held, cancelled(err)
			}
		}
		err := update(ctx, w, path, opt.ACL, func(data []byte, there bool) []byte {
			var owners ledger.Owners
			if there {
				owners = ledger.ParseOwners(data)
			}
			if owners.Has(owner.By) {
				return nil
			}
			return ledger.EncodeOwners(owners.With(owner))
		})
		if err != nil {
			return held, cancelled(err)
		}
		held.Held = append(held.Held, path)
	}
	return held, nil
}

// holdPaths are the znodes of the holds that the options name.
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

// update changes the data of a znode, or creates it. change returns the new data; nil if
// nothing is to be done. If another client changes the znode at the same time, or the
// answer is lost, update looks again.
func update(ctx context.Context, w *Writer, path string, acl []ACL, change func(data []byte, there bool) []byte) error {
	for {
		n, err := w.Get(ctx, path)
		there := !errors.Is(err, znode.ErrNoNode)
		if err != nil && there {
			return err
		}
		data := change(n.Data, there)
		if data == nil {
			return nil
		}
		op := znode.Set(path, data, n.Stat.Version)
		if !there {
			op = znode.Op{Kind: znode.OpCreate, Path: path, Data: data, ACL: acl}
		}
		err = w.Multi(ctx, []znode.Op{op})
		changed := errors.Is(err, znode.ErrNodeExists) || errors.Is(err, znode.ErrBadVersion) || errors.Is(err, znode.ErrNoNode)
		if err == nil || !changed && !errors.Is(err, zkconn.ErrUnknownOutcome) || ctx.Err() != nil {
			return err
		}
	}
}
