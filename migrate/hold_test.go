package migrate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

const ingestHold = "/locks/queue/ingest"

var alice = HoldNote{By: "alice@host", At: testNow, Why: "disk full"}

// heldSite migrates two records and returns the target and its source.
func heldSite(t *testing.T) (*site, *Source) {
	t.Helper()
	target := serve(t, znode.NewTree())
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "two"}),
	}))
	mustMigrate(t, target, src, options(permissive()))
	return target, src
}

func holdsOf(t *testing.T, s *site) *Holds {
	t.Helper()
	h, err := ReadHolds(t.Context(), s.Target.Side(nil))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Holds say who set each hold, and whether it covers a migration.
func TestHoldsOf(t *testing.T) {
	type want struct {
		by        string
		coversRun bool
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *site)
		want   want
	}{
		"the run's": {
			change: func(*testing.T, *site) {},
			want:   want{"run0000000000", true},
		},
		"another tool's, set after the run": {
			change: func(t *testing.T, s *site) {
				do(t, s, znode.Delete(ingestHold, -1))
				do(t, s, znode.Create(ingestHold, none))
			},
			want: want{"", false},
		},
		"mrtq hold's, set after the run": {
			change: func(t *testing.T, s *site) {
				do(t, s, znode.Delete(ingestHold, -1))
				do(t, s, znode.Create(ingestHold, alice.Encode()))
			},
			want: want{"alice@host", false},
		},
		"the run's, whose record is damaged": {
			change: func(t *testing.T, s *site) { do(t, s, znode.Set("/migration/runs/run0000000000", []byte("{}"), -1)) },
			want:   want{"", true},
		},
		"the run's, whose record is gone": {
			change: func(t *testing.T, s *site) { do(t, s, znode.Delete("/migration/runs/run0000000000", -1)) },
			want:   want{"", true},
		},
		"mrtq hold's, set after a run whose record is gone": {
			change: func(t *testing.T, s *site) {
				do(t, s, znode.Delete(ingestHold, -1))
				do(t, s, znode.Create(ingestHold, alice.Encode()))
				do(t, s, znode.Delete("/migration/runs/run0000000000", -1))
			},
			want: want{"alice@host", true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := heldSite(t)
			c.change(t, s)
			h := holdsOf(t, s)
			if len(h.List) != 3 {
				t.Fatalf("%d holds", len(h.List))
			}
			got := h.List[0]
			if got.Path != ingestHold || got.By != c.want.by || got.CoversRun != c.want.coversRun || got.Since.IsZero() {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// A hold that was set before the run covers the run, too, because a run sets no second hold.
func TestHoldBeforeRun(t *testing.T) {
	target := serve(t, znode.NewTree())
	do(t, target, znode.Create("/locks", none), znode.Create("/locks/queue", none), znode.Create(ingestHold, alice.Encode()))
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "one"}),
	}))
	if h := holdsOf(t, target); h.List[0].CoversRun {
		t.Error("there was no migration yet")
	}
	mustMigrate(t, target, src, options(permissive()))
	if h := holdsOf(t, target); h.List[0].By != "alice@host" || !h.List[0].CoversRun {
		t.Errorf("got %+v", h.List[0])
	}
}

// An administrator's hold is no difference, breaks no rule of the layout, and
// stays when the run is rolled back.
func TestAdministratorsHold(t *testing.T) {
	s, src := heldSite(t)
	if err := s.Target.LiftHolds(t.Context(), holdsOf(t, s).List[:1], holdsOf(t, s)); err != nil {
		t.Fatal(err)
	}
	if treeOf(t, s).Get(ingestHold) != nil {
		t.Fatal("the hold is there")
	}
	set, there, err := s.Target.SetHolds(t.Context(), []string{ingestHold, "/locks/queue/accessSmall", "/locks/collections/demo"}, alice)
	if err != nil || len(set) != 2 || len(there) != 1 {
		t.Fatalf("set %v, there %v, %v", set, there, err)
	}
	mustVerify(t, src, treeOf(t, s))
	if h := holdsOf(t, s); s.Target.LiftHolds(t.Context(), h.List[3:], h) != nil || treeOf(t, s).Get("/locks/collections/demo") != nil {
		t.Error("the hold on the collection stays")
	}
	mustVerify(t, src, treeOf(t, s))
	for _, d := range newqueue.Dialects {
		for _, p := range lint.Check(treeOf(t, s), d) {
			if strings.HasPrefix(p.Path, newqueue.LocksPath) {
				t.Errorf("%s: %v", d, p)
			}
		}
	}
	u, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), "run0000000000", false)
	if err != nil || len(u.Kept) != 0 {
		t.Fatalf("%v, kept %v", err, u)
	}
	n := treeOf(t, s).Get(ingestHold)
	if n == nil || string(n.Data) != string(alice.Encode()) {
		t.Errorf("the administrator's hold is %v", n)
	}
	if !slices.ContainsFunc(u.Left, func(k Kept) bool { return k.Path == ingestHold }) {
		t.Errorf("the rollback doesn't say that it stays: %v", u.Left)
	}
}

// Data that looks like a note doesn't make another client's change of the run's own
// hold an administrator's.
func TestRunsHoldOverwritten(t *testing.T) {
	s, src := heldSite(t)
	do(t, s, znode.Set(ingestHold, alice.Encode(), -1))
	v := verdict(t, src, treeOf(t, s), VerifyOptions{})
	if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == ingestHold && d.Kind == NodeChanged }) {
		t.Errorf("verify found %v", v.Differences)
	}
}

