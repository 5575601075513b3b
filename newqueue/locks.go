package newqueue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Lock is the name of a lock or hold under /locks (K1 to K5). [QueueLock],
// [CollectionLock], [StorageLock], [InventoryLock] and [LocalIDLock] make one. The
// zero Lock locks nothing: what is done with it fails with [ErrValue].
type Lock struct {
	kind *lockKind
	name string
}

// lockKind is a folder of locks.
type lockKind struct {
	says      string
	folder    func(Dialect) string
	ephemeral []Dialect // in which such a lock ends with the session that took it
}

func in(folder string) func(Dialect) string { return func(Dialect) string { return folder } }

// In dialect mrt-zk a storage lock stays, because another service finishes the work.
var (
	queueLock      = &lockKind{"queue hold", in(QueueLocksPath), nil}
	collectionLock = &lockKind{"collection hold", in(CollectionLocksPath), nil}
	storageLock    = &lockKind{"storage lock", in(StorageLocksPath), []Dialect{Design}}
	inventoryLock  = &lockKind{"inventory lock", in(InventoryLocksPath), Dialects}
	localIDLock    = &lockKind{"local id lock", Dialect.LocalIDLocksPath, Dialects}
)

// QueueLock is an administrator's hold on a queue (K1). It stays until it is
// released.
func QueueLock(h QueueHold) Lock { return Lock{queueLock, string(h)} }

// CollectionLock is an administrator's hold on a collection (K2). It stays
// until it is released.
func CollectionLock(mnemonic string) Lock { return Lock{collectionLock, mnemonic} }

// StorageLock is a worker's lock on an object's storage (K3). It ends with the
// session. In dialect mrt-zk it stays until it is released.
func StorageLock(ark string) Lock { return Lock{storageLock, lockName(ark)} }

// InventoryLock is a worker's lock on an object's inventory (K4). It ends with
// the session.
func InventoryLock(ark string) Lock { return Lock{inventoryLock, lockName(ark)} }

// LocalIDLock is a worker's lock on an owner's local id (K5). It ends with the
// session.
func LocalIDLock(localID, owner string) Lock { return Lock{localIDLock, lockName(localID + owner)} }

// lockName turns an identifier into a znode's name: each /, and a : before it,
// becomes _ (docs/new-layout.md, "Paths").
func lockName(id string) string { return strings.NewReplacer(":/", "_", "/", "_").Replace(id) }

// String returns the kind of lock and what it locks, for a message.
func (l Lock) String() string {
	if l.kind == nil {
		return "the zero Lock"
	}
	return l.kind.says + " " + l.name
}

// Path is the lock's znode. It is "" for the zero Lock.
func (l Lock) Path(d Dialect) string {
	if l.kind == nil {
		return ""
	}
	return l.kind.folder(d) + "/" + l.name
}

// Ephemeral reports whether the lock ends with the session that took it.
func (l Lock) Ephemeral(d Dialect) bool { return l.kind != nil && slices.Contains(l.kind.ephemeral, d) }

// validate returns an error that wraps [ErrValue] if no lock can have the name.
func (l Lock) validate(d Dialect) error {
	switch err := znode.ValidatePath(l.Path(d)); {
	case l.kind == nil:
		return fmt.Errorf("%w: make a Lock with QueueLock, CollectionLock, StorageLock, InventoryLock or LocalIDLock", ErrValue)
	case l.kind == queueLock && !slices.Contains(QueueHolds, QueueHold(l.name)):
		return fmt.Errorf("%w: expected one of %v", ErrValue, QueueHolds)
	case strings.Contains(l.name, "/"):
		return fmt.Errorf("%w: a / is not allowed in it", ErrValue)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrValue, err)
	}
	return nil
}

// Lock acquires a lock. The error wraps [ErrLocked] if this session or another
// already holds it, and [ErrValue] if no znode can have its name.
func (q *Queue) Lock(ctx context.Context, l Lock) error {
	if err := q.takeLock(ctx, l); err != nil {
		return &opError{"acquire", l.String(), err}
	}
	return nil
}

func (q *Queue) takeLock(ctx context.Context, l Lock) error {
	if err := l.validate(q.dialect); err != nil {
		return err
	}
	path := l.Path(q.dialect)
	if !q.reserve(path) {
		return ErrLocked
	}
	defer q.reserved.Delete(path)
	w := write{ops: []znode.Op{znode.Create(path, empty)}, happened: func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, path)
		if ok && !l.Ephemeral(q.dialect) {
			return false, ErrUnknownOutcome // the znode does not show who created it
		}
		return ok && stat.EphemeralOwner == q.conn.SessionID(), err
	}}
	if l.Ephemeral(q.dialect) {
		// Another goroutine of this session may hold it. After a lost answer,
		// that would look as if this call had taken it.
		if _, taken, err := q.stat(ctx, path); err != nil || taken {
			return cmp.Or(err, ErrLocked)
		}
		w.lock = path
		w.late = func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
			defer cancel()
			_ = q.liftLock(ctx, l) // otherwise it stays until the session ends
		}
	}
	err := q.commit(ctx, w)
	if errors.Is(err, zk.ErrNodeExists) {
		return ErrLocked
	}
	return err
}

// Unlock releases a lock. The error wraps [ErrNotLocked] if it isn't held, or if
// it is ephemeral and another session holds it.
func (q *Queue) Unlock(ctx context.Context, l Lock) error {
	if err := q.liftLock(ctx, l); err != nil {
		return &opError{"release", l.String(), err}
	}
	return nil
}

func (q *Queue) liftLock(ctx context.Context, l Lock) error {
	if err := l.validate(q.dialect); err != nil {
		return err
	}
	path := l.Path(q.dialect)
	stat, ok, err := q.stat(ctx, path)
	if err != nil {
		return err
	}
	if !ok || l.Ephemeral(q.dialect) && stat.EphemeralOwner != q.conn.SessionID() {
		return ErrNotLocked
	}
	err = q.commit(ctx, write{
		ops:      []znode.Op{znode.Delete(path, stat.Version)},
		happened: q.removed(path),
	})
	if isRace(err) {
		return ErrNotLocked
	}
	return err
}

// IsLocked reports whether any session holds a lock. Nobody can hold a collection whose name no
// znode can have: a job's profile may be such a name, and its worker goes on.
func (q *Queue) IsLocked(ctx context.Context, l Lock) (bool, error) {
	if l.kind == collectionLock && !isName(l.name) {
		return false, nil
	}
	if err := l.validate(q.dialect); err != nil {
		return false, &opError{"look at", l.String(), err}
	}
	_, ok, err := q.stat(ctx, l.Path(q.dialect))
	return ok, err
}
