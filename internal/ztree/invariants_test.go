package ztree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// broken says how a tree's tables contradict its nodes, or returns "".
func (t *Tree) broken() string {
	count, bytes := 1, int64(0) // ZooKeeper counts the root twice
	owners := map[string]int64{}
	var walk func(path string, n *node) string
	walk = func(path string, n *node) string {
		count++
		bytes += int64(len(path) + len(n.data))
		if n.owner != 0 {
			owners[path] = n.owner
		}
		if n.kids == nil {
			return ""
		}
		if listed, named := len(n.kids.list), len(n.kids.byName); listed == 0 || named != listed && (n.kids.byName != nil || listed > few) {
			return fmt.Sprintf("%q lists %d children and names %d", path, listed, named)
		}
		for i, k := range n.kids.list {
			if int(k.slot) != i || n.child(k.name) != k {
				return fmt.Sprintf("%q: child %d is %q in slot %d", path, i, k.name, k.slot)
			}
			if b := walk(path+"/"+k.name, k); b != "" {
				return b
			}
		}
		return ""
	}
	if b := walk("", t.root); b != "" {
		return b
	}
	if count != t.count || bytes != t.bytes {
		return fmt.Sprintf("%d nodes of %d bytes are counted as %d of %d", count, bytes, t.count, t.bytes)
	}
	for key, set := range t.owned {
		if len(set) == 0 {
			return fmt.Sprintf("the table has owner %x without nodes", key)
		}
		for p, n := range set {
			if ownerKey(owners[p]) != key || t.lookup(p) != n {
				return fmt.Sprintf("the table has %q for owner %x, but it belongs to %x", p, key, owners[p])
			}
			delete(owners, p)
		}
	}
	if len(owners) > 0 {
		return fmt.Sprintf("the owners of %v are not in the table", owners)
	}
	for name, wt := range map[string]*watchTable{"data": &t.data, "child": &t.child} {
		if b := wt.broken(); b != "" {
			return name + " watches: " + b
		}
	}
	if len(t.events) != 0 || len(t.undo) != 0 || t.recording {
		return fmt.Sprintf("%d events and %d undos are left over, recording %v", len(t.events), len(t.undo), t.recording)
	}
	return ""
}

func (wt *watchTable) broken() string {
	forward, back, recursive := 0, 0, 0
	for path, at := range wt.byPath {
		if len(at) == 0 {
			return fmt.Sprintf("the table has %q without watchers", path)
		}
		for w, m := range at {
			forward++
			if m == watchRecursive {
				recursive++
			}
			if _, ok := wt.byWatcher[w][path]; !ok {
				return fmt.Sprintf("the watcher of %q is missing in the other table", path)
			}
		}
	}
	for _, paths := range wt.byWatcher {
		back += len(paths)
		if len(paths) == 0 {
			return "the table has a watcher without paths"
		}
	}
	if forward != back || recursive != wt.recursive || forward != wt.count() {
		return fmt.Sprintf("%d by path, %d by watcher, counted %d; %d recursive, counted %d", forward, back, wt.count(), recursive, wt.recursive)
	}
	return ""
}

