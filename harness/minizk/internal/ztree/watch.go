package ztree

import (
	"strings"

	"mrtq/harness/minizk/wire"
)

// Watcher is told of changes; a connection is one. It must be usable as a map key.
type Watcher interface {
	// Notify delivers one event. It must not block and must not call the tree.
	Notify(wire.WatcherEvent)
	// Identities decide which events the watcher may know of.
	Identities() []wire.ID
}

// event is a change that may have watchers.
type event struct {
	kind int32
	path string
	acl  *accessList // who may know: readers of the node that the event names
}

type watchMode int8

const (
	watchOnce watchMode = iota
	watchPersistent
	watchRecursive
)

// watchTable holds one kind of watches, both ways round: by path to trigger, by watcher to
// forget. A watcher has one mode for a path: a later watch replaces an earlier one.
type watchTable struct {
	byPath    map[string]map[Watcher]watchMode
	byWatcher map[Watcher]map[string]struct{}
	recursive int // how many there are; without any, parents need not be looked at
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

// watched reports whether anybody watches path.
func (wt *watchTable) watched(path string) bool { return len(wt.byPath[path]) > 0 }

// remove forgets one watch and reports whether there was one.
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

// fire takes the watchers of an event, spending those that are for once, and adds them to out.
// Recursive watches hear of everything below them but never of a list of children.
func (wt *watchTable) fire(kind int32, path string, out map[Watcher]struct{}) {
	for w, m := range wt.byPath[path] {
		switch m {
		case watchOnce:
			wt.remove(path, w)
			out[w] = struct{}{}
		case watchPersistent:
			out[w] = struct{}{}
		case watchRecursive:
			if kind != wire.EventChildrenChanged {
				out[w] = struct{}{}
			}
		}
	}
	if wt.recursive == 0 || kind == wire.EventChildrenChanged {
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

// trigger delivers one event. The data watches hear of a node's creation, change and deletion,
// the child watches of its deletion and of its list of children; who watches both hears of a
// deletion once.
func (t *Tree) trigger(e *event) {
	if len(t.data.byPath) == 0 && len(t.child.byPath) == 0 {
		return
	}
	hit := map[Watcher]struct{}{}
	if e.kind != wire.EventChildrenChanged {
		t.data.fire(e.kind, e.path, hit)
	}
	if e.kind == wire.EventChildrenChanged || e.kind == wire.EventDeleted {
		t.child.fire(e.kind, e.path, hit)
	}
	for w := range hit {
		if allow(e.acl.acls, wire.PermRead, w.Identities()) == nil {
			w.Notify(wire.WatcherEvent{Type: e.kind, State: wire.StateConnected, Path: e.path})
		}
	}
}

// AddWatch sets a persistent watch. Another mode than those in wire is MarshallingError, as
// from the server.
func (t *Tree) AddWatch(path string, w Watcher, mode int32) error {
	switch mode {
	case wire.WatchPersistent:
		t.data.add(path, w, watchPersistent)
		t.child.add(path, w, watchPersistent)
	case wire.WatchPersistentRecursive:
		t.data.add(path, w, watchRecursive)
		t.child.add(path, w, watchRecursive)
	default:
		return wire.MarshallingError
	}
	return nil
}

// CheckWatch returns nil if path is watched in the way asked for, else NoWatcher. As in the server
// (WatchManager.containsWatcher of 3.8) it does not matter by whom.
func (t *Tree) CheckWatch(path string, kind int32) error {
	data, child, err := kinds(kind)
	if err == nil && !(data && t.data.watched(path)) && !(child && t.child.watched(path)) {
		return wire.NoWatcher
	}
	return err
}

// RemoveWatch ends w's watches of path of the kind asked for; NoWatcher if there were none.
func (t *Tree) RemoveWatch(path string, w Watcher, kind int32) error {
	data, child, err := kinds(kind)
	if err != nil {
		return err
	}
	removed := data && t.data.remove(path, w)
	if child && t.child.remove(path, w) {
		removed = true
	}
	if !removed {
		return wire.NoWatcher
	}
	return nil
}

func kinds(kind int32) (data, child bool, err error) {
	switch kind {
	case wire.WatcherChildren:
		return false, true, nil
	case wire.WatcherData:
		return true, false, nil
	case wire.WatcherAny:
		return true, true, nil
	}
	return false, false, wire.MarshallingError
}

// Forget ends all watches of a connection that is gone.
func (t *Tree) Forget(w Watcher) {
	t.data.removeAll(w)
	t.child.removeAll(w)
}

// Watches counts all watches, and the paths and connections that have any.
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

// SetWatches sets watches again after a reconnection. Where the change a watch waits for has
// happened since relativeZxid, the event is delivered now and no watch is set. Access lists are
// not asked here.
func (t *Tree) SetWatches(r wire.SetWatchesRequest, w Watcher) {
	tell := func(kind int32, path string) {
		w.Notify(wire.WatcherEvent{Type: kind, State: wire.StateConnected, Path: path})
	}
	for _, p := range r.Data {
		switch n := t.lookup(p); {
		case n == nil:
			tell(wire.EventDeleted, p)
		case n.mzxid > r.RelativeZxid:
			tell(wire.EventDataChanged, p)
		default:
			t.data.add(p, w, watchOnce)
		}
	}
	for _, p := range r.Exist {
		if t.lookup(p) != nil {
			tell(wire.EventCreated, p)
		} else {
			t.data.add(p, w, watchOnce)
		}
	}
	for _, p := range r.Child {
		switch n := t.lookup(p); {
		case n == nil:
			tell(wire.EventDeleted, p)
		case n.pzxid > r.RelativeZxid:
			tell(wire.EventChildrenChanged, p)
		default:
			t.child.add(p, w, watchOnce)
		}
	}
	for _, p := range r.Persistent {
		t.data.add(p, w, watchPersistent)
		t.child.add(p, w, watchPersistent)
	}
	for _, p := range r.PersistentRecurse {
		t.data.add(p, w, watchRecursive)
		t.child.add(p, w, watchRecursive)
	}
}
