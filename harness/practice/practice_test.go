package practice

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/features"
	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// A record that follow adds to a batch, while its last job is being finished, is in the batch's report.
func TestPracticeBesideFollow(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := znode.ReadDump(strings.NewReader(features.Deployed))
	must(err)
	server := harness.ForTest(t, harness.Embedded, harness.Options{Tree: loaded})
	p, err := New(t.Context(), server.Address(), "/new")
	must(err)
	must(p.Submit(1, loaded))
	p.left = 0 // only when the test says so
	w, err := zkconn.OpenWriter(t.Context(), p.at)
	must(err)
	defer w.Close()
	at, err := zkconn.ParseAddress(server.Address())
	must(err)
	r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: at})
	must(err)
	defer r.Close()
	src, err := migrate.OpenSource(t.Context(), r, migration.DefaultQueues(), legacy.Options{})
	must(err)
	choices := migration.DefaultChoices()
	choices.Failed = "held"
	_, err = migrate.Migrate(t.Context(), src, w, migrate.MigrateOptions{PlanOptions: migration.PlanOptions{Dialect: newqueue.MrtZK, Choices: choices, NewQueue: true}})
	must(err)
	_, err = migrate.Release(t.Context(), w, migrate.ReleaseOptions{})
	must(err)

	late := ""
	p.world.Fails = func(worker, record string) bool {
		if worker == string(services.Notify) && late == "" {
			_, late, err = p.depositor.Submit(p.world)
			must(err)
			res, err := migrate.Follow(t.Context(), w, migrate.FollowOptions{Once: true, Every: time.Second})
			must(err)
			if res.Moved != 1 {
				t.Errorf("follow: %+v", res)
			}
		}
		return false
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_ = p.Run(ctx, 0, func(who, does string) {
		if who == "services" && does == "waiting" {
			stop()
		}
	})
	if n := slices.IndexFunc(p.world.Emails, func(m daemons.Email) bool { return slices.Contains(m.Completed, late) }); n < 0 {
		t.Errorf("%s is in no report: %+v", late, p.world.Emails)
	}
}
