package migrate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// What the server refuses however often it is tried is not told as other clients' writes. The error names the znode in the way,
// the rest is done, and without it the same call ends.
func TestPermanentRefusals(t *testing.T) {
	release := func(s *site) error { return errorOf(s.tryRelease(migrate.ReleaseOptions{})) }
	rollback := func(s *site) error { return errorOf(s.rollback(migrate.RollbackOptions{})) }
	complete := func(s *site) error { return errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})) }
	kept := func(s *site) string {
		for n := range s.tree().All("/mrtq-handed-over") {
			if strings.HasSuffix(n.Path, "jid0000000002") {
				return n.Path
			}
		}
		s.t.Fatal("nothing is kept")
		return ""
	}
	for _, c := range []struct {
		name     string
		released bool
		do       func(s *site) error
		inTheWay func(s *site) string // makes it, and returns its path
		says     string               // PATH is its path, and PARENT that of its parent
	}{
		{"a znode below a record", false, release, func(s *site) string { return ingest(2) + "/x" },
			"delete PARENT: the znode has children; find out who made PATH, and remove it"},
		{"a znode below a hold", false, release, func(s *site) string { return newqueue.QueueHoldPath(newqueue.HoldIngest) + "/x" },
			"delete PARENT: the znode has children; find out who made PATH, and remove it"},
		{"a znode where bytes are to be kept", false, release, func(s *site) string {
			folder := "/mrtq-handed-over/run0000000000"
			for _, name := range s.tree().Children("/mrtq-handed-over") {
				folder = "/mrtq-handed-over/" + name // of the run
			}
			s.ensure("/mrtq-handed-over", folder)
			return folder + "/jid0000000002"
		}, "create PATH: the znode exists; find out who made it, and remove it"},
		{"a znode below kept bytes, and a rollback", true, rollback, func(s *site) string { return kept(s) + "/x" },
			"delete PARENT: the znode has children; find out who made PATH, and remove it"},
		{"a znode below kept bytes, and a completion", true, complete, func(s *site) string { return kept(s) + "/x" },
			"delete PARENT: the znode has children; find out who made PATH, and remove it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			if c.released {
				s.release()
			}
			path := c.inTheWay(s)
			s.create(path, []byte("theirs"))
			want := migrate.ErrRefused.Error() + ": " + strings.NewReplacer("PATH", path, "PARENT", znode.Parent(path)).Replace(c.says)
			if err := c.do(s); !errors.Is(err, migrate.ErrRefused) || err.Error() != want {
				t.Errorf("\ngot  %v\nwant %s", err, want)
			}
			if string(s.data(path)) != "theirs" {
				t.Errorf("%s is not as it was made", path)
			}
			s.remove(path)
			s.must(c.do(s))
		})
	}
}

// A session that may not write a run's record is told so, and not that another migrator is at work.
func TestMayNotWriteRuns(t *testing.T) {
	for path, do := range map[string]func(s *site) error{
		"/migration/runs/run0000000001": func(s *site) error { return errorOf(s.migrate(s.options())) },
		"/migration/runs/run0000000000": func(s *site) error { return errorOf(s.rollback(migrate.RollbackOptions{})) },
	} {
		s := serve(t, queueTree(t, pendings(t, 2, 1)), newqueue.Design)
		s.mustMigrate(s.options())
		if !s.has(path) {
			s.completes()
			s.late(900)
		}
		op, protected := "set "+path, path
		if !s.has(path) {
			op, protected = "create "+path, znode.Parent(path)
		}
		s.setACL(protected, append(zk.DigestACL(zk.PermAll, "operator", "secret"), zk.WorldACL(zk.PermRead)...))
		err := do(s)
		want := "nothing of a transaction was done: " + op + ": no permission (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL); then run the same command again"
		if err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", path, err, want)
		}
	}
}
