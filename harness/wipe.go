package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"
)

const (
	wipeWorkers = 16   // requests in flight: enough to hide the round trip, few enough for a staging server
	wipeBatch   = 1000 // paths of one transaction at most,
	// and bytes: far below ZooKeeper's packet limit of 1 MiB, because a large
	// transaction can stop a server (apache/zookeeper #412 and #1716).
	wipeBytes = 256 << 10
	// Somebody may still be creating znodes. A few rounds are enough for a
	// worker that is being stopped, but not for one that continues.
	wipeRounds = 5
)

// wipe deletes what is below root ("/" or "/a/b/" with the trailing slash),
// except /zookeeper, which is the server's. root itself stays.
func wipe(ctx context.Context, hosts []string, auth *login, root string) error {
	err := withSession(ctx, hosts, nil, auth, func(conn *zk.Conn) error { return wipeOn(ctx, conn, root) })
	if err != nil {
		return fmt.Errorf("harness: clean %s: %w", root, err)
	}
	return nil
}

// wipeOn is wipe on an open session.
func wipeOn(ctx context.Context, conn *zk.Conn, root string) error {
	var err error
	for range wipeRounds {
		var levels [][]string
		if levels, err = list(ctx, conn, root); err != nil {
			return err
		}
		if len(levels) == 0 {
			return nil
		}
		for i := len(levels) - 1; i >= 0; i-- {
			if err = deleteAll(ctx, conn, levels[i]); err != nil {
				break
			}
		}
		if err != nil && !errors.Is(err, zk.ErrNotEmpty) && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	if err == nil {
		err = errors.New("znodes keep appearing")
	}
	return fmt.Errorf("somebody is writing there: %w", err)
}

// list returns the paths below root, level by level, parents before children.
func list(ctx context.Context, conn *zk.Conn, root string) ([][]string, error) {
	var levels [][]string
	level := []string{root}
	for {
		below, err := children(ctx, conn, level)
		if err != nil || len(below) == 0 {
			return levels, err
		}
		levels = append(levels, below)
		level = below
	}
}

func children(ctx context.Context, conn *zk.Conn, level []string) ([]string, error) {
	found := make([][]string, len(level))
	err := inParallel(ctx, len(level), func(i int) error {
		parent := level[i]
		path := parent
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		names, _, err := conn.Children(path)
		if errors.Is(err, zk.ErrNoNode) && path+"/" != parent {
			return nil // gone meanwhile
		}
		if err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		for _, name := range names {
			child := strings.TrimSuffix(parent, "/") + "/" + name
			if child != "/zookeeper" {
				found[i] = append(found[i], child)
			}
		}
		return nil
	})
	var all []string
	for _, f := range found {
		all = append(all, f...)
	}
	return all, err
}

func deleteAll(ctx context.Context, conn *zk.Conn, paths []string) error {
	batches := split(paths)
	return inParallel(ctx, len(batches), func(i int) error {
		ops := make([]any, len(batches[i]))
		for j, p := range batches[i] {
			ops[j] = &zk.DeleteRequest{Path: p, Version: -1}
		}
		_, err := conn.Multi(ops...)
		if err == nil {
			return nil
		}
		// If one znode is gone, its whole transaction fails. The next round's
		// list will not have it.
		return fmt.Errorf("delete %d znodes from %s on: %w", len(ops), batches[i][0], err)
	})
}

func split(paths []string) [][]string {
	var batches [][]string
	start, size := 0, 0
	for i, p := range paths {
		if i-start == wipeBatch || size+len(p) > wipeBytes && i > start {
			batches = append(batches, paths[start:i])
			start, size = i, 0
		}
		size += len(p)
	}
	return append(batches, paths[start:])
}

// inParallel calls do for 0..n-1 from a few goroutines, and returns the first
// error. After an error, or when ctx is done, it begins no further calls.
func inParallel(ctx context.Context, n int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, wipeWorkers) {
		wg.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}
