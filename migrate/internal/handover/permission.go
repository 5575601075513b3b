package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/migration"
)

// ErrNoPermission says that the session may not change the legacy queue.
var ErrNoPermission = errors.New("the legacy queue can't be changed")

// MayHandOver tries whether the session may do what a release and a rollback do with legacy records: delete
// and create them, and create znodes beside them. Each try ends with a check that no server passes, so nothing is
// written. The error wraps [ErrNoPermission] and names the znode and its ACL.
func MayHandOver(ctx context.Context, src *source.Source, dst *zkconn.Writer, origin migration.Origin) error {
	fails := znode.Outside(znode.Check("/", math.MaxInt32))[0]
	try := func(op znode.Op) (bool, error) {
		err := dst.Multi(ctx, []znode.Op{znode.Outside(op)[0], fails})
		var refused *znode.MultiError
		switch {
		case errors.As(err, &refused):
			return refused.Index > 0 || !errors.Is(refused.Err, zkconn.ErrNoAuth), nil
		case errors.Is(err, zkconn.ErrUnknownOutcome) && ctx.Err() == nil, errors.Is(err, zkconn.ErrThrottled):
			return true, nil // it can't have been done; the next write finds out
		}
		return true, err
	}
	var why error
	refuse := func(do, path string, acl []znode.ACL) {
		why = reasons.Join(why, fmt.Errorf("%w: the session may not %s %s, whose ACL is %s", ErrNoPermission, do, path, znode.PublicACL(acl)))
	}
	for _, n := range src.Nodes {
		path := origin.Path(n.Path)
		ops := []znode.Op{znode.Create(znode.Join(path, "mrtq-try"), []byte{})}
		if len(n.Names) > 0 {
			ops = append(ops, znode.Delete(znode.Join(path, n.Names[0]), -1))
		}
		var not []string
		for i, op := range ops {
			may, err := try(op)
			if err != nil {
				return err
			}
			if !may {
				not = append(not, []string{"create", "delete"}[i])
			}
		}
		if len(not) > 0 {
			refuse(strings.Join(not, " and ")+" records in", path, n.ACL)
		}
	}
	parent, name := origin.Chroot, migration.KeptRoot
	_, there, err := dst.WithChroot("/").Exists(ctx, znode.Join(parent, name))
	if err != nil {
		return err
	}
	if there { // of another run, perhaps of another target
		parent, name = znode.Join(parent, name), "mrtq-try"
	}
	may, err := try(znode.Create(znode.Join(parent, name), []byte{}))
	if err == nil && !may {
		acl, _ := dst.WithChroot("/").ACL(ctx, parent)
		refuse("create "+name+" in", parent, acl)
	}
	return cmp.Or(err, why)
}
