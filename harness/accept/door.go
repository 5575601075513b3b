package accept

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// door is the second connection: it writes what a scenario starts from and
// reads what has become of it, and knows nothing of the code under test.
type door struct {
	conn *zkconn.Session
	acl  []zk.ACL // of what it writes
}

// readers is how many requests are on their way at once when a tree is read.
const readers = 32

// tree reads everything at and below root; paths are relative to it. last is
// what was seen before, if anything was: a folder whose children have not
// changed since, by its own Stat, isn't listed again.
func (d door) tree(root string, last *znode.Tree) (*znode.Tree, error) {
	// The server that answers has seen all that any session was told.
	if _, err := d.conn.Sync(root); err != nil {
		return nil, fmt.Errorf("look at the tree: %w", err)
	}
	r := &reading{conn: d.conn, root: root, last: last, tree: znode.NewTree(), slots: make(chan struct{}, readers)}
	r.running.Add(1)
	r.visit(root)
	r.running.Wait()
	return r.tree, r.err
}

// reading is one look at a tree.
type reading struct {
	conn    *zkconn.Session
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
		r.err = fmt.Errorf("look at %s: %w", at, err)
		return
	}
	for _, name := range names {
		r.running.Add(1)
		go r.visit(at + "/" + name)
	}
}

// children lists them, unless they are those of the last look.
func (r *reading) children(at string, stat *zk.Stat) ([]string, error) {
	relative := strings.TrimPrefix(at, r.root)
	if n := r.last.Get(relative); n != nil && n.Stat.Czxid == stat.Czxid && n.Stat.Pzxid == stat.Pzxid {
		return r.last.Children(relative), nil
	}
	names, _, err := r.conn.Children(at)
	return names, err
}

// write makes znodes in one transaction, with the folders above them that are
// missing in tree, which is what there is; those that are there are set. When
// there was nothing, it returns the tree that there is now: what one transaction
// has made needn't be looked at, but for when that was.
func (d door) write(root string, tree *znode.Tree, nodes ...znode.Node) (made *znode.Tree, err error) {
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
		return nil, fmt.Errorf("look when %d znodes were written: %w", len(nodes), err)
	}
	for n := range tree.All("/") {
		if n.Path == "/" {
			continue // the chroot itself is never compared
		}
		n.Stat = znode.Stat{Czxid: stat.Pzxid, Mzxid: stat.Pzxid, Pzxid: stat.Pzxid}
	}
	return tree, nil
}

// remove deletes a scenario's chroot, of which tree is what was seen last. It
// takes one request and no answer: what is there after all, or can't be deleted
// now, goes with everything else when the run is over.
func (d door) remove(root string, tree *znode.Tree) {
	var ops []any
	for n := range tree.All("/") {
		ops = append(ops, &zk.DeleteRequest{Path: strings.TrimSuffix(root+n.Path, "/"), Version: -1})
	}
	slices.Reverse(ops) // children first
	_, _ = d.conn.Multi(ops...)
}

// object is what a znode that holds JSON holds.
type object map[string]any

// parse reads an object; nil when data is none.
func parse(data []byte) object {
	var o object
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// bytes spells an object.
func (o object) bytes() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts, numbers and lists of texts always can be spelled
	}
	return b
}
