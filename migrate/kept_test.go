package migrate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func (s *site) keptOf(record string) string {
	s.t.Helper()
	return s.keptFolder() + "/" + znode.Name(s.jobOf(record))
}

// Kept bytes that are missing, or are not those of the record, are never given back: the job stays, as the only copy. Both verify and the rollback
// name them.
func TestKeptBytesThatDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(s *site, kept string)
		says    string
	}{
		"missing": {func(s *site, kept string) { s.remove(kept) }, "its kept bytes are missing"},
		"emptied": {func(s *site, kept string) { s.set(kept, []byte{}) }, "its kept bytes are not those that were handed over"},
		"changed": {func(s *site, kept string) { s.set(kept, record(t, legacy.Pending, job("0", "9"))) }, "its kept bytes are not those that were handed over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			s.release()
			kept, job := s.keptOf(ingest(2)), s.jobOf(ingest(2))
			c.happens(s, kept)
			before := dump(s.tree(), kept)
			v := s.mustVerify()
			if len(v.Notices) != 1 || v.Notices[0].Record != ingest(2) || v.Notices[0].Why != c.says+", so it can't be given back: "+kept {
				t.Errorf("verify: %+v", v.Notices)
			}
			undo := s.mustRollback(migrate.RollbackOptions{})
			if undo.GivesBack != 2 || len(undo.Keeps) != 1 || undo.Keeps[0].Record != ingest(2) || undo.Keeps[0].Why != c.says+": "+kept {
				t.Errorf("rollback: %+v", undo)
			}
			if !s.has(job) || s.has(ingest(2)) || dump(s.tree(), kept) != before {
				t.Errorf("its job: %t, its record: %t, kept:\n%s", s.has(job), s.has(ingest(2)), dump(s.tree(), kept))
			}
		})
	}
}

// Kept bytes that the session may not read are no reason to keep a job. Nothing is decided without them.
func TestKeptBytesThatAreHidden(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.must(s.door().AddAuth("digest", []byte("owner:secret")))
	s.mustMigrate(s.options())
	s.release()
	kept := s.keptOf(ingest(1))
	s.setACL(kept, zk.DigestACL(zk.PermAll, "owner", "secret"))
	before := dump(s.tree(), "/")
	want := "the kept bytes of /ingest/mrtQ-05000000000001 can't be read: " + kept + ": no permission; give credentials that can read them"
	if _, err := migrate.Verify(t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{}); err == nil || err.Error() != want {
		t.Errorf("verify: %v", err)
	}
	if _, err := migrate.PreviewRollback(t.Context(), &s.w.Reader, migrate.RollbackOptions{}); err == nil || err.Error() != want {
		t.Errorf("rollback would: %v", err)
	}
	if undo, err := s.rollback(migrate.RollbackOptions{}); err == nil || err.Error() != want || undo == nil {
		t.Errorf("rollback: %v, %+v", err, undo)
	}
	for _, n := range []string{kept, "/jobs"} {
		if got := dump(s.tree(), n); !strings.Contains(before, got) {
			t.Errorf("it was changed:\n%s", got)
		}
	}
	s.w, _ = s.open("", zkconn.DigestAuth("owner", "secret"))
	if undo := s.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 2 || len(undo.Keeps) > 0 {
		t.Errorf("with credentials: %+v", undo)
	}
}

// A record whose job stays is kept with its own ACL, whether a release or a rollback takes it out of the legacy queue.
func TestKeptACL(t *testing.T) {
	for _, command := range []string{"release", "rollback"} {
		s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.MrtZK)
		s.w, _ = s.open("", zkconn.DigestAuth("owner", "secret"))
		s.must(s.door().AddAuth("digest", []byte("owner:secret")))
		acl := append(zk.DigestACL(zk.PermAll, "owner", "secret"), zk.WorldACL(zk.PermRead)...)
		s.setACL(ingest(1), acl)
		s.mustMigrate(s.options())
		kept := s.keptOf(ingest(1))
		s.fails()
		if command == "release" {
			s.release()
		} else if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 1 {
			t.Errorf("%+v", undo)
		}
		got, _, err := s.door().GetACL(kept)
		if s.must(err); !slices.Equal(got, acl) || s.has(ingest(1)) {
			t.Errorf("%s: %v", command, got)
		}
	}
}

// Somebody decided that the job of a record that had changed has the work. What is kept then is the record as it was
// handed over, and a rollback that is forced gives that back.
func TestKeptAsItWasHandedOver(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 1)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.fails()
	changed := record(t, legacy.Held, job("0", "1"))
	s.set(ingest(1), changed)
	s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{Decisions: answerAll([]migration.Note{{Record: ingest(1)}}, migration.AnswerNew)})))
	if v := s.mustVerify(); len(v.Notices) > 0 {
		t.Errorf("%v", v.Notices)
	}
	if undo := s.mustRollback(migrate.RollbackOptions{Force: true}); undo.GivesBack != 2 || string(s.data(ingest(1))) != string(changed) {
		t.Errorf("%+v", undo)
	}
}
