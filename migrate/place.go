package migrate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// ErrPlace says that the new queue can't be where the target is.
var ErrPlace = errors.New("the new queue can't be there")

// CheckTargetPlace refuses a target whose chroot is in ZooKeeper's own subtree, or is a
// legacy queue's znode or below one, even if that queue is not the source. It writes
// nothing, and the chroot need not exist. The error wraps [ErrPlace].
func CheckTargetPlace(ctx context.Context, target *zkconn.Reader) error {
	chroot := chrootOf(target)
	if znode.Within(chroot, "/zookeeper") {
		return fmt.Errorf("%w: %s is ZooKeeper's own", ErrPlace, chroot)
	}
	server := target.Outside()
	for at := chroot; ; at = znode.Parent(at) {
		name := znode.Name(at)
		if _, err := legacy.ParseKey(name); err == nil {
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
		for _, child := range names {
			if _, err := legacy.ParseKey(child); err == nil {
				return fmt.Errorf("%w: %s is a legacy queue's own znode: it holds the record %s; give the new queue a chroot of its own", ErrPlace, at, child)
			}
		}
		if at == "/" {
			return nil
		}
	}
}

// legacyLocksName is the usual name of the znode that holds the legacy locks. The names
// of its children don't show what they are (docs/legacy-format.md, "Where the records are").
const legacyLocksName = "mrt.lock"

// CheckPlaces refuses a target that is one of the source's legacy queues, contains one or
// is inside one. It also does what [CheckTargetPlace] does. The error wraps [ErrPlace].
//
// The znodes show whether both sides are on one server: if a queue's znode has the same
// path on both, and was created in the same transaction and millisecond, it is the same
// znode. It could also be an exact copy, which is refused too.
func CheckPlaces(ctx context.Context, source, target *zkconn.Reader, queues Queues) error {
	if err := CheckTargetPlace(ctx, target); err != nil {
		return err
	}
	same := false
	for _, root := range queues.Roots() {
		at := path.Join(chrootOf(source), root)
		here, there, err := statsOf(ctx, source.Outside(), target.Outside(), at)
		if err != nil {
			return err
		}
		same = same || here != (znode.Stat{}) && here.Czxid == there.Czxid && here.Ctime == there.Ctime
	}
	if !same {
		return nil
	}
	for _, root := range queues.Roots() {
		at := path.Join(chrootOf(source), root)
		if chroot := chrootOf(target); znode.Within(chroot, at) {
			return fmt.Errorf("%w: %s is the legacy queue's %s on the same server, or is below it; give the new queue a chroot of its own", ErrPlace, chroot, at)
		}
		for _, own := range targetRoots {
			if of := path.Join(chrootOf(target), own); znode.Within(at, of) || znode.Within(of, at) {
				return fmt.Errorf("%w: its %s and the legacy queue's %s overlap on the same server; give the new queue a chroot of its own", ErrPlace, of, at)
			}
		}
	}
	return nil
}

// checkPlace refuses a target where the new queue can't be, before anything is written.
// It does not look at the source.
func (t *Target) checkPlace(ctx context.Context) error {
	if on, ok := t.Backend.(online); ok {
		return CheckTargetPlace(ctx, &on.Reader)
	}
	names, err := t.Children(ctx, "/")
	if err != nil {
		return err
	}
	return checkNames(names)
}

// checkPlaces refuses a target where the new queue can't be. Of a dump or a tree in
// memory it looks only at the top.
func checkPlaces(ctx context.Context, q *LegacyQueue, target side.Side) error {
	on, source := side.Server(target), side.Server(q.side)
	switch {
	case on == nil:
		return CheckPlacesInFile(ctx, target)
	case source == nil:
		return CheckTargetPlace(ctx, on)
	}
	return CheckPlaces(ctx, source, on, q.Queues)
}

// checkBeside refuses a target that is where the source is. They can overlap only if both
// are on servers.
func (t *Target) checkBeside(ctx context.Context, q *LegacyQueue) error {
	on, ok := t.Backend.(online)
	source := side.Server(q.side)
	if !ok || source == nil {
		return nil
	}
	return CheckPlaces(ctx, source, &on.Reader, q.Queues)
}

func chrootOf(r *zkconn.Reader) string {
	if chroot := r.Address().Chroot; chroot != "" {
		return chroot
	}
	return "/"
}

// statsOf are the Stats of one path on two servers. A Stat is zero if the path is not
// there.
func statsOf(ctx context.Context, a, b *zkconn.Reader, path string) (onA, onB znode.Stat, err error) {
	if onA, _, err = a.Exists(ctx, path); err != nil {
		return onA, onB, err
	}
	onB, _, err = b.Exists(ctx, path)
	return onA, onB, err
}

// CheckPlacesInFile is [CheckTargetPlace] for a target that is a dump.
func CheckPlacesInFile(ctx context.Context, file side.Side) error {
	names, err := childrenOf(ctx, file, "/")
	if err != nil {
		return err
	}
	return checkNames(names)
}

// checkNames refuses a file whose root is a legacy queue's own znode.
func checkNames(names []string) error {
	for _, child := range names {
		if _, err := legacy.ParseKey(child); err == nil {
			return fmt.Errorf("%w: it is a legacy queue's own znode: it holds the record %s; give the new queue a file of its own", ErrPlace, child)
		}
	}
	return nil
}
