package layouts_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/layout"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// mended are the rules that have a safe mend, each with a lock that forbids it, or ""
// if no lock does.
var mended = map[string]string{
	"queue-entry/orphan": "", "queue-entry/wrong-queue": jobPath + "/lock", "queue-entry/wrong-priority": jobPath + "/lock", "queue-entry/no-entry": jobPath + "/lock",
	"batch-entry/orphan": batchPath + "/lock", "batch-entry/wrong-folder": jobPath + "/lock", "batch-entry/other-batch": jobPath + "/lock", "batch-entry/no-entry": jobPath + "/lock",
	"batch-uuid/orphan": "", "batch-uuid/no-entry": batchPath + "/lock",
	"batch-states/no-states": batchPath + "/lock", "batch-states/no-processing": batchPath + "/lock",
}

// fixWorld is a server with a broken example.
type fixWorld struct {
	t      *testing.T
	server *minizk.Server
	w      *zkconn.Writer
	finds  func() []layout.Finding
}

func newFixWorld(t *testing.T, rule string) *fixWorld {
	t.Helper()
	s := merrittSample("design")
	l := named(t, "merritt", "design")
	f := s.sound(t, l.Map)
	f.remove(jobPath + "/lock")
	f.remove(batchPath + "/lock")
	f.remove("/access/small/qid0000000000/lock")
	s.breaks[rule](f)
	for path := range f { // ephemeral znodes need a session
		x := f[path]
		if x.Stat.EphemeralOwner != 0 {
			delete(f, path)
		}
	}
	server, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	if err := server.Load(f.tree(t)); err != nil {
		t.Fatal(err)
	}
	addr, err := zkconn.ParseAddress(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	world := &fixWorld{t: t, server: server, w: w}
	world.finds = func() []layout.Finding {
		tree, err := server.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Check(t.Context(), side.Tree(tree), layout.Options{Now: time.UnixMilli(exampleTime)})
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(r.Findings, func(f layout.Finding) bool { return f.Severity == layout.Info })
	}
	return world
}

// fix returns the mend of a rule that was found.
func (w *fixWorld) fix(rule string) *layout.Fix {
	w.t.Helper()
	for _, f := range w.finds() {
		if f.Rule == rule && f.Fix != nil {
			return f.Fix
		}
	}
	w.t.Fatalf("%s has no mend in %v", rule, w.finds())
	return nil
}

// Each mend is one transaction. After it, the finding is gone and there is no new one.
func TestMends(t *testing.T) {
	for rule := range mended {
		t.Run(strings.ReplaceAll(rule, "/", " "), func(t *testing.T) {
			w := newFixWorld(t, rule)
			before := w.finds()
			if err := w.w.Multi(t.Context(), w.fix(rule).Transaction()); err != nil {
				t.Fatal(err)
			}
			after := w.finds()
			if len(after) >= len(before) {
				t.Errorf("before %v\nafter  %v", before, after)
			}
			for _, f := range after {
				if f.Rule == rule || !slices.ContainsFunc(before, func(b layout.Finding) bool { return b.Path == f.Path && b.Rule == f.Rule }) {
					t.Errorf("after the mend: %v", f)
				}
			}
		})
	}
}

// A mend changes nothing that a worker has locked, or that has changed since the check.
func TestMendsLeaveAlone(t *testing.T) {
	for rule, lock := range mended {
		t.Run(strings.ReplaceAll(rule, "/", " "), func(t *testing.T) {
			w := newFixWorld(t, rule)
			fix := w.fix(rule)
			conn, _, err := zk.Connect([]string{w.server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(conn.Close)
			if lock != "" {
				if _, err := conn.Create(lock, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
					t.Fatal(err)
				}
				w.unchanged(fix, "a lock")
				if err := conn.Delete(lock, -1); err != nil {
					t.Fatal(err)
				}
			}
			for _, op := range fix.Ops {
				if op.Kind == znode.OpCheck || op.Kind == znode.OpDelete {
					data, _, err := conn.Get(op.Path)
					if err == nil {
						_, err = conn.Set(op.Path, data, -1)
					}
					if err != nil {
						t.Fatal(err)
					}
					w.unchanged(fix, "a change of "+op.Path)
					return
				}
			}
			t.Errorf("%v has no version check", fix.Ops)
		})
	}
}

// unchanged commits a mend and fails the test if that does anything.
func (w *fixWorld) unchanged(fix *layout.Fix, why string) {
	w.t.Helper()
	before, err := w.server.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	var failed *znode.MultiError
	if err := w.w.Multi(w.t.Context(), fix.Transaction()); !errors.As(err, &failed) {
		w.t.Errorf("the mend was done despite %s: %v", why, err)
	}
	after, err := w.server.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	if d := znode.Diff(before, after, "/"); len(d) > 0 {
		w.t.Errorf("the mend changed something despite %s: %v", why, d)
	}
}

// If the request of one of Zuul's locks is gone, the mend deletes the lock, unless a
// client holds it.
func TestZuulLockIsRemoved(t *testing.T) {
	l := named(t, "zuul", "")
	f := zuulSample.sound(t, l.Map)
	zuulSample.breaks["merger.lock/lock-without-request"](f)
	lock := "/zuul/merger/locks/" + strings.Repeat("f", 32)
	for _, held := range []bool{false, true} {
		broken := f.clone()
		if held {
			contender := lock + "/" + uuid + "__lock__0000000000"
			broken.put(contender, "")
			x := broken[contender]
			x.Stat.EphemeralOwner = 7
			broken[contender] = x
		}
		var fix *layout.Fix
		for _, found := range findings(t, l, broken) {
			if found.Rule == "merger.lock/lock-without-request" {
				fix = found.Fix
			}
		}
		if fix == nil || len(fix.Ops) != 1 || fix.Ops[0].Kind != znode.OpDelete || fix.Ops[0].Path != lock {
			t.Fatalf("held %t: the mend is %v: want the delete of %s, which fails while it has contenders", held, fix, lock)
		}
	}
}

// Every rule that has a mend is in the list.
func TestMendedIsWhole(t *testing.T) {
	for _, s := range samples[2:] {
		l := named(t, s.name, s.dialect)
		for rule, do := range s.breaks {
			f := s.sound(t, l.Map)
			do(f)
			for _, found := range findings(t, l, f) {
				if _, listed := mended[found.Rule]; found.Fix != nil && !listed && found.Rule != "batch-states/too-early" {
					t.Errorf("%s: %s has a mend that is not tested", rule, found.Rule)
				}
			}
		}
	}
}
