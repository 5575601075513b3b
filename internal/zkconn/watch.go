package zkconn

import (
	"context"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Watch is a ZooKeeper watch. It fires when what it watches changes, or when the
// connection is lost, because a change may be missed then. Read again, and set another
// watch. The zero Watch never fires.
type Watch struct{ fired <-chan struct{} }

// Set reports whether the watch was set.
func (w Watch) Set() bool { return w.fired != nil }

// Fired reports whether the watch has fired, or its session is over.
func (w Watch) Fired() bool {
	select {
	case <-w.fired:
		return true
	default:
		return false
	}
}

// watched is what a watch is set on: a znode's children, or whether it exists and its data.
type watched struct {
	path     string // on the server
	children bool
}

// setWatch sets the watch of an answered request, if it has one. The caller holds c.mu.
// Events come after the answer, and the same goroutine reads both. So it misses none.
func (c *conn) setWatch(r *call) {
	isSet := r.code == jute.OK || r.code == jute.NoNode && !r.watch.children
	if r.watch.path == "" || !isSet {
		return
	}
	if c.watches[r.watch] == nil {
		c.watches[r.watch] = make(chan struct{})
	}
	r.fired = c.watches[r.watch]
}

// fire fires the watches that an event is for.
func (c *conn) fire(e jute.WatcherEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, children := range []bool{true, false} {
		on := watched{e.Path, children}
		if fired := c.watches[on]; fired != nil && (e.Type == jute.EventDeleted || children == (e.Type == jute.EventChildrenChanged)) {
			close(fired)
			delete(c.watches, on)
		}
	}
}

// ChildrenW is [Reader.Children] with the node's Stat and a watch on both: it
// fires when a child is created or deleted, and when the node itself is
// deleted.
func (r *Reader) ChildrenW(ctx context.Context, path string) ([]string, znode.Stat, Watch, error) {
	a, err := r.read(ctx, jute.OpGetChildren2, path, true)
	if err != nil {
		return nil, znode.Stat{}, Watch{}, err
	}
	d := jute.NewDecoder(a.body)
	names, stat := r.named(path, d.Strings("children")), znode.Stat(d.Stat())
	return names, stat, Watch{a.fired}, d.Err()
}

// ExistsW is [Reader.Exists] with a watch: it fires when the node is created or
// deleted, or when its data changes.
func (r *Reader) ExistsW(ctx context.Context, path string) (znode.Stat, bool, Watch, error) {
	return r.exists(ctx, path, true)
}
