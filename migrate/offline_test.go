package migrate

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A migration to a dump without a server gives the same tree as one to a server, byte for
// byte except for times.
func TestFileLikeServer(t *testing.T) {
	src := source(t, corpus(t))
	opt := options(permissive())
	migrate := func(m *Migrator) error {
		res, err := m.Migrate(t.Context(), static(src), opt, nil)
		if err == nil && res.Steps == 0 {
			t.Error("nothing was done")
		}
		return err
	}
	s := serve(t, znode.NewTree())
	tree, err := OpenOfflineTree(t.Context(), nil, filepath.Join(t.TempDir(), "new.ndjson"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	file := NewOfflineTarget(tree)
	// On the server, the beginning of the test's session and each refused transaction take a
	// transaction number. A plan's id depends on these numbers.
	if err := tree.Multi(t.Context(), []znode.Op{znode.Check("/nothing", 0)}); !errors.Is(err, znode.ErrNoNode) {
		t.Fatal(err)
	}
	run := ""
	for _, step := range []struct {
		what string
		do   func(*Migrator) error
	}{
		{"migrate", migrate},
		{"hold", func(m *Migrator) error {
			_, _, err := m.Target.SetHolds(t.Context(), []string{znode.Join(newqueue.CollectionLocksPath, "c1")}, HoldNote{By: "somebody", At: testNow})
			return err
		}},
		{"a worker's lock", func(m *Migrator) error {
			return m.Target.Multi(t.Context(), []znode.Op{znode.Create("/jobs/jid0000000001/lock", none)})
		}},
		{"roll back", func(m *Migrator) error {
			u, err := m.Rollback(t.Context(), run, false)
			if err == nil && len(u.Kept) == 0 {
				t.Error("nothing was kept")
			}
			return err
		}},
		{"force", func(m *Migrator) error {
			if err := m.Target.Multi(t.Context(), []znode.Op{znode.Delete("/jobs/jid0000000001/lock", 0)}); err != nil {
				return err
			}
			_, err := m.Rollback(t.Context(), run, true)
			return err
		}},
		{"migrate again", migrate},
	} {
		for _, target := range []*Target{s.Target, file} {
			if err := step.do(&Migrator{Target: target, Now: clock(), Budget: 3000, Keep: keepNothing}); err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
		}
		served, err := s.zk.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var dump bytes.Buffer
		if err := tree.WriteDump(t.Context(), &dump); err != nil {
			t.Fatal(err)
		}
		written, err := znode.ReadDump(&dump)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := timeless(t, written), timeless(t, served); got != want {
			w := strings.Split(want, "\n")
			for i, line := range strings.Split(got, "\n") {
				if i >= len(w) || line != w[i] {
					t.Fatalf("%s: in the file the first other line is\n%s\nand on the server\n%s", step.what, line, strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
				}
			}
			t.Fatalf("%s: the file lacks something", step.what)
		}
		if runs := served.Children(RunsPath); len(runs) > 0 {
			run = runs[0]
		}
	}
}

// ofTarget matches what a run's record says that depends on the target's transactions.
var ofTarget = regexp.MustCompile(`"(plan|seal)":"[0-9a-f]+"`)

// timeless returns a dump without times.
func timeless(t *testing.T, tree *znode.Tree) string {
	t.Helper()
	for n := range tree.All("/") {
		n.Stat.Ctime, n.Stat.Mtime = 0, 0
		if znode.Parent(n.Path) == RunsPath {
			n.Data = ofTarget.ReplaceAll(n.Data, nil)
		}
	}
	var b bytes.Buffer
	if err := znode.WriteDump(&b, tree); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
