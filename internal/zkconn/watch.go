package zkconn

import "mrtq/internal/jute"

// setWatch sets the watch of an answered request, if it has one, on whether a znode exists and
// on its data. The watch fires when that changes, or when the connection is lost, because a
// change may be missed then: its channel is closed. The caller holds c.mu. Events come after the
// answer, and the same goroutine reads both. So it misses none.
func (c *conn) setWatch(r *call) {
	if r.watch == "" || r.code != jute.OK && r.code != jute.NoNode {
		return
	}
	if c.watches[r.watch] == nil {
		c.watches[r.watch] = make(chan struct{})
	}
	r.fired = c.watches[r.watch]
}

// fire fires the watch that an event is for.
func (c *conn) fire(e jute.WatcherEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fired := c.watches[e.Path]; fired != nil {
		close(fired)
		delete(c.watches, e.Path)
	}
}
