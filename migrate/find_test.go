package migrate_test

import (
	"errors"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// A record and its job are found by every id that an operator may have, also if the record or its
// run does not exist any more.
func TestFindByID(t *testing.T) {
	t.Parallel()
	first := job("one", "1")
	first["localID"] = "mine-1; mine-2"
	records := map[string][]byte{
		ingest(1): record(t, legacy.Pending, first), ingest(2): record(t, legacy.Pending, job("two", "2")), ingest(3): record(t, legacy.Pending, job("two", "3")),
		"/accessLarge.1/mrtQ-000000000007": record(t, legacy.Pending, token("7")),
	}
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		jid := znode.Name(s.jobOf(ingest(1)))
		bid := string(s.data(s.jobOf(ingest(1)) + "/bid"))
		both := string(s.data(s.jobOf(ingest(2)) + "/bid"))
		find := func(id string) (*migrate.Item, error) {
			return migrate.Find(t.Context(), &s.w.Reader, id)
		}
		check := func(when string) {
			t.Helper()
			for _, id := range []string{ingest(1), znode.Name(ingest(1)), jid, "/jobs/" + jid + "/status", bid, "bid-one", "jid-1", "ark:/99999/1", "mine-1", "mine-2"} {
				if item, err := find(id); err != nil || item.Path != ingest(1) || item.Job != "/jobs/"+jid {
					t.Errorf("%s, %s: %v, %+v", when, id, err, item)
				}
			}
			for _, id := range []string{"bid-two", both} {
				if _, err := find(id); !errors.Is(err, migrate.ErrManyItems) || strings.Count(err.Error(), ", ") != 1 {
					t.Errorf("%s, %s: %v", when, id, err)
				}
			}
			if _, err := find("nothing"); !errors.Is(err, migrate.ErrNoItem) {
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
