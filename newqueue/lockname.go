package newqueue

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Lock is the name of a lock or hold under /locks (K1 to K5). [QueueLock],
// [CollectionLock], [StorageLock], [InventoryLock] and [LocalIDLock] make one. The
// zero Lock locks nothing: what is done with it fails with [ErrValue].
type Lock struct {
	kind *lockKind
	name string
}

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

// QueueLock returns an administrator's hold on a queue (K1). It stays until it is
// released.
func QueueLock(h QueueHold) Lock { return Lock{queueLock, string(h)} }

// CollectionLock returns an administrator's hold on a collection (K2). It stays
// until it is released.
func CollectionLock(mnemonic string) Lock { return Lock{collectionLock, mnemonic} }

// StorageLock returns a worker's lock on an object's storage (K3). It ends with the
// session. In dialect mrt-zk it stays until it is released.
func StorageLock(ark string) Lock { return Lock{storageLock, lockName(ark)} }

// InventoryLock returns a worker's lock on an object's inventory (K4). It ends with
// the session.
func InventoryLock(ark string) Lock { return Lock{inventoryLock, lockName(ark)} }

// LocalIDLock returns a worker's lock on an owner's local id (K5). It ends with the
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

// Path returns the lock's znode. It is "" for the zero Lock.
func (l Lock) Path(d Dialect) string {
	if l.kind == nil {
		return ""
	}
	return l.kind.folder(d) + "/" + l.name
}

// Ephemeral reports whether the lock ends with the session that took it.
func (l Lock) Ephemeral(d Dialect) bool { return l.kind != nil && slices.Contains(l.kind.ephemeral, d) }

// Validate returns an error that wraps [ErrValue] if no lock can have the name.
func (l Lock) Validate(d Dialect) error {
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