// image returns everything that a failed multi must not change, as text.
func (t *Tree) image() string {
	var lines []string
	for n := range t.Nodes("/") {
		at := t.lookup(n.Path)
		lines = append(lines, fmt.Sprintf("%s %q %v %v %d %d", n.Path, n.Data, n.ACL, n.Stat, at.owner, at.cversion))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// dumped is what clients see of a tree, as text, in the order of Nodes.
func dumped(t *Tree) string {
	var b strings.Builder
	for n := range t.Nodes("/") {
		fmt.Fprintf(&b, "%+v\n", n)
	}
	return b.String()
}

// TestManyChildren: with few children and with many, each is found by its name, and only those that
// exist.
func TestManyChildren(t *testing.T) {
	all := znode.OpenACL()
	tree, zxid := New(), int64(0)
	path := func(i int) string { return fmt.Sprintf("/c%d", i) }
	check := func(from, to int) {
		t.Helper()
		if b := tree.broken(); b != "" {
			t.Fatal(b)
		}
		for i := range 3 * few {
			if _, err := tree.Exists(path(i), nil); (err == nil) != (i >= from && i < to) {
				t.Fatalf("%s: %v, of %d to %d", path(i), err, from, to)
			}
		}
	}
	for round := range 2 {
		for i := range 3*few - round {
			zxid++
			if _, err := tree.Do(Tx{Zxid: zxid}, Caller{}, &jute.Request{Op: jute.OpCreate, Path: path(i), ACL: all}); err != nil {
				t.Fatal(err)
			}
			check(0, i+1)
		}
		for i := range 3*few - round {
			zxid++
			if _, err := tree.Do(Tx{Zxid: zxid}, Caller{}, &jute.Request{Op: jute.OpDelete, Path: path(i), Version: -1}); err != nil {
				t.Fatal(err)
			}
			check(i+1, 3*few-round)
		}
	}
}

// counter is a watcher that counts its notifications.
type counter struct{ notified int }

func (e *counter) Notify(jute.WatcherEvent) { e.notified++ }
func (e *counter) Identities() []jute.ID    { return nil }

// TestInvariants does random operations, including multis that fail. After each operation the
// tree's tables agree with its nodes. After a failed multi nothing has changed, and no watcher was
// notified.
func TestInvariants(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/b/c", "/b", "/b/a", "/c", "/zookeeper/quota/x"}
	all := znode.OpenACL()
	rapid.Check(t, func(t *rapid.T) {
		tree := New()
		watchers := []*counter{{}, {}}
		zxid := int64(0)
		path := rapid.SampledFrom(paths)
		watcher := rapid.SampledFrom(watchers)
		who := rapid.SampledFrom([]Caller{{Session: 1}, {Session: 2}})
		tx := func() Tx { zxid++; return Tx{Zxid: zxid, Time: zxid} }
		change := func(t *rapid.T) jute.Request {
			p := path.Draw(t, "path")
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				return jute.Request{Op: jute.OpDelete, Path: p, Version: -1}
			case 1:
				return jute.Request{Op: jute.OpSetData, Path: p, Data: []byte(p), Version: -1}
			}
			flags := rapid.Int32Range(0, 6).Draw(t, "flags")
			op := map[int32]jute.OpCode{4: jute.OpCreateContainer, 5: jute.OpCreateTTL, 6: jute.OpCreateTTL}[flags]
			if op == 0 {
				op = jute.OpCreate
			}
			return jute.Request{Op: op, Path: p, ACL: all, Flags: flags, TTL: 5}
		}
		whole := func(t *rapid.T) {
			if b := tree.broken(); b != "" {
				t.Fatal(b)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": whole,
			"change": func(t *rapid.T) {
				_, _ = tree.Multi(tx(), who.Draw(t, "who"), []jute.Request{change(t)}) // it may fail
			},
			"failing multi": func(t *rapid.T) {
				ops := rapid.SliceOfN(rapid.Custom(change), 1, 6).Draw(t, "ops")
				ops = append(ops, jute.Request{Op: jute.OpCheck, Path: "/", Version: 99})
				was, notified := tree.image(), watchers[0].notified+watchers[1].notified
				rs, err := tree.Multi(tx(), who.Draw(t, "who"), ops)
				if err != nil || len(rs) != len(ops) || rs[len(rs)-1].Op != jute.OpError {
					t.Fatalf("%v, %v", rs, err)
				}
				if now := tree.image(); now != was {
					t.Fatalf("changed\nfrom\n%s\nto\n%s", was, now)
				}
				if watchers[0].notified+watchers[1].notified != notified {
					t.Fatal("a watcher was notified")
				}
			},
			"close session": func(t *rapid.T) { tree.CloseSession(tx(), who.Draw(t, "who").Session) },
			"reap": func(t *rapid.T) {
				for _, p := range tree.Due(zxid) {
					tree.Reap(tx(), p)
				}
			},
			"watch": func(t *rapid.T) {
				_, _ = tree.Exists(path.Draw(t, "path"), watcher.Draw(t, "watcher")) // the node may be missing
			},
			"watch children": func(t *rapid.T) {
				_, _, _ = tree.AppendChildren(nil, Caller{}, path.Draw(t, "path"), watcher.Draw(t, "watcher"))
			},
			"add watch": func(t *rapid.T) {
				if err := tree.AddWatch(&jute.Request{Path: path.Draw(t, "path"), Kind: rapid.Int32Range(0, 1).Draw(t, "mode")}, watcher.Draw(t, "watcher")); err != nil {
					t.Fatal(err)
				}
			},
			"remove watch": func(t *rapid.T) {
				_ = tree.RemoveWatch(&jute.Request{Path: path.Draw(t, "path"), Kind: rapid.Int32Range(1, 3).Draw(t, "kind")}, watcher.Draw(t, "watcher"))
			},
			"forget": func(t *rapid.T) { tree.Forget(watcher.Draw(t, "watcher")) },
			"load": func(t *rapid.T) {
				l := NewLoader()
				for n := range tree.Nodes("/") {
					if err := l.Add(n); err != nil {
						t.Fatal(err)
					}
				}
				whole(t)
				loaded := l.Tree()
				if b := loaded.broken(); b != "" {
					t.Fatal("loaded: ", b)
				}
				if got, want := dumped(loaded), dumped(tree); got != want {
					t.Fatalf("loaded\n%s\nwant\n%s", got, want)
				}
			},
		})
	})
}

// TestManyACLs: a list as long as a packet allows is checked quickly, because its entries are not
// compared each with each.
func TestManyACLs(t *testing.T) {
	list := make([]znode.ACL, 80_000)
	for i := range list {
		list[i] = znode.ACL{Perms: int32(i), Scheme: "world", ID: "anyone"}
	}
	out, err := fixACL(append(list, list...), nil)
	if err != nil || !slices.Equal(out, list) {
		t.Errorf("%d entries, %v, want the first %d", len(out), err, len(list))
	}
}
