package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// door is the second connection: it writes what a scenario starts from and
// reads what has become of it, and knows nothing of the code under test.
type door struct{ conn *zk.Conn }

// readers is how many requests are on their way at once when a tree is read.
const readers = 32

// tree reads everything at and below root; paths are relative to it.
func (d door) tree(root string) (*znode.Tree, error) {
	// The server that answers has seen all that any session was told.
	if _, err := d.conn.Sync(root); err != nil {
		return nil, fmt.Errorf("look at the tree: %w", err)
	}
	r := &reading{conn: d.conn, root: root, tree: znode.NewTree(), slots: make(chan struct{}, readers)}
	r.running.Add(1)
	r.visit(root)
	r.running.Wait()
	return r.tree, r.err
}

// reading is one look at a tree.
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
			Czxid: stat.Czxid, Mzxid: stat.Mzxid, Version: stat.Version, EphemeralOwner: stat.EphemeralOwner,
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

// write makes znodes in one transaction, with the folders above them that are
// missing in tree, which is what there is; those that are there are set.
func (d door) write(root string, tree *znode.Tree, nodes ...znode.Node) error {
	var ops []any
	tree = tree.Clone()
	add := func(at string, data []byte) error {
		if tree.Get(at) != nil {
			ops = append(ops, &zk.SetDataRequest{Path: root + at, Data: data, Version: -1})
			return nil
		}
		ops = append(ops, &zk.CreateRequest{Path: root + at, Data: data, Acl: zk.WorldACL(zk.PermAll)})
		return tree.Put(znode.Node{Path: at, Data: data})
	}
	for _, n := range nodes {
		for i, c := range n.Path {
			if folder := n.Path[:i]; c == '/' && i > 0 && tree.Get(folder) == nil {
				if err := add(folder, []byte{}); err != nil {
					return err
				}
			}
		}
		if err := add(n.Path, n.Data); err != nil {
			return err
		}
	}
	if _, err := d.conn.Multi(ops...); err != nil {
		return fmt.Errorf("write %d znodes: %w", len(nodes), err)
	}
	return nil
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

// dialTimeout bounds how long a session may take to open.
const dialTimeout = 20 * time.Second

// sessionTimeout is long: whoever is to die in a scenario closes its session.
const sessionTimeout = 20 * time.Second

type silent struct{}

func (silent) Printf(string, ...any) {}

// connect opens a session.
func connect(ctx context.Context, address string) (*zk.Conn, error) {
	hosts, _, _ := strings.Cut(address, "/")
	conn, events, err := zk.Connect(strings.Split(hosts, ","), sessionTimeout, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", hosts, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errors.New("no session in time"))
	defer cancel()
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, fmt.Errorf("connect to %s: %w", hosts, context.Cause(ctx))
		}
	}
}
