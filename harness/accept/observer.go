package accept

import (
	"encoding/json"
	"fmt"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// observer is the second connection. It writes what a scenario starts from, and
// reads the result. It does not use the code under test.
type observer struct {
	conn *zk.Conn
	acl  []zk.ACL // of the znodes that it creates
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
