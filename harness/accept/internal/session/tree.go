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
//
// last is the tree that was read before, or nil. If a folder's Stat says that its children
// have not changed since, Tree does not list them again.
func Tree(conn *zk.Conn, root string, last *znode.Tree) (*znode.Tree, error) {
	// After Sync, the server has every write that was confirmed to any session.
	if _, err := conn.Sync(root); err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	r := &reading{conn: conn, root: root, last: last, tree: znode.NewTree(), slots: make(chan struct{}, readers)}
	r.running.Add(1)
	r.visit(root)
	r.running.Wait()
	return r.tree, r.err
}

// reading is one pass over a tree.
type reading struct {
	conn    *zk.Conn
	root    string
	last    *znode.Tree
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
		names, err = r.children(at, stat)
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

// children lists a node's children, unless they have not changed since the last
// pass.
func (r *reading) children(at string, stat *zk.Stat) ([]string, error) {
	if r.last != nil {
		relative := strings.TrimPrefix(at, r.root)
		if n := r.last.Get(relative); n != nil && n.Stat.Czxid == stat.Czxid && n.Stat.Pzxid == stat.Pzxid {
			return r.last.Children(relative), nil
		}
	}
	names, _, err := r.conn.Children(at)
	return names, err
}
