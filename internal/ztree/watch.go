package ztree

import (
	"strings"

	"mrtq/internal/jute"
)

// Watcher gets notifications of changes. A connection is one. It must be usable as a map key.
type Watcher interface {
	// Notify delivers one event. It must not block and must not call the tree.
	Notify(jute.WatcherEvent)
	// Identities returns the watcher's identities. Access lists decide by them which events the
	// watcher may know of.
	Identities() []jute.ID
}

// event is a change of which watchers may have to be notified.
type event struct {
	kind int32
	path string
	acl  *accessList // a watcher may know of the event if this list lets it read
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
	recursive int // how many recursive watches there are; without any, parents need not be checked
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
	if old, ok := at[w]; ok && old == watchRecursive {
		wt.recursive--
	}
	at[w] = m
	if m == watchRecursive {
		wt.recursive++
	}
	paths := wt.byWatcher[w]
	if paths == nil {
		paths = map[string]struct{}{}
		wt.byWatcher[w] = paths
	}
	paths[path] = struct{}{}
}

// watched reports whether path has a watch.
func (wt *watchTable) watched(path string) bool { return len(wt.byPath[path]) > 0 }

// remove removes one watch and reports whether there was one.
func (wt *watchTable) remove(path string, w Watcher) bool {
	m, ok := wt.byPath[path][w]
	if !ok {
		return false
	}
	if m == watchRecursive {
		wt.recursive--
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
	if wt.recursive == 0 || kind == jute.EventChildrenChanged {
		return
	}
	for at := path; at != "/" && at != ""; {
		at = watchPath(at[:max(strings.LastIndexByte(at, '/'), 0)])
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
func (t *Tree) trigger(e *event) {
	if len(t.data.byPath) == 0 && len(t.child.byPath) == 0 {
		return
	}
	hit := map[Watcher]struct{}{}
	if e.kind != jute.EventChildrenChanged {
		t.data.fire(e.kind, e.path, hit)
	}
	if e.kind == jute.EventChildrenChanged || e.kind == jute.EventDeleted {
		t.child.fire(e.kind, e.path, hit)
	}
	for w := range hit {
		if e.acl.allow(jute.PermRead, w.Identities()) == nil {
			w.Notify(jute.WatcherEvent{Type: e.kind, State: jute.StateConnected, Path: e.path})
		}
	}
}

// AddWatch sets a persistent watch. If the mode is unknown, the error is MarshallingError, as in
// the server. A null path is no error, but AddWatch keeps no such watch, because nothing ever
// happens to a null path.
func (t *Tree) AddWatch(r jute.PathInt, w Watcher) error {
	m, ok := map[int32]watchMode{jute.WatchPersistent: watchPersistent, jute.WatchPersistentRecursive: watchRecursive}[r.N]
	if !ok {
		return jute.MarshallingError
	}
	if !r.NullPath {
		t.watchAll(r.Path, w, m)
	}
	return nil
}

// CheckWatch returns nil if the path has a watch of the requested kind, and NoWatcher otherwise. It
// does not matter who watches, as in the server (WatchManager.containsWatcher of 3.8). For a null
// path the error is MarshallingError.
func (t *Tree) CheckWatch(r jute.PathInt) error {
	data, child, err := kinds(r.N)
	if err == nil && r.NullPath {
		return jute.MarshallingError
	}
	if err == nil && !(data && t.data.watched(r.Path)) && !(child && t.child.watched(r.Path)) {
		return jute.NoWatcher
	}
	return err
}

// RemoveWatch removes w's watches of the requested kind from a path. The error is NoWatcher if
// there were none.
func (t *Tree) RemoveWatch(r jute.PathInt, w Watcher) error {
	data, child, err := kinds(r.N)
	if err != nil {
		return err
	}
	if r.NullPath {
		return jute.NoWatcher
	}
	removed := data && t.data.remove(r.Path, w)
	if child && t.child.remove(r.Path, w) {
		removed = true
	}
	if !removed {
		return jute.NoWatcher
	}
	return nil
}

func kinds(kind int32) (data, child bool, err error) {
	switch kind {
	case jute.WatcherChildren:
		return false, true, nil
	case jute.WatcherData:
		return true, false, nil
	case jute.WatcherAny:
		return true, true, nil
	}
	return false, false, jute.MarshallingError
}

// Forget removes all watches of a connection that has ended.
func (t *Tree) Forget(w Watcher) {
	t.data.removeAll(w)
	t.child.removeAll(w)
}

// Watches returns the number of watches, and of the paths and connections that have any.
func (t *Tree) Watches() (watches, paths, watchers int) {
	p, w := map[string]struct{}{}, map[Watcher]struct{}{}
	for _, wt := range []*watchTable{&t.data, &t.child} {
		watches += wt.count()
		for path := range wt.byPath {
			p[path] = struct{}{}
		}
		for who := range wt.byWatcher {
			w[who] = struct{}{}
		}
	}
	return watches, len(p), len(w)
}

// SetWatches sets a client's watches again after it has reconnected. If the change that a watch
// waits for has happened since relativeZxid, SetWatches notifies w at once and sets no watch. It
// does not check access lists.
//
// The error is MarshallingError at the first list that is null, and at the first null path in a
// list whose nodes are looked up. The watches before it have been set.
func (t *Tree) SetWatches(op jute.OpCode, r jute.SetWatchesRequest, w Watcher) error {
	notify := func(kind int32, path string) {
		w.Notify(jute.WatcherEvent{Type: kind, State: jute.StateConnected, Path: path})
	}
	lists := []struct {
		paths []*string
		null  bool // whether a null path is allowed
		set   func(path string, n *node)
	}{
		{r.Data, false, func(p string, n *node) {
			switch {
			case n == nil:
				notify(jute.EventDeleted, p)
			case n.mzxid > r.RelativeZxid:
				notify(jute.EventDataChanged, p)
			default:
				t.data.add(p, w, watchOnce)
			}
		}},
		{r.Exist, false, func(p string, n *node) {
			if n != nil {
				notify(jute.EventCreated, p)
			} else {
				t.data.add(p, w, watchOnce)
			}
		}},
		{r.Child, false, func(p string, n *node) {
			switch {
			case n == nil:
				notify(jute.EventDeleted, p)
			case n.pzxid > r.RelativeZxid:
				notify(jute.EventChildrenChanged, p)
			default:
				t.child.add(p, w, watchOnce)
			}
		}},
		{r.Persistent, true, func(p string, _ *node) { t.watchAll(p, w, watchPersistent) }},
		{r.PersistentRecurse, true, func(p string, _ *node) { t.watchAll(p, w, watchRecursive) }},
	}
	if op == jute.OpSetWatches {
		lists = lists[:3]
	}
	for _, l := range lists {
		if l.paths == nil {
			return jute.MarshallingError
		}
		for _, p := range l.paths {
			switch {
			case p != nil:
				l.set(*p, t.lookup(*p))
			case !l.null:
				return jute.MarshallingError
			}
		}
	}
	return nil
}

// watchAll sets a watch of both kinds.
func (t *Tree) watchAll(path string, w Watcher, m watchMode) {
	t.data.add(path, w, m)
	t.child.add(path, w, m)
}
