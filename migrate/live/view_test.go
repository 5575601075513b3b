package live

import (
	"testing"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
)

func pending(at time.Time, czxid int64, created, children int32) View {
	return View{AsOf: at, Jobs: []Queue{queueOf("pending", znode.Stat{Czxid: czxid, NumChildren: children, Cversion: 2*created - children})}}
}

// Rates count what came and left over the last minute, even if the count itself
// hardly changed.
func TestRates(t *testing.T) {
	at := func(seconds int) time.Time { return testNow.Add(time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		looks   []View
		in, out float64 // -1: not known
	}{
		"one look":             {[]View{pending(at(0), 1, 5, 5)}, -1, -1},
		"nothing":              {[]View{pending(at(0), 1, 5, 5), pending(at(30), 1, 5, 5)}, 0, 0},
		"some came":            {[]View{pending(at(0), 1, 5, 5), pending(at(30), 1, 8, 8)}, 6, 0},
		"as many came as went": {[]View{pending(at(0), 1, 5, 5), pending(at(30), 1, 8, 5)}, 6, 6},
		"over the last minute": {[]View{pending(at(0), 1, 0, 0), pending(at(40), 1, 60, 60), pending(at(80), 1, 80, 80)}, 30, 0},
		"the folder recreated": {[]View{pending(at(0), 1, 500, 5), pending(at(30), 2, 8, 8)}, -1, -1},
		"no time passed":       {[]View{pending(at(0), 1, 5, 5), pending(at(0), 1, 8, 8)}, -1, -1},
		"it was not there":     {[]View{{AsOf: at(0)}, pending(at(30), 1, 8, 8)}, -1, -1},
		"a clock put back":     {[]View{pending(at(60), 1, 5, 5), pending(at(30), 1, 8, 8)}, -1, -1},
		"a wrapped counter":    {[]View{pending(at(0), 1, 1<<30+1, 4), pending(at(30), 1, 1<<30+4, 4)}, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			var h History
			for _, s := range c.looks {
				h = h.Add(s)
			}
			q := h.View().Jobs[0]
			for _, r := range []struct {
				what string
				got  *float64
				want float64
			}{{"in", q.In, c.in}, {"out", q.Out, c.out}} {
				switch {
				case r.want < 0 && r.got != nil:
					t.Errorf("%s: %v, want none", r.what, *r.got)
				case r.want >= 0 && (r.got == nil || *r.got != r.want):
					t.Errorf("%s: %v, want %v", r.what, r.got, r.want)
				}
			}
		})
	}
}

// A history is a minute long, and always has the newest snapshot.
func TestHistoryIsAMinute(t *testing.T) {
	var h History
	for i := range 1000 {
		h = h.Add(View{AsOf: testNow.Add(time.Duration(i) * time.Second)})
		if len(h) > 62 || h[len(h)-1].AsOf.Sub(h[0].AsOf) > Window {
			t.Fatalf("after %d s: %d looks over %v", i, len(h), h[len(h)-1].AsOf.Sub(h[0].AsOf))
		}
	}
	h = h.Add(View{AsOf: testNow.Add(time.Hour)})
	if len(h) > 2 {
		t.Errorf("%d", len(h))
	}
}

// Something that the server created "after now" has age 0, because the server's clock
// may be ahead of ours.
func TestNoNegativeAge(t *testing.T) {
	s := serve(t)
	s.now = func() time.Time { return testNow.Add(-time.Hour) }
	s.make("/locks/storage/a", "/locks/queue/ingest")
	v := s.look()
	if v.Locks.List[0].Seconds != 0 || v.Locks.Oldest != 0 || v.Holds[0].Seconds != 0 {
		t.Errorf("%+v", v)
	}
}

// A view has a note about an unfinished run that no migrator works on. Two looks have
// to agree, because a migrator may come or leave during one look.
func TestAbandonedRun(t *testing.T) {
	running := View{Migration: &RunView{Run: "run0000000000", State: ledger.Running}}
	attended := running
	attended.Migrators = 1
	for name, c := range map[string]struct {
		looks []View
		notes int
	}{
		"no migrator at the first look":     {[]View{running}, 1},
		"a migrator at the last look":       {[]View{running, attended}, 0},
		"a migrator at the look before":     {[]View{attended, running}, 0},
		"no migrator at the last two looks": {[]View{attended, running, running}, 1},
	} {
		var h History
		for i, v := range c.looks {
			v.AsOf = testNow.Add(time.Duration(i) * time.Second)
			h = h.Add(v)
		}
		if got := h.View().Notes; len(got) != c.notes {
			t.Errorf("%s: %q", name, got)
		}
	}
}
