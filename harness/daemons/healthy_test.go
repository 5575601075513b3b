package daemons_test

import (
	"strings"
	"testing"
	"time"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestHealthyQueue: check says nothing against a queue in which services work, before each of their writes and after the last.
func TestHealthyQueue(t *testing.T) {
	q := newQueue(t, daemons.Options{Fails: func(worker, record string) bool {
		return worker == string(services.Download) && record == "jid-jid0000000003"
	}})
	q.add("Pending", newqueue.Object{"type": "container", "identifiers": `{"primary_id":"","local_id":["a/b"]}`})
	q.add("Pending", newqueue.Object{"identifiers": `{"primary_id":"ark:/1/2","local_id":[]}`})
	q.add("Pending", newqueue.Object{"type": "manifest"})
	q.request(newqueue.AccessSmall, "x")
	writes := healthy(t, q.World, q.tree, newqueue.MrtZK)
	if q.status("jid0000000001") != "Completed" || q.status("jid0000000003") != "Failed" || len(q.Emails) != 3 {
		t.Errorf("the services are not done: %v", q.Troubles)
	}
	for _, lock := range []string{"delete /locks/storage/ark_1_2", "delete /locks/localid/a_b_", "delete /locks/inventory/ark_1_2", "delete /batches/bid0000000001/lock"} {
		if !strings.Contains(writes, lock) {
			t.Errorf("nobody did %s", lock)
		}
	}
}

// TestHealthyQueueOfTheDesign is that with workers of dialect design, who write in transactions.
func TestHealthyQueueOfTheDesign(t *testing.T) {
	s := serve(t, value(legacyqueue.Make(legacyqueue.Options{Records: 4, Seed: 1}))(t))
	opt := migrate.MigrateOptions{PlanOptions: options(), SaveQuarantined: func([]migration.Record) error { return nil }}
	opt.Dialect = newqueue.Design
	value(migrate.Migrate(t.Context(), s.source(t), s.open(t), opt))(t)
	w := daemons.New(daemons.Options{New: s.place(t), Dialect: newqueue.Design})
	t.Cleanup(w.Close)
	must(t, w.LiftHolds())
	if writes := healthy(t, w, s.tree, newqueue.Design); !strings.Contains(writes, "/jobs/jid") {
		t.Errorf("the workers did nothing:\n%s", writes)
	}
}

// healthy lets all workers work to the end, and checks the tree before each write. It returns the writes.
func healthy(t *testing.T, w *daemons.World, tree func(*testing.T) *znode.Tree, d newqueue.Dialect) string {
	l := value(merritt.Named("merritt", string(d)))(t)
	var writes strings.Builder
	for did := true; did; {
		did = false
		for _, a := range w.Workers() {
			turn := a.Begin()
			for more := true; more; {
				var p daemons.Pause
				p, more = turn.Next()
				did = did || more
				writes.WriteString(p.Write + "\n")
				for _, f := range value(l.Check(t.Context(), layout.InMemory(tree(t)), layout.Options{Now: time.Now()}))(t).Findings {
					if f.Severity != layout.Info {
						t.Errorf("%s, before %q: %s", a.Name, p.Write, f)
					}
				}
			}
		}
	}
	return writes.String()
}
