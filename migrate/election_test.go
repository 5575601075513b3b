package migrate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// A migrator that did nothing leaves nothing, also if it finds the election of a killed
// migrator, or if it waited for another one.
func TestElectionGoesWithItsLast(t *testing.T) {
	src := source(t, corpus(t))

	t.Run("killed before its first transaction", func(t *testing.T) {
		s := serve(t, znode.NewTree())
		s.kill(t, 1, false)
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
		if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
			t.Fatal(err)
		}
		if tree := treeOf(t, s); tree.Get(ElectionPath) == nil || tree.Get(RunsPath) != nil {
			t.Fatalf("left: %v", tree.Paths("/"))
		}
		s.begin(t)
		s.Tidy(t.Context())
		if left := treeOf(t, s).Paths("/"); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("a rollback of nothing", func(t *testing.T) {
		s := serve(t, znode.NewTree())
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
		if _, err := m.Rollback(t.Context(), "run0000000000", false); !errors.Is(err, ErrNoRun) {
			t.Fatal(err)
		}
		if left := treeOf(t, s).Paths("/"); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("two rollbacks at once", func(t *testing.T) {
		s := serve(t, znode.NewTree())
		res := mustMigrate(t, s, src, options(permissive()))
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			m := &Migrator{Target: NewTarget(open(t, s.zk)), Now: clock(), Keep: keepNothing}
			both.Go(func() { _, errs[i] = m.Rollback(t.Context(), res.Run, false) })
		}
		both.Wait()
		for _, err := range errs {
			if err != nil && !errors.Is(err, ErrNoRun) {
				t.Error(err)
			}
		}
		if left := treeOf(t, s).Paths("/"); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("another client's own", func(t *testing.T) {
		s := serve(t, znode.NewTree())
		do(t, s, znode.Create(MigrationPath, none))
		do(t, s, znode.Create(ElectionPath, none))
		s.Tidy(t.Context())
		if left := treeOf(t, s).Paths("/"); !slices.Equal(left, []string{"/", "/migration"}) {
			t.Errorf("left: %v", left)
		}
	})
}

// A persistent znode in the election is not a migrator. It is named and ignored.
func TestStrayInTheElection(t *testing.T) {
	s := serve(t, znode.NewTree())
	do(t, s, znode.Create(MigrationPath, none), znode.Create(ElectionPath, none), znode.Create(ElectionPath+"/n-", none), znode.Create(ElectionPath+"/a", none))
	var said []string
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Say: func(text string) { said = append(said, text) }}
	src := source(t, corpus(t))
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{ElectionPath + "/n-", ElectionPath + "/a"} {
		want := path + " is ignored, because no session holds it, so it is not a migrator's: remove it when you know who made it"
		if !slices.Contains(said, want) {
			t.Errorf("said %q, want %q", strings.Join(said, "\n"), want)
		}
	}
}

// The znodes of an election have the ACL of the run, the migrator's own place included. So a
// client that may not write to the run can't remove the migrator. A rollback gives them the
// ACL of the run that it rolls back.
func TestElectionHasTheRunsACL(t *testing.T) {
	acl := []znode.ACL{{Perms: znode.PermAll, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: "reader:hash"}}
	look := func(t *testing.T, s *site) {
		t.Helper()
		tree := treeOf(t, s)
		paths := tree.Paths(ElectionPath)
		if len(paths) < 2 {
			t.Fatalf("nobody is in the election: %v", paths)
		}
		for _, path := range paths {
			if n := tree.Get(path); !sameACL(n.ACL, acl) {
				t.Errorf("%s has the ACL %v", path, n.ACL)
			}
		}
	}
	s := serve(t, znode.NewTree())
	src := source(t, corpus(t))
	opt := options(permissive())
	opt.ACL = acl
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	res, err := m.Migrate(t.Context(), func(ctx context.Context) (*LegacyQueue, func(), error) {
		look(t, s)
		return static(src)(ctx)
	}, opt, nil)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name string
		harm []znode.Op
	}{
		{"as the run left it", nil},
		{"another client removed the election", []znode.Op{znode.Delete(ElectionPath, -1)}},
		{"... and damaged the run's record", []znode.Op{znode.Delete(ElectionPath, -1), znode.Set(znode.Join(RunsPath, res.Run), []byte("x"), -1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, treeOf(t, s))
			if len(c.harm) > 0 {
				do(t, s, c.harm...)
			}
			looked := false
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Say: func(string) {}}
			m.Progress = func(int, int) { looked = true; look(t, s) }
			_, err := m.Rollback(t.Context(), res.Run, false)
			if len(c.harm) > 1 {
				if !errors.Is(err, ErrLedger) {
					t.Fatal(err)
				}
				if n := treeOf(t, s).Get(ElectionPath); !sameACL(n.ACL, acl) {
					t.Errorf("%s has the ACL %v", n.Path, n.ACL)
				}
				return
			}
			if err != nil || !looked {
				t.Fatalf("looked: %v, error: %v", looked, err)
			}
		})
	}
}
