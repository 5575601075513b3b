package zkconn

import (
	"context"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Watch is a ZooKeeper watch: it fires once, when what it was set on changes. A
// reconnection keeps it, and what changed meanwhile fires it. The zero Watch
// never fires.
type Watch struct{ event <-chan zk.Event }

// Set reports whether this is a watch at all.
func (w Watch) Set() bool { return w.event != nil }

// Fired reports, once, that the watch has fired, or that its session is over.
func (w Watch) Fired() bool {
	select {
	case <-w.event:
		return true
	default:
		return false
	}
}

// ChildrenW is [Reader.Children] with the node's Stat and a watch on both: it
// fires when a child comes or goes, and when the node itself goes.
func (r *Reader) ChildrenW(ctx context.Context, path string) ([]string, znode.Stat, Watch, error) {
	// No results of this function: a call that is given up may still set them.
	var names []string
	var stat *zk.Stat
	var event <-chan zk.Event
	err := r.read(ctx, "list", path, func(abs string) (err error) {
		names, stat, event, err = r.s.conn.ChildrenW(abs)
		return err
	})
	if err != nil {
		return nil, znode.Stat{}, Watch{}, err
	}
	return names, fromStat(stat), Watch{event}, nil
}

// ExistsW is [Reader.Exists] with a watch: it fires when the node comes or goes,
// or its data changes.
func (r *Reader) ExistsW(ctx context.Context, path string) (znode.Stat, bool, Watch, error) {
	var there bool
	var stat *zk.Stat
	var event <-chan zk.Event
	err := r.read(ctx, "watch", path, func(abs string) (err error) {
		there, stat, event, err = r.s.conn.ExistsW(abs)
		return err
	})
	switch {
	case err != nil:
		return znode.Stat{}, false, Watch{}, err
	case !there:
		return znode.Stat{}, false, Watch{event}, nil
	}
	return fromStat(stat), true, Watch{event}, nil
}
