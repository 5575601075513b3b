package session

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"mrtq/internal/znode"
)

// readers is how many requests are under way at the same time while a tree is read.
const readers = 32

// Tree reads everything below root, level by level. Paths are relative to root, which is not in the
// tree. Of each Stat it has what shows that a znode was written.
func Tree(conn *zk.Conn, root string) (*znode.Tree, error) {
	// After Sync, the server has every write that was confirmed to any session.
	if _, err := conn.Sync(root); err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	tree := znode.NewTree()
	for level := []string{root}; len(level) > 0; {
		nodes, names := make([]znode.Node, len(level)), make([][]string, len(level))
		var g errgroup.Group
		g.SetLimit(readers)
		for i, at := range level {
			g.Go(func() error {
				data, stat, err := conn.Get(at)
				if err == nil && stat.NumChildren > 0 {
					names[i], _, err = conn.Children(at)
				}
				if err != nil {
					return fmt.Errorf("read %s: %w", at, err)
				}
				nodes[i] = znode.Node{Path: strings.TrimPrefix(at, root), Data: data, Stat: znode.Stat{
					Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid,
					Version: stat.Version, Aversion: stat.Aversion, EphemeralOwner: stat.EphemeralOwner,
				}}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		var below []string
		for i, n := range nodes {
			if level[i] != root {
				if err := tree.Put(n); err != nil {
					return nil, err
				}
			}
			for _, name := range names[i] {
				below = append(below, level[i]+"/"+name)
			}
		}
		level = below
	}
	return tree, nil
}
