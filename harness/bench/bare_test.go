package bench

import (
	"context"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"mrtq/internal/znode"
)

const (
	// readsUnderWay and multisUnderWay are how many requests are under way at the
	// same time: enough to keep a server busy. Multis are large, and more of them
	// made a JVM slower: of 1, 4, 16 and 64, 16 was the fastest.
	readsUnderWay  = 64
	multisUnderWay = 16
	// operations is how many creates one multi has.
	operations = 500
)

func concurrently[T any](ctx context.Context, underWay int, all []T, do func(T) error) error {
	g, failed := errgroup.WithContext(ctx)
	g.SetLimit(underWay)
	for _, one := range all {
		if failed.Err() != nil {
			break
		}
		g.Go(func() error { return do(one) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx) // then not all were done
}

// bareRead reads each znode once, and does nothing else.
func bareRead(ctx context.Context, conn *zk.Conn, paths []string, acls bool) error {
	return concurrently(ctx, readsUnderWay, paths, func(path string) error {
		_, _, err := conn.Get(path)
		if err == nil && acls {
			_, _, err = conn.GetACL(path)
		}
		return err
	})
}

// bareLoad creates the znodes of a tree in a new chroot, in multis, and does nothing else. It
// creates all znodes of one depth before the deeper ones, because those need their parents.
func bareLoad(ctx context.Context, conn *zk.Conn, tree *znode.Tree, to string) error {
	depths := map[int][]any{}
	for n := range tree.All("/") {
		path := strings.TrimSuffix(to+n.Path, "/")
		depth := strings.Count(path, "/")
		depths[depth] = append(depths[depth], &zk.CreateRequest{Path: path, Data: n.Data, Acl: zk.WorldACL(zk.PermAll)})
	}
	var err error
	for depth := 1; err == nil && len(depths[depth]) > 0; depth++ {
		err = concurrently(ctx, multisUnderWay, slices.Collect(slices.Chunk(depths[depth], operations)), func(ops []any) error {
			_, err := conn.Multi(ops...)
			return err
		})
	}
	return err
}
