package accept

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// observer is the second connection. It writes what a scenario starts from, and
// reads the result. It does not use the code under test.
type observer struct {
	conn *zk.Conn
	acl  []zk.ACL // of the znodes that it creates
}

// readers is how many requests are under way at the same time while a tree is read.
const readers = 32

// tree reads everything at and below root. Paths are relative to root. last is the
// tree that was read before, or nil. If a folder's Stat says that its children have
// not changed since, tree does not list them again.
func (d observer) tree(root string, last *znode.Tree) (*znode.Tree, error) {
	// After Sync, the server has every write that was confirmed to any session.
	if _, err := d.conn.Sync(root); err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	r := &reading{conn: d.conn, root: root, last: last, tree: znode.NewTree(), slots: make(chan struct{}, readers)}
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
			Czxid: stat.Czxid, Mzxid: stat.Mzxid, Pzxid: stat.Pzxid, Version: stat.Version, EphemeralOwner: stat.EphemeralOwner,
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
	relative := strings.TrimPrefix(at, r.root)
	if n := r.last.Get(relative); n != nil && n.Stat.Czxid == stat.Czxid && n.Stat.Pzxid == stat.Pzxid {
		return r.last.Children(relative), nil
	}
	names, _, err := r.conn.Children(at)
	return names, err
}

// write creates znodes in one transaction, with the missing folders above them. tree
// is what exists: write sets the data of znodes that are in it. If tree is empty,
// write returns the new tree, because it then needs to read only the transaction's
// zxid. Otherwise it returns nil.
func (d observer) write(root string, tree *znode.Tree, nodes ...znode.Node) (made *znode.Tree, err error) {
	var ops []any
	tree = tree.Clone()
	first := len(tree.Children("/")) == 0
	add := func(at string, data []byte) error {
		if tree.Get(at) != nil {
			first = false
			ops = append(ops, &zk.SetDataRequest{Path: root + at, Data: data, Version: -1})
			return nil
		}
		ops = append(ops, &zk.CreateRequest{Path: root + at, Data: data, Acl: d.acl})
		return tree.Put(znode.Node{Path: at, Data: data})
	}
	for _, n := range nodes {
		for i, c := range n.Path {
			if folder := n.Path[:i]; c == '/' && i > 0 && tree.Get(folder) == nil {
				if err := add(folder, []byte{}); err != nil {
					return nil, err
				}
			}
		}
		if err := add(n.Path, n.Data); err != nil {
			return nil, err
		}
	}
	if _, err := d.conn.Multi(ops...); err != nil {
		return nil, fmt.Errorf("write %d znodes: %w", len(nodes), err)
	}
	if !first {
		return nil, nil
	}
	_, stat, err := d.conn.Exists(root)
	if err != nil {
		return nil, fmt.Errorf("read the time of %d written znodes: %w", len(nodes), err)
	}
	for n := range tree.All("/") {
		if n.Path == "/" {
			continue // the chroot itself is never compared
		}
		n.Stat = znode.Stat{Czxid: stat.Pzxid, Mzxid: stat.Pzxid, Pzxid: stat.Pzxid}
	}
	return tree, nil
}

// remove deletes a scenario's chroot. tree is what was last read of it. remove sends
// one request and ignores the answer, because the end of the run removes everything
// that is left.
func (d observer) remove(root string, tree *znode.Tree) {
	var ops []any
	for n := range tree.All("/") {
		ops = append(ops, &zk.DeleteRequest{Path: strings.TrimSuffix(root+n.Path, "/"), Version: -1})
	}
	slices.Reverse(ops) // children first
	_, _ = d.conn.Multi(ops...)
}

// object is a JSON object that a znode holds.
type object map[string]any

// parse returns the object in data, or nil if there is none.
func parse(data []byte) object {
	var o object
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// bytes returns the object as JSON.
func (o object) bytes() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings, numbers and lists of strings can always be written
	}
	return b
}
