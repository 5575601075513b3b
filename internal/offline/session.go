package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/znode"
)

// ownSession owns the ephemeral znodes of this process. They are not written to the
// dump.
const ownSession = 1

// CreateEphemeral creates an ephemeral sequential znode and returns its path. The
// znode is removed before the dump is written.
func (t *Tree) CreateEphemeral(ctx context.Context, prefix string, data []byte, acl []znode.ACL) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", context.Cause(ctx)
	}
	if err := znode.ValidatePath(prefix + "0"); err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return "", t.err
	}
	path := prefix
	err := t.transaction(func(tx stamp) error {
		parent, err := t.get(znode.Parent(prefix + "0"))
		if err != nil {
			return err
		}
		path = fmt.Sprintf("%s%010d", prefix, createsOf(parent.stat))
		return t.create(tx, znode.Op{Kind: znode.OpCreate, Path: path, Data: data, ACL: acl}, ownSession)
	})
	if err != nil {
		return "", fmt.Errorf("create %s: %w", path, err)
	}
	t.own = append(t.own, path)
	return path, nil
}

// endSession removes the ephemeral znodes of this process.
func (t *Tree) endSession() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil || len(t.own) == 0 {
		return t.err
	}
	var left []znode.Op
	slices.Sort(t.own)
	for _, path := range t.own {
		_, there, err := t.look(path)
		if err != nil {
			return err
		}
		if there {
			left = append(left, znode.Delete(path, -1))
		}
	}
	t.own = nil
	if len(left) == 0 {
		return nil
	}
	return t.transaction(func(tx stamp) error {
		for _, op := range left {
			if err := t.delete(tx, op); err != nil {
				return err
			}
		}
		return nil
	})
}

// errAlone says that a znode would never be removed, because no other client exists.
var errAlone = errors.New("no other process works on the file, so nothing will remove it")

// WaitGone returns at once if the znode does not exist. Otherwise it is an error,
// because no other client can remove it.
func (t *Tree) WaitGone(ctx context.Context, path string) error {
	_, there, err := t.Exists(ctx, path)
	if err == nil && there {
		err = fmt.Errorf("wait for the end of %s: %w", path, errAlone)
	}
	return err
}

// Sync does nothing, because every read is current.
func (t *Tree) Sync(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
