package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// ErrPlace says that the new queue can't be where the target is.
var ErrPlace = errors.New("the new queue can't be there")

var roots = []string{
	newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.AccessPath, newqueue.LocksPath, ledger.MigrationPath,
}

// CheckChroot refuses a target in a subtree where no new queue can be: ZooKeeper's own, or that of records that were handed
// over. The error wraps [ErrPlace].
func CheckChroot(chroot string) error {
	if znode.Within(chroot, "/zookeeper") {
		return fmt.Errorf("%w: %s is ZooKeeper's own", ErrPlace, chroot)
	}
	for at := chroot; at != "/"; at = znode.Parent(at) {
		if znode.Name(at) == migration.KeptRoot {
			return fmt.Errorf("%w: %s is for the bytes of records that were handed over; give the new queue a place of its own", ErrPlace, at)
		}
	}
	return nil
}

// CheckPlace does what [CheckChroot] does. It also refuses a target whose chroot is a legacy
// queue's znode or below one, even if that queue is not the source. It writes nothing, and
// the chroot need not exist. The error wraps [ErrPlace].
func CheckPlace(ctx context.Context, target *zkconn.Reader) error {
	chroot := chrootOf(target)
	if err := CheckChroot(chroot); err != nil {
		return err
	}
	server := target.WithChroot("/")
	for at := chroot; ; at = znode.Parent(at) {
		name := znode.Name(at)
		if isRecord(name) {
			return fmt.Errorf("%w: %s is a legacy record, or is named like one", ErrPlace, at)
		}
		if name == legacyLocksName {
			return fmt.Errorf("%w: %s holds legacy locks", ErrPlace, at)
		}
		names, err := server.Children(ctx, at)
		if err != nil && !errors.Is(err, znode.ErrNoNode) && !errors.Is(err, zkconn.ErrNoAuth) {
			return err
		}
		slices.Sort(names)
		if i := slices.IndexFunc(names, isRecord); i >= 0 {
			return fmt.Errorf("%w: %s is a legacy queue's own znode: it holds the record %s; give the new queue a place of its own", ErrPlace, at, names[i])
		}
		if at == "/" {
			return nil
		}
	}
}

func isRecord(name string) bool {
	_, err := legacy.ParseKey(name)
	return err == nil
}

// legacyLocksName is the usual name of the znode that holds the legacy locks. The names
// of its children don't show what they are (docs/legacy-format.md, "Where the records are").
const legacyLocksName = "mrt.lock"

// CheckPlaces refuses a target that is one of the source's legacy queues, contains one or
// is inside one. It also does what [CheckPlace] does. The error wraps [ErrPlace].
//
// The znodes show whether both sides are on one server: if a queue's znode has the same
// path on both, and was created in the same transaction and millisecond, it is the same
// znode. It could also be an exact copy, which is refused too.
func CheckPlaces(ctx context.Context, source, target *zkconn.Reader, queues migration.Queues) error {
	if err := CheckPlace(ctx, target); err != nil {
		return err
	}
	legacyRoots := queues.Roots()
	for i, root := range legacyRoots {
		legacyRoots[i] = path.Join(chrootOf(source), root)
	}
	same, err := sameServer(ctx, source, target, legacyRoots)
	if err != nil || !same {
		return err
	}
	chroot := chrootOf(target)
	for _, at := range legacyRoots {
		if znode.Within(chroot, at) {
			return fmt.Errorf("%w: %s is the legacy queue's %s on the same server, or is below it; give the new queue a chroot of its own", ErrPlace, chroot, at)
		}
		for _, own := range roots {
			if of := path.Join(chroot, own); znode.Within(at, of) || znode.Within(of, at) {
				return fmt.Errorf("%w: its %s and the legacy queue's %s overlap on the same server; give the new queue a chroot of its own", ErrPlace, of, at)
			}
		}
	}
	return nil
}

// sameServer reports whether one of the paths is the same znode on both sides.
func sameServer(ctx context.Context, source, target *zkconn.Reader, paths []string) (bool, error) {
	for _, at := range paths {
		here, there, err := source.WithChroot("/").Exists(ctx, at)
		if err != nil {
			return false, err
		}
		if !there {
			continue
		}
		other, there, err := target.WithChroot("/").Exists(ctx, at)
		if err != nil {
			return false, err
		}
		if there && here.Czxid == other.Czxid && here.Ctime == other.Ctime {
			return true, nil
		}
	}
	return false, nil
}

func chrootOf(r *zkconn.Reader) string { return cmp.Or(r.Address().Chroot, "/") }
