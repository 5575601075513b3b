package migrate

import (
	"context"
	"errors"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// A plan that was shown is carried out as it is: nothing is read and planned a second time. If
// another migrator was at work since, a new plan is made.
func TestShownPlanIsCarriedOut(t *testing.T) {
	errRead := errors.New("the source is opened again")
	again := func(context.Context) (*LegacyQueue, func(), error) { return nil, nil, errRead }
	for name, c := range map[string]struct {
		between func(t *testing.T, s *site, src *Source)
		want    error
	}{
		"first":       {func(*testing.T, *site, *Source) {}, nil},
		"undisturbed": {func(*testing.T, *site, *Source) {}, nil},
		"others write": {func(t *testing.T, s *site, _ *Source) {
			do(t, s, znode.Create("/jobs", []byte{}))
		}, errRead}, // the holds are set, and then the layout exists already
		"a queue is released": {func(t *testing.T, s *site, _ *Source) {
			do(t, s, znode.Delete("/locks/queue/ingest", -1))
		}, errRead}, // otherwise the rest would be created while the queue is in use
		"another migrator": {func(t *testing.T, s *site, src *Source) { mustMigrate(t, s, src, options(permissive())) }, errRead},
		"one that was rolled back": {func(t *testing.T, s *site, src *Source) {
			res := mustMigrate(t, s, src, options(permissive()))
			if _, err := (&Migrator{Target: s.Target, Now: clock()}).Rollback(t.Context(), res.Run, false); err != nil {
				t.Fatal(err)
			}
		}, errRead},
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, queue(t, fourRecords(t)))
			s := serve(t, znode.NewTree())
			// There are runs already, so that there is something to compare.
			records := fourRecords(t)
			delete(records, "/ingest/mrtQ-05000000000003")
			delete(records, "/ingest/mrtQ-05000000000004")
			if name != "others write" && name != "first" {
				mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
			}
			q, err := opened(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			p, err := MakePlan(t.Context(), q, side.Tree(treeOf(t, s)), options(permissive()))
			if err != nil {
				t.Fatal(err)
			}
			c.between(t, s, src)
			m := &Migrator{Target: s.Target, Now: clock(), Plan: p}
			res, err := m.Migrate(t.Context(), again, options(permissive()), nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if c.want == nil {
				if res.Plan != p || res.Done.Records() != p.Count(ActCreate) || res.Done.Records() == 0 {
					t.Errorf("%+v", res)
				}
				mustVerify(t, src, treeOf(t, s))
			}
		})
	}
}
