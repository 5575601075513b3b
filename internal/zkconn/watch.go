package zkconn

import (
	"context"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Watch is a ZooKeeper watch: it fires once, when what it was set on changes, and
// when the connection was lost and is there again. The server is asked then for
// what changed since the last answer, but the client library may take for the
// last one an answer that came over the new connection, and miss a change before
// it. The zero Watch never fires.
type Watch struct {
	event <-chan zk.Event
	again <-chan struct{} // see [session.reconnected]
}

// Set reports whether this is a watch at all.
func (w Watch) Set() bool { return w.event != nil }

// Fired reports, once, that the watch has fired, or that its session is over.
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
// fires when a child comes or goes, and when the node itself goes.
func (r *Reader) ChildrenW(ctx context.Context, path string) ([]string, znode.Stat, Watch, error) {
	// No results of this function: a call that is given up may still set them.
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

// ExistsW is [Reader.Exists] with a watch: it fires when the node comes or goes,
// or its data changes.
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
