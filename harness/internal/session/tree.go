package session

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// readers is how many requests are under way at the same time while a tree is read.
const readers = 32

// Tree reads everything below root. Paths are relative to root, which is not in the tree. Of
// each Stat it has what shows that a znode was written.
func Tree(conn *zk.Conn, root string) (*znode.Tree, error) {
	// After Sync, the server has every write that was confirmed to any session.
	if _, err := conn.Sync(root); err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	r := &reading{conn: conn, root: root, tree: znode.NewTree(), slots: make(chan struct{}, readers)}
	r.running.Add(1)
	r.visit(root)
	r.running.Wait()
	return r.tree, r.err
}

// reading is one pass over a tree.
type reading struct {
	conn    *zk.Conn
	root    string
	slots   chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	tree *znode.Tree
	err  error
}

func (r *reading) visit(at string) {
	defer r.running.Done()
	r.slots <- struct{}{}
	data, stat, err := r.conn.Get(at)
	var names []string
	if err == nil && stat.NumChildren > 0 {
		names, _, err = r.conn.Children(at)
	}
	<-r.slots
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && at != r.root {
		err = r.tree.Put(znode.Node{Path: strings.TrimPrefix(at, r.root), Data: data, Stat: znode.Stat{
			Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid,
			Version: stat.Version, Aversion: stat.Aversion, EphemeralOwner: stat.EphemeralOwner,
		}})
	}
	if err != nil {
		r.err = fmt.Errorf("read %s: %w", at, err)
		return
	}
	for _, name := range names {
		r.running.Add(1)
		go r.visit(at + "/" + name)
	}
}
