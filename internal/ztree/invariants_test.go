package ztree

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func (db *Database) broken() string {
	owned, reaped := 0, 0
	for n := range db.nodes.All("/") {
		children := n.Children()
		if n.Unreadable == "" && (int(n.Stat.NumChildren) != len(children) || int(n.Stat.DataLength) != len(n.Data)) {
			return fmt.Sprintf("%s has %d bytes and %d children: %+v", n.Path, len(n.Data), len(children), n.Stat)
		}
		if owner := n.Stat.EphemeralOwner; owner != 0 {
			if owned++; db.ephemerals[owner][n.Path] != n {
				return fmt.Sprintf("%s is not in the table of its owner %x", n.Path, owner)
			}
		}
		if _, ok := db.reaped[n]; ok {
			reaped++
		}
	}
	if owned != db.Ephemerals() || reaped != len(db.reaped) {
		return fmt.Sprintf("the tables have %d ephemerals and %d to reap, of %d and %d", db.Ephemerals(), len(db.reaped), owned, reaped)
	}
	for owner, nodes := range db.ephemerals {
		if len(nodes) == 0 {
			return fmt.Sprintf("the table has owner %x without nodes", owner)
		}
	}
	for name, wt := range map[string]*watchTable{"data": &db.data, "child": &db.child} {
		if b := wt.broken(); b != "" {
			return name + " watches: " + b
		}
	}
	if len(db.events) != 0 || len(db.undo) != 0 || db.recording {
		return fmt.Sprintf("%d events and %d undos are left over, recording %v", len(db.events), len(db.undo), db.recording)
	}
	return ""
}

func (wt *watchTable) broken() string {
	forward, back := 0, 0
	for path, at := range wt.byPath {
		if len(at) == 0 {
			return fmt.Sprintf("the table has %q without watchers", path)
		}
		for w := range at {
			forward++
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
	if forward != back || forward != wt.count() {
		return fmt.Sprintf("%d by path, %d by watcher, counted %d", forward, back, wt.count())
	}
	return ""
}

func image(nodes *znode.Tree) string {
	var b strings.Builder
	for n := range nodes.All("/") {
		b.WriteString(line(*n))
	}
	return b.String()
}

func line(n znode.Node) string {
	return fmt.Sprintf("%s %q %t %v %+v %q\n", n.Path, n.Data, n.Data == nil, n.ACL, n.Stat, n.Unreadable)
}

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
		tree := New(znode.NewTree(), false)
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
				was, reaped, notified := image(tree.nodes), maps.Clone(tree.reaped), watchers[0].notified+watchers[1].notified
				rs, err := tree.Multi(tx(), who.Draw(t, "who"), ops)
				if err != nil || len(rs) != len(ops) || rs[len(rs)-1].Op != jute.OpError {
					t.Fatalf("%v, %v", rs, err)
				}
				if now := image(tree.nodes); now != was || !maps.Equal(tree.reaped, reaped) {
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
				loaded := New(tree.Snapshot(), false)
				if b := loaded.broken(); b != "" {
					t.Fatal("loaded: ", b)
				}
				if got, want := image(loaded.Snapshot()), image(tree.Snapshot()); got != want {
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
