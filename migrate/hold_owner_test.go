package migrate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
)

// A hold that a person sets while a run is under way is theirs: status and release say so,
// and it stays when the run is rolled back. The run's own holds are removed.
func TestOwnerOfAHoldSetDuringTheRun(t *testing.T) {
	again := func(data []byte) func(*testing.T, *site) {
		return func(t *testing.T, s *site) {
			do(t, s, znode.Delete(ingestHold, -1))
			do(t, s, znode.Create(ingestHold, data))
		}
	}
	lift := func(t *testing.T, s *site) { do(t, s, znode.Delete(ingestHold, -1)) }
	nothing := func(*testing.T, *site) {}
	for name, c := range map[string]struct {
		during, after func(*testing.T, *site) // after: between the kill and the end of the run
		by, why       string
	}{
		"nobody set one":                     {during: nothing, by: "run0000000000"},
		"mrtq hold set one":                  {during: again(alice.Encode()), by: "alice@host", why: "disk full"},
		"another tool set one":               {during: again(none)},
		"the run held again what was lifted": {during: nothing, after: lift, by: "run0000000000"},
		"mrtq hold set one after a kill":     {during: nothing, after: again(alice.Encode()), by: "alice@host", why: "disk full"},
		"another tool set one after a kill":  {during: nothing, after: again(none)},
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, queue(t, fourRecords(t)))
			s := serve(t, znode.NewTree())
			changed := false
			s.before(t, func(n int) {
				if n == 2 && !changed {
					changed = true
					c.during(t, s)
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1, Progress: func(done, _ int) {
				if c.after != nil && done == 1 {
					cancel()
				}
			}}
			if _, err := m.Migrate(ctx, static(src), options(permissive()), nil); err != nil && c.after == nil {
				t.Fatal(err)
			}
			if c.after != nil {
				c.after(t, s)
				m := &Migrator{Target: s.Target, Now: clock(), HoldAgain: true, Keep: keepNothing, Budget: 1}
				if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); err != nil {
					t.Fatal(err)
				}
			}
			mustVerify(t, src, treeOf(t, s))

			if h := holdsOf(t, s).List[0]; h.By != c.by || h.Why != c.why || !h.CoversRun {
				t.Errorf("release would say %+v", h)
			}
			status, err := ReadStatus(t.Context(), s.Target.Side(nil))
			if err != nil {
				t.Fatal(err)
			}
			if h := status.Holds[0]; h.Path != ingestHold || h.By != cmp.Or(c.by, "others") || h.Why != c.why || h.Since.IsZero() != (c.why == "") {
				t.Errorf("status says %+v", h)
			}
			u, err := (&Migrator{Target: s.Target, Now: clock()}).Rollback(t.Context(), "run0000000000", false)
			if err != nil || len(u.Kept) > 0 {
				t.Fatalf("%v, %+v", err, u)
			}
			mine := c.by == "run0000000000"
			if there := treeOf(t, s).Get(ingestHold) != nil; there == mine {
				t.Errorf("after the rollback it is there: %t", there)
			}
			left := slices.IndexFunc(u.Left, func(k Kept) bool { return k.Path == ingestHold })
			if (left < 0) != mine {
				t.Fatalf("the rollback left %v", u.Left)
			}
			if !mine && c.why != "" && !strings.Contains(u.Left[left].Why, "alice@host") {
				t.Errorf("the rollback doesn't say whose it is: %v", u.Left[left])
			}
		})
	}
}

// In a copy the transactions show nothing, and only a hold's data counts.
func TestOwnerOfAHoldInACopy(t *testing.T) {
	s, _ := heldSite(t)
	do(t, s, znode.Delete(ingestHold, -1), znode.Create(ingestHold, alice.Encode()))
	tree := znode.NewTree()
	for n := range treeOf(t, s).All("/") {
		n.Stat.Czxid, n.Stat.Mzxid = 0, 0
		if err := tree.Put(*n); err != nil {
			t.Fatal(err)
		}
	}
	h, err := HoldsIn(tree)
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, hold := range h.List {
		by = append(by, hold.By)
	}
	if want := []string{"alice@host", "run0000000000", "run0000000000"}; !slices.Equal(by, want) {
		t.Errorf("got %q, want %q", by, want)
	}
}
