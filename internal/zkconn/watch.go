package zkconn

import (
	"context"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Watch is a ZooKeeper watch. It fires once: when what it watches changes, or after a
// reconnection. After a reconnection the client library sets its watches again, and the
// server reports what changed since the last answer on the old connection. But if the new
// connection breaks before that, the client can miss a change. The zero Watch never fires.
type Watch struct {
	event <-chan zk.Event
	again <-chan struct{} // see [session.reconnected]
}

// Set reports whether the watch was set.
func (w Watch) Set() bool { return w.event != nil }

// Fired reports, once, whether the watch has fired or its session is over.
func (w Watch) Fired() bool {
	select {
	case <-w.event:
		return true
	case <-w.again:
		return true
	default:
		return false
	}
}

// wait waits until the watch fires, or ctx or the session ends.
func (w Watch) wait(ctx context.Context, s *session) error {
	select {
	case <-w.event:
	case <-w.again:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.over:
		return s.fatal
	}
	return nil
}

// ChildrenW is [Reader.Children] with the node's Stat and a watch on both: it
// fires when a child is created or deleted, and when the node itself is
// deleted.
func (r *Reader) ChildrenW(ctx context.Context, path string) ([]string, znode.Stat, Watch, error) {
	// These are not results of this function, because a call that was given up
	// may still set them.
	var names []string
	var stat *zk.Stat
	var event <-chan zk.Event
	again := r.s.reconnected()
	err := r.read(ctx, "list", path, func(abs string) (err error) {
		names, stat, event, err = r.s.conn.ChildrenW(abs)
		return err
	})
	if err != nil {
		return nil, znode.Stat{}, Watch{}, err
	}
	return names, fromStat(stat), Watch{event, again}, nil
}

// ExistsW is [Reader.Exists] with a watch: it fires when the node is created or
// deleted, or when its data changes.
func (r *Reader) ExistsW(ctx context.Context, path string) (znode.Stat, bool, Watch, error) {
	var there bool
	var stat *zk.Stat
	var event <-chan zk.Event
	again := r.s.reconnected()
	err := r.read(ctx, "watch", path, func(abs string) (err error) {
		there, stat, event, err = r.s.conn.ExistsW(abs)
		return err
	})
	switch {
	case err != nil:
		return znode.Stat{}, false, Watch{}, err
	case !there:
		return znode.Stat{}, false, Watch{event, again}, nil
	}
	return fromStat(stat), true, Watch{event, again}, nil
}