// Either all holds are lifted or none. None is lifted if the target has changed since it
// was read.
func TestLiftHoldsRefuses(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *site){
		"a hold set again": func(t *testing.T, s *site) {
			do(t, s, znode.Delete(ingestHold, -1))
			do(t, s, znode.Create(ingestHold, none))
		},
		"a hold changed": func(t *testing.T, s *site) { do(t, s, znode.Set(ingestHold, []byte("mine"), -1)) },
		"a run that came since": func(t *testing.T, s *site) {
			mustMigrate(t, s, source(t, queue(t, map[string][]byte{
				"/ingest/mrtQ-05000000000003": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-3", "jobID": "three"}),
			})), options(permissive()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := heldSite(t)
			h := holdsOf(t, s)
			change(t, s)
			before := dumpOf(t, treeOf(t, s), newqueue.LocksPath)
			if err := s.Target.LiftHolds(t.Context(), h.List, h); !errors.Is(err, ErrHoldsChanged) {
				t.Errorf("error %v", err)
			}
			if after := dumpOf(t, treeOf(t, s), newqueue.LocksPath); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

// A run that was rolled back and made again has the same id and as many transactions.
func TestLiftHoldsOfAnotherRun(t *testing.T) {
	s := serve(t, znode.NewTree())
	do(t, s, znode.Create("/locks", none), znode.Create("/locks/queue", none), znode.Create(ingestHold, alice.Encode()))
	src := source(t, queue(t, map[string][]byte{"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"})}))
	mustMigrate(t, s, src, options(permissive()))
	h := holdsOf(t, s)
	m := &Migrator{Target: s.Target, Now: clock()}
	if _, err := m.Rollback(t.Context(), h.newest.ID, false); err != nil {
		t.Fatal(err)
	}
	mustMigrate(t, s, src, options(permissive()))
	if again := holdsOf(t, s).newest; again.ID != h.newest.ID || again.stat.Version != h.newest.stat.Version {
		t.Fatalf("another run: %s, version %d", again.ID, again.stat.Version)
	}
	if err := s.Target.LiftHolds(t.Context(), h.List[:1], h); h.List[0].By != alice.By || !errors.Is(err, ErrHoldsChanged) {
		t.Errorf("error %v", err)
	}
}

// A hold that another client lifted is no error, and the rest is lifted.
func TestLiftHoldsAlreadyLifted(t *testing.T) {
	s, _ := heldSite(t)
	h := holdsOf(t, s)
	do(t, s, znode.Delete(ingestHold, -1))
	if err := s.Target.LiftHolds(t.Context(), h.List, h); err != nil {
		t.Fatal(err)
	}
	if got := holdsOf(t, s).List; len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// The operations of a release are one transaction, with a check of the run.
func TestLiftIsOneTransaction(t *testing.T) {
	s, _ := heldSite(t)
	h := holdsOf(t, s)
	ops, err := h.lift(h.List, h)
	var got []string
	for _, op := range ops {
		got = append(got, op.String())
	}
	want := []string{"delete /locks/queue/ingest", "delete /locks/queue/accessSmall", "delete /locks/queue/accessLarge", "check /migration/runs/run0000000000"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	run := ops[3]
	do(t, s, znode.Set(run.Path, treeOf(t, s).Get(run.Path).Data, -1))
	if err := s.Target.Multi(t.Context(), ops); err == nil || errors.Is(err, zkconn.ErrUnknownOutcome) || len(holdsOf(t, s).List) != 3 {
		t.Errorf("a run that went on: %v, %v", err, holdsOf(t, s).List)
	}
}

// A hold has the ACL of the newest run.
func TestHoldHasTheRunsACL(t *testing.T) {
	s, _ := heldSite(t)
	h := holdsOf(t, s)
	h.newest.ACL = []znode.ACL{{Perms: 31, Scheme: "digest", ID: "x:y"}}
	ops := h.Set([]string{"/locks/collections/demo"}, alice)
	if len(ops) == 0 || ops[len(ops)-1].Path != "/locks/collections/demo" || ops[len(ops)-1].ACL[0].ID != "x:y" {
		t.Errorf("%+v", ops)
	}
}

// A target without a queue has nothing to hold.
func TestHoldsWithoutQueue(t *testing.T) {
	if _, err := HoldsIn(znode.NewTree()); !errors.Is(err, ErrNoQueue) {
		t.Errorf("error %v", err)
	}
}

func TestHoldPaths(t *testing.T) {
	got, err := HoldPaths([]newqueue.QueueHold{newqueue.HoldIngest}, []string{"demo content"})
	if want := []string{ingestHold, "/locks/collections/demo content"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, c := range []struct {
		queues      []newqueue.QueueHold
		collections []string
	}{{[]newqueue.QueueHold{"inventory"}, nil}, {nil, []string{""}}, {nil, []string{"a/b"}}, {nil, []string{".."}}, {nil, []string{"\x00"}}} {
		if got, err := HoldPaths(c.queues, c.collections); err == nil {
			t.Errorf("%q %q: got %q", c.queues, c.collections, got)
		}
	}
}

func TestParseHoldNote(t *testing.T) {
	for _, data := range []string{"", "null", "{}", `{"by":"x"}`, `{"at":"2026-01-02T03:04:05Z"}`, `[]`, "text"} {
		if n, ok := ParseHoldNote([]byte(data)); ok {
			t.Errorf("%q is %+v", data, n)
		}
	}
	if n, ok := ParseHoldNote(alice.Encode()); !ok || n != alice {
		t.Errorf("got %+v", n)
	}
}
