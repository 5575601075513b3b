package life_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// A life is many acts and commands, one after the other and some in the middle of others, in the explorer's world and
// before its oracle.

type life struct {
	choices migration.Choices
	back    bool // the operator wants the legacy queue in the end
	busy    bool
	submits bool // a submitter never stops
	steps   []step
}

type step struct {
	what    string
	record  int // of those for ingest: the one that acts take first
	trouble trouble
}

type trouble struct {
	kind string
	nth  int    // at which change of the command, or before which of its requests
	act  string // which act; for "others act"
}

// troubles are the kinds. The first is none.
var troubles = []string{"", "killed before a change", "killed after a change", "connection lost before a change", "connection lost after a change",
	"cancelled", "session expires", "others act"}

var commands = []string{"migrate", "migrate", "verify", "verify", "release", "release", "release ingest", "follow", "follow", "rollback", "rollback --force", "complete", "hold"}

// all are the acts of the explorer, and one that blocks the next plan, until the operator chooses something else in the
// middle of a run. In the end a legacy administrator deletes its record.
var all = append(slices.Clone(deeds), deed{name: "a record that no service can do is submitted", do: func(e *explored) {
	key := "jid-" + e.newID()
	e.unserviceable = append(e.unserviceable, e.submit("/ingest/mrtQ-0000", legacy.Pending, legacy.Payload{"batchID": "bid-7", "jobID": key, "type": "file", "submitter": "Library"}))
	e.fates[key] = fate{0, 1}
}})

// deedOf finds an act by its name; nil if it is none.
func deedOf(name string) *deed {
	if i := slices.IndexFunc(all, func(d deed) bool { return d.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

func drawLife(t *rapid.T) life {
	var names []string
	for _, d := range all {
		names = append(names, d.name)
	}
	drawStep := rapid.Custom(func(t *rapid.T) step {
		s := step{record: rapid.IntRange(0, atWork).Draw(t, "record")}
		if rapid.Bool().Draw(t, "others") {
			s.what = rapid.SampledFrom(names).Draw(t, "act")
			return s
		}
		s.what = rapid.SampledFrom(commands).Draw(t, "command")
		if rapid.IntRange(0, 2).Draw(t, "trouble") > 0 {
			s.trouble = trouble{rapid.SampledFrom(troubles).Draw(t, "what"), rapid.IntRange(1, 40).Draw(t, "nth"), rapid.SampledFrom(names).Draw(t, "meanwhile")}
		}
		return s
	})
	l := life{choices: willing, back: rapid.Bool().Draw(t, "back"), busy: rapid.Bool().Draw(t, "busy"), submits: rapid.Bool().Draw(t, "submits")}
	l.choices.Failed = rapid.SampledFrom([]string{"held", "pending"}).Draw(t, "failed records")
	l.choices.Completed = rapid.SampledFrom([]string{"migrate", "skip"}).Draw(t, "completed records")
	l.choices.Unserviceable = rapid.SampledFrom([]string{"block", "migrate"}).Draw(t, "records that no service can do")
	for range 4 { // rapid draws short lists
		l.steps = append(l.steps, rapid.SliceOfN(drawStep, 0, 8).Draw(t, "steps")...)
	}
	return l
}

// TestLives lives random lives. `make torture` lives many.
func TestLives(t *testing.T) {
	// The default of a hundred lives takes too long. They are the same in every test, so
	// that a failure is due to the change.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		for name, text := range map[string]string{"rapid.checks": "80", "rapid.seed": "1"} {
			f := flag.Lookup(name)
			was := f.Value.String()
			must(f.Value.Set(text))
			t.Cleanup(func() { must(f.Value.Set(was)) })
		}
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			counts := map[string]int{}
			rapid.Check(t, func(rt *rapid.T) {
				l := drawLife(rt)
				story, failed := world(t, d, night{command: "migrate", back: l.back}, nil, func(e *explored) { e.live(l) })
				for _, s := range l.steps {
					counts[s.what]++
					counts["("+s.trouble.kind+")"]++
				}
				if failed != "" {
					rt.Fatalf("%s\n    %s", failed, strings.Join(story, "\n    "))
				}
			})
			for _, what := range slices.Sorted(maps.Keys(counts)) {
				t.Logf("%4d  %s", counts[what], what)
			}
		})
	}
}

func (e *explored) live(l life) {
	e.choices, e.busy, e.repeated, e.life = l.choices, l.busy, true, true
	for i, s := range l.steps {
		if l.submits {
			e.deposited(e.newID(), []string{"bid-1", "bid-8", "bid-9"}[i%3], legacy.Pending)
		}
		e.paths[ofBatch], e.paths[s.record] = e.paths[s.record], e.paths[ofBatch]
		if d := deedOf(s.what); d != nil {
			e.act(d, nil)
		} else {
			e.troubled(s.what, s.trouble)
		}
	}
	e.words = words{}
	e.end(&recording{ended: map[[32]byte]bool{}})
	e.mails()
}

func (e *explored) troubled(what string, t trouble) {
	if t.kind == "" {
		e.run(what)
		return
	}
	o := e.operator()
	defer o.close()
	e.say("operator: %s %+v; %s, %d", what, e.words, t.kind, t.nth)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	var out outcome
	switch i := slices.Index(troubles, t.kind); {
	case i <= 4:
		cut := e.cut(o, t.nth, i%2 == 0, i <= 2)
		out = e.command(ctx, o, what)
		cut.remove()
	default:
		out = e.during(ctx, o, what, t.nth, func() {
			switch t.kind {
			case "cancelled":
				cancel()
			case "session expires":
				e.endSessions(o)
				e.deposed = true
			default:
				e.act(deedOf(t.act), o)
			}
		})
	}
	e.oneQueue()
	if o.dead() || ctx.Err() != nil && errors.Is(out.error, context.Canceled) { // nobody saw the outcome
		out = outcome{}
	}
	e.learn(what, out)
}

func (s step) String() string { return fmt.Sprintf("%s (record %d, %+v)", s.what, s.record, s.trouble) }
