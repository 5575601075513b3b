package migrate

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// aclSample is how many ACLs [ReadACLs] reads unless it is to read all: enough
// to notice that a whole queue or folder was given another.
const aclSample = 200

// aclsInFlight is how many requests are under way at once.
const aclsInFlight = 64

// ReadACLs reads ACLs of a target's znodes into its tree, which [Verify] then
// compares: those of the runs' records, the election and holds, and of the rest a sample that
// is spread evenly, or all. An ACL that may not be read stays unknown.
func ReadACLs(ctx context.Context, r *zkconn.Reader, tree *znode.Tree, all bool) error {
	var paths []string
	for _, root := range targetRoots {
		paths = append(paths, tree.Paths(root)...)
	}
	step := 1
	if !all {
		step = max(len(paths)/aclSample, 1)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(aclsInFlight)
	for i, path := range paths {
		if parent := znode.Parent(path); i%step != 0 && parent != RunsPath && parent != newqueue.QueueLocksPath && path != ElectionPath {
			continue
		}
		n := tree.Get(path)
		g.Go(func() error {
			acl, err := r.ACL(ctx, path)
			switch {
			case err == nil:
				n.ACL = acl
			case errors.Is(err, znode.ErrNoNode), errors.Is(err, zkconn.ErrNoAuth):
			default:
				return err
			}
			return nil
		})
	}
	return g.Wait()
}
