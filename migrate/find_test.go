package migrate_test

import (
	"errors"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// A record and its job are found by every id that an operator may have, also if the record
// does not exist any more.
func TestFindByID(t *testing.T) {
	t.Parallel()
	twin := job("two", "2")
	records := map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("one", "1")), ingest(2): record(t, legacy.Pending, twin), ingest(3): record(t, legacy.Pending, twin),
		"/accessLarge.1/mrtQ-000000000007": record(t, legacy.Pending, token("7")),
	}
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		jid := znode.Name(s.jobOf(ingest(1)))
		find := func(id string) (*migrate.FindResult, error) {
			return migrate.Find(t.Context(), &s.w.Reader, id)
		}
		check := func(when string) {
			t.Helper()
			for _, id := range []string{ingest(1), znode.Name(ingest(1)), jid, "/jobs/" + jid + "/status", "jid-1"} {
				if item, err := find(id); err != nil || item.Path != ingest(1) || item.Job != "/jobs/"+jid {
					t.Errorf("%s, %s: %v, %+v", when, id, err, item)
				}
			}
			_, err := find("jid-2")
			if want := "jid-2: several have this id; give the path of one: " + ingest(2) + ", " + ingest(3); !errors.Is(err, migrate.ErrAmbiguousID) || err.Error() != want {
				t.Errorf("%s: %v, want %s", when, err, want)
			}
			if _, err := find("nothing"); !errors.Is(err, migrate.ErrNotFound) {
				t.Errorf("%s: %v", when, err)
			}
			if item, err := find("7"); err != nil || item.Path != "/accessLarge.1/mrtQ-000000000007" {
				t.Errorf("%s: %v, %+v", when, err, item)
			}
		}
		check("after the migration")
		s.release()
		for path := range records {
			s.remove(path)
		}
		check("when the legacy queue is empty")
	})
}
