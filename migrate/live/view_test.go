package live

import (
	"testing"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/internal/ledger"
)

func pending(at time.Time, czxid int64, created, children int32) Snapshot {
	return Snapshot{At: at, There: true, Jobs: []Folder{{Path: "/jobs/states/pending", Name: "pending", Stat: znode.Stat{Czxid: czxid, NumChildren: children, Cversion: 2*created - children}}}}
}

// Rates count what came and left over the last minute, even if the count itself
// hardly changed.
func TestRates(t *testing.T) {
	at := func(seconds int) time.Time { return testNow.Add(time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		looks   []Snapshot
		in, out float64 // -1: not known
	}{
		"one look":             {[]Snapshot{pending(at(0), 1, 5, 5)}, -1, -1},
		"nothing":              {[]Snapshot{pending(at(0), 1, 5, 5), pending(at(30), 1, 5, 5)}, 0, 0},
		"some came":            {[]Snapshot{pending(at(0), 1, 5, 5), pending(at(30), 1, 8, 8)}, 6, 0},
		"as many came as went": {[]Snapshot{pending(at(0), 1, 5, 5), pending(at(30), 1, 8, 5)}, 6, 6},
		"over the last minute": {[]Snapshot{pending(at(0), 1, 0, 0), pending(at(40), 1, 60, 60), pending(at(80), 1, 80, 80)}, 30, 0},
		"the folder recreated": {[]Snapshot{pending(at(0), 1, 500, 5), pending(at(30), 2, 8, 8)}, -1, -1},
		"no time passed":       {[]Snapshot{pending(at(0), 1, 5, 5), pending(at(0), 1, 8, 8)}, -1, -1},
		"it was not there":     {[]Snapshot{{At: at(0), There: true}, pending(at(30), 1, 8, 8)}, -1, -1},
		"a clock put back":     {[]Snapshot{pending(at(60), 1, 5, 5), pending(at(30), 1, 8, 8)}, -1, -1},
		"a wrapped counter":    {[]Snapshot{pending(at(0), 1, 1<<30+1, 4), pending(at(30), 1, 1<<30+4, 4)}, 6, 6},
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
		h = h.Add(Snapshot{At: testNow.Add(time.Duration(i) * time.Second)})
		if len(h) > 62 || h[len(h)-1].At.Sub(h[0].At) > Window {
			t.Fatalf("after %d s: %d looks over %v", i, len(h), h[len(h)-1].At.Sub(h[0].At))
		}
	}
	h = h.Add(Snapshot{At: testNow.Add(time.Hour)})
	if len(h) > 2 {
		t.Errorf("%d", len(h))
	}
}

// Something that the server created "after now" has age 0, because the server's clock
// may be ahead of ours.
func TestNoNegativeAge(t *testing.T) {
	s := Snapshot{At: testNow, Locks: []Lock{{Kind: LockJob, Since: testNow.Add(time.Hour)}}, Holds: []Hold{{Since: testNow.Add(time.Hour)}}}
	v := History{s}.View()
	if v.Locks.List[0].Seconds != 0 || v.Locks.Oldest != 0 || v.Holds[0].Seconds != 0 {
		t.Errorf("%+v", v)
	}
}

// A view has a note about an unfinished run that no migrator works on. Two looks have
// to agree, because a migrator may come or leave during one look.
func TestAbandonedRun(t *testing.T) {
	running := Migration{Path: "/migration/runs/run0000000000", Run: &migrate.Run{ID: "run0000000000", State: ledger.Running}}
	attended := running
	attended.Migrators = []Migrator{{Path: "n-0"}}
	for name, c := range map[string]struct {
		looks []Migration
		notes int
	}{
		"no migrator at the first look":     {[]Migration{running}, 1},
		"a migrator at the last look":       {[]Migration{running, attended}, 0},
		"a migrator at the look before":     {[]Migration{attended, running}, 0},
		"no migrator at the last two looks": {[]Migration{attended, running, running}, 1},
	} {
		var h History
		for i, m := range c.looks {
			h = h.Add(Snapshot{At: testNow.Add(time.Duration(i) * time.Second), There: true, Migration: m})
		}
		if got := h.View().Notes; len(got) != c.notes {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The size of a folder, and what is known of it, decide how it is read.
func TestChoose(t *testing.T) {
	stat := func(children int32, pzxid int64) znode.Stat {
		return znode.Stat{Czxid: 1, NumChildren: children, Pzxid: pzxid}
	}
	known := func(s znode.Stat) folder { return folder{keep: 1, listed: s, at: testNow} }
	refused := stat(5, 3)
	opened := refused
	opened.Aversion = 1
	for name, c := range map[string]struct {
		f     folder
		stat  znode.Stat
		after time.Duration
		want  way
	}{
		"small":                     {folder{}, stat(watchable, 3), 0, listWatch},
		"large, never listed":       {folder{keep: 1}, stat(watchable+1, 3), 0, list},
		"large, as listed":          {known(stat(5000, 3)), stat(5000, 3), time.Hour, count},
		"large, changed, too soon":  {known(stat(5000, 3)), stat(5001, 4), 400 * time.Millisecond, count},
		"large, changed, by now":    {known(stat(5000, 3)), stat(5000, 5), 600 * time.Millisecond, list},
		"large, only counted":       {folder{}, stat(watchable+1, 3), 0, count},
		"huge":                      {folder{keep: 1}, stat(listable+1, 3), 0, count},
		"refused":                   {folder{refused: &refused}, refused, time.Hour, count},
		"refused, and then changed": {folder{refused: &refused}, opened, 0, listWatch},
	} {
		if got := c.f.choose(c.stat, testNow.Add(c.after)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
