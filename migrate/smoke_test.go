package migrate

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/zkconn"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/newqueue"
)

func TestSmoke(t *testing.T) {
	n := 500
	if s := os.Getenv("N"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			zk := minizk.RunWith(quiet{t}, minizk.Options{RealTime: true})
			addr, err := zkconn.ParseAddress(zk.Addr())
			if err != nil {
				t.Fatal(err)
			}
			tree, err := legacyqueue.Make(legacyqueue.Options{Records: n})
			if err != nil {
				t.Fatal(err)
			}
			if err := zk.Load(tree); err != nil {
				t.Fatal(err)
			}
			w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			src, err := source.Open(t.Context(), &w.Reader, rules.DefaultQueues(), legacy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := rules.DefaultChoices()
			c.Consumed, c.Undecodable, c.InventoryRecords, c.Unserviceable = rules.AsFailed, rules.Quarantine, rules.Migrate, rules.Migrate
			began := time.Now()
			step := func(what string) {
				t.Logf("%s: %.2f s", what, time.Since(began).Seconds())
				began = time.Now()
			}
			p, err := MakePlan(t.Context(), src, &w.Reader, Options{Dialect: d, Choices: c, NewQueue: true})
			if err != nil {
				t.Fatal(err)
			}
			step("plan")
			t.Log(p.Counts(), len(p.Batches))
			if p.Blocked() {
				t.Fatal(p.Problems)
			}
			res, err := Migrate(t.Context(), src, w, MigrateOptions{Options: Options{Dialect: d, Choices: c, NewQueue: true}, Keep: func([]Record) error { return nil }, Say: func(s string) { t.Log(s) }})
			if err != nil {
				t.Fatal(err)
			}
			step(fmt.Sprint("migrate ", res.Created, " steps ", res.Steps))
			v, err := Verify(t.Context(), src, &w.Reader, VerifyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			step("verify")
			t.Log(v.Records, v.States, v.Nodes, v.ACLs, v.Unrelated)
			for i, diff := range v.Differences {
				if i < 10 {
					t.Error(diff)
				}
			}
			u, err := Rollback(t.Context(), w, "", RollbackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			step(fmt.Sprint("rollback ", u.Removes, len(u.Keeps)))
			v, err = Verify(t.Context(), src, &w.Reader, VerifyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(v.Records, v.Differences)
			res, err = Migrate(t.Context(), src, w, MigrateOptions{Options: Options{Choices: c}, Keep: func([]Record) error { return nil }, Say: func(s string) { t.Log(s) }})
			if err != nil {
				t.Fatal(err)
			}
			v, err = Verify(t.Context(), src, &w.Reader, VerifyOptions{})
			t.Log(res.Run, v.Records, v.Differences, err)
		})
	}
}

type quiet struct{ t *testing.T }

func (q quiet) Cleanup(f func())             { q.t.Cleanup(f) }
func (q quiet) Fatalf(f string, args ...any) { q.t.Fatalf(f, args...) }
func (q quiet) Logf(f string, args ...any)   {}
