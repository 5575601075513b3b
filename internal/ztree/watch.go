package ztree

import (
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Watcher gets notifications of changes. A connection is one. It must be usable as a map key.
type Watcher interface {
	// Notify delivers one event. It must not block and must not call the database.
	Notify(jute.WatcherEvent)
	// Identities returns the watcher's identities. Access lists decide by them which events the
	// watcher may know of.
	Identities() []jute.ID
}

type event struct {
	kind int32
	node *znode.Node
}

type watchMode int8

const (
	watchOnce watchMode = iota
	watchPersistent
	watchRecursive
)

// watchTable has all watches of one kind in two maps: by path, to trigger them, and by watcher, to
// remove them. A watcher has one mode for a path: a later watch replaces an earlier one.
type watchTable struct {
	byPath    map[string]map[Watcher]watchMode
	byWatcher map[Watcher]map[string]struct{}
}

func newWatchTable() watchTable {
	return watchTable{byPath: map[string]map[Watcher]watchMode{}, byWatcher: map[Watcher]map[string]struct{}{}}
}

func (wt *watchTable) add(path string, w Watcher, m watchMode) {
	at := wt.byPath[path]
	if at == nil {
		at = map[Watcher]watchMode{}
		wt.byPath[path] = at
	}
	at[w] = m
	paths := wt.byWatcher[w]
	if paths == nil {
		paths = map[string]struct{}{}
		wt.byWatcher[w] = paths
	}
	paths[path] = struct{}{}
}

func (wt *watchTable) remove(path string, w Watcher) bool {
	if _, ok := wt.byPath[path][w]; !ok {
		return false
	}
	delete(wt.byPath[path], w)
	if len(wt.byPath[path]) == 0 {
		delete(wt.byPath, path)
	}
	delete(wt.byWatcher[w], path)
	if len(wt.byWatcher[w]) == 0 {
		delete(wt.byWatcher, w)
	}
	return true
}

func (wt *watchTable) removeAll(w Watcher) {
	for path := range wt.byWatcher[w] {
		wt.remove(path, w)
	}
}

func (wt *watchTable) count() int {
	n := 0
	for _, at := range wt.byPath {
		n += len(at)
	}
	return n
}

// fire adds the watchers of an event to out, and removes the watches that fire only once. A
// recursive watch gets all events at and below its path, except that a list of children changed.
func (wt *watchTable) fire(kind int32, path string, out map[Watcher]struct{}) {
	for w, m := range wt.byPath[path] {
		switch m {
		case watchOnce:
			wt.remove(path, w)
			out[w] = struct{}{}
		case watchPersistent:
			out[w] = struct{}{}
		case watchRecursive:
			if kind != jute.EventChildrenChanged {
				out[w] = struct{}{}
			}
		}
	}
	if kind == jute.EventChildrenChanged {
		return
	}
	for at := znode.Parent(path); at != ""; at = znode.Parent(at) {
		for w, m := range wt.byPath[at] {
			if m == watchRecursive {
				out[w] = struct{}{}
			}
		}
	}
}

// trigger notifies the watchers of one event. The data watches of a node get its creation, change
// and deletion. The child watches get its deletion and the changes of its list of children. A
// watcher that has both gets a deletion once.
func (db *Database) trigger(e *event) {
	if len(db.data.byPath) == 0 && len(db.child.byPath) == 0 {
		return
	}
	hit := map[Watcher]struct{}{}
	if e.kind != jute.EventChildrenChanged {
		db.data.fire(e.kind, e.node.Path, hit)
	}
	if e.kind == jute.EventChildrenChanged || e.kind == jute.EventDeleted {
		db.child.fire(e.kind, e.node.Path, hit)
	}
	for w := range hit {
		if allow(e.node, znode.PermRead, w.Identities()) == nil {
			w.Notify(jute.WatcherEvent{Type: e.kind, State: jute.StateConnected, Path: e.node.Path})
		}
	}
}

// AddWatch sets a persistent watch. If the mode is unknown, the error is MarshallingError, as in
// the server.
func (db *Database) AddWatch(r *jute.Request, w Watcher) error {
	m, ok := map[int32]watchMode{jute.WatchPersistent: watchPersistent, jute.WatchPersistentRecursive: watchRecursive}[r.Kind]
	if !ok {
		return jute.MarshallingError
	}
	db.watchAll(r.Path, w, m)
	return nil
}

func (db *Database) tables(kind int32) []*watchTable {
	return map[int32][]*watchTable{
		jute.WatcherChildren: {&db.child}, jute.WatcherData: {&db.data}, jute.WatcherAny: {&db.data, &db.child},
	}[kind]
}

// CheckWatch returns nil if the path has a watch of the requested kind, and NoWatcher otherwise. It
// does not matter who watches, as in the server (WatchManager.containsWatcher of 3.8). If the kind is
// unknown, the error is MarshallingError.
func (db *Database) CheckWatch(r *jute.Request) error {
	return found(db.tables(r.Kind), func(wt *watchTable) bool { return len(wt.byPath[r.Path]) > 0 })
}

// RemoveWatch removes w's watches of the requested kind from a path. Its errors are CheckWatch's.
func (db *Database) RemoveWatch(r *jute.Request, w Watcher) error {
	return found(db.tables(r.Kind), func(wt *watchTable) bool { return wt.remove(r.Path, w) })
}

// found calls try for each table. The error is NoWatcher if it never returned true.
func found(tables []*watchTable, try func(*watchTable) bool) error {
	if tables == nil {
		return jute.MarshallingError
	}
	err := error(jute.NoWatcher)
	for _, wt := range tables {
		if try(wt) {
			err = nil
		}
	}
	return err
}

// Forget removes all watches of a connection that has ended.
func (db *Database) Forget(w Watcher) {
	db.data.removeAll(w)
	db.child.removeAll(w)
}

// Watches returns the number of watches.
func (db *Database) Watches() int { return db.data.count() + db.child.count() }

// The lists of Request.Watches. The last one has recursive watches.
const (
	dataWatches = iota
	existWatches
	childWatches
	persistentWatches
)

// SetWatches sets a client's watches again after it has reconnected. If the change that a watch
// waits for has happened since r.Since, SetWatches notifies w at once and sets no watch. It does not
// check access lists.
func (db *Database) SetWatches(r *jute.Request, w Watcher) {
	notify := func(kind int32, path string) {
		w.Notify(jute.WatcherEvent{Type: kind, State: jute.StateConnected, Path: path})
	}
	for list, paths := range r.Watches {
		for _, path := range paths {
			n := db.lookup(path)
			switch {
			case n == nil && (list == dataWatches || list == childWatches):
				notify(jute.EventDeleted, path)
			case n != nil && list == existWatches:
				notify(jute.EventCreated, path)
			case list == dataWatches && n.Stat.Mzxid > r.Since:
				notify(jute.EventDataChanged, path)
			case list == childWatches && n.Stat.Pzxid > r.Since:
				notify(jute.EventChildrenChanged, path)
			case list == dataWatches || list == existWatches:
				db.data.add(path, w, watchOnce)
			case list == childWatches:
				db.child.add(path, w, watchOnce)
			case list == persistentWatches:
				db.watchAll(path, w, watchPersistent)
			default:
				db.watchAll(path, w, watchRecursive)
			}
		}
	}
}

func (db *Database) watchAll(path string, w Watcher, m watchMode) {
	db.data.add(path, w, m)
	db.child.add(path, w, m)
}
