package life_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"mrtq/harness/daemons"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// step is a step of a life: an act of others, or what an operator does.
type step struct {
	act
	trouble trouble
}

// steps are what an operator does, each as often as it should happen.
var steps = map[string]func(*migration, step){
	"migrate":        func(m *migration, s step) { _ = m.migrate(s.trouble, s.act) },
	"migrate again":  func(m *migration, s step) { _ = m.migrate(s.trouble, s.act) },
	"verify":         func(m *migration, s step) { m.verify(s.trouble) },
	"release":        func(m *migration, s step) { _ = m.release(s.trouble, s.act) },
	"release again":  func(m *migration, s step) { _ = m.release(s.trouble, s.act) },
	"rollback":       func(m *migration, s step) { _ = m.rollback(s.trouble, s.act) },
	"rollback again": func(m *migration, s step) { _ = m.rollback(s.trouble, s.act) },
	"complete": func(m *migration, s step) {
		if s.a%4 == 0 { // afterwards there is no way back
			m.complete(s.trouble, s.act)
		}
	},
	"a backup": func(m *migration, _ step) { m.takeBackup() },
	"restore":  func(m *migration, _ step) { m.restore() },
	"wipe":     func(m *migration, _ step) { m.wipe() },
}

// counts are how many lives there were, and how many steps of each kind.
type counts map[string]int

func (c counts) String() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(c)) {
		all = append(all, fmt.Sprintf("%s %d", kind, c[kind]))
	}
	return strings.Join(all, ", ")
}

// permissive are choices that block nothing.
var permissive = migrate.Choices{MaxPriority: "99", Consumed: "leave", Failed: "failed", Undecodable: "quarantine", Completed: "migrate", Deleted: "skip",
	InventoryRecords: "migrate", Unserviceable: "migrate"}

// Random lives of a migration. `make torture` lives many.
func TestLives(t *testing.T) {
	// The default of a hundred lives takes too long. They are the same in every test, so
	// that a failure is due to the change.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		for name, text := range map[string]string{"rapid.checks": "15", "rapid.seed": "1"} {
			f := flag.Lookup(name)
			was := f.Value.String()
			must(f.Value.Set(text))
			t.Cleanup(func() { must(f.Value.Set(was)) })
		}
	}
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			c := counts{}
			rapid.Check(t, func(rt *rapid.T) {
				l := drawLife(rt, d)
				m, failed := l.live(t)
				c["lives"]++
				for _, r := range m.records {
					c["records"]++
					switch {
					case r.free:
						c["records whose worker was disturbed"]++
					case r.twice != "" || r.never != "":
						c["records that somebody decided about, or let run twice"]++
					case r.allowed == 1 && m.times(r) == 1:
						c["records that were done once"]++
					}
				}
				for _, s := range l.steps {
					c[s.kind]++
					if s.trouble.kind != "" {
						c["("+s.trouble.kind+")"]++
					}
				}
				if failed != "" {
					for _, line := range m.story {
						rt.Log(line)
					}
					rt.Fatalf("%s", failed)
				}
			})
			t.Log(c)
		})
	}
}

// life is what happens in one life.
type life struct {
	dialect newqueue.Dialect
	choices migrate.Choices
	records []act
	steps   []step
}

func drawLife(t *rapid.T, d newqueue.Dialect) life {
	number := rapid.IntRange(0, 255)
	drawAct := rapid.Custom(func(t *rapid.T) act {
		return act{rapid.SampledFrom(slices.Sorted(maps.Keys(acts))).Draw(t, "kind"), number.Draw(t, "who"), number.Draw(t, "a"), number.Draw(t, "b"), false}
	})
	drawTrouble := rapid.Custom(func(t *rapid.T) trouble {
		if rapid.IntRange(0, 2).Draw(t, "trouble") == 0 {
			return trouble{}
		}
		tr := trouble{kind: rapid.SampledFrom(troubles).Draw(t, "what"), nth: rapid.IntRange(1, 12).Draw(t, "nth")}
		tr.phase = rapid.SampledFrom([]migrate.Phase{migrate.ReadingTarget, migrate.ReadingSource, migrate.Planning, migrate.AwaitingTurn,
			migrate.Sending, migrate.Comparing, migrate.HandingOver, migrate.Removing}).Draw(t, "phase")
		if tr.kind == "others act" {
			tr.acts = rapid.SliceOfN(drawAct, 1, 3).Draw(t, "acts")
			tr.acts[0].everywhere = rapid.IntRange(0, 3).Draw(t, "everywhere") == 0
		}
		return tr
	})
	operators := slices.Sorted(maps.Keys(steps))
	drawStep := rapid.Custom(func(t *rapid.T) step {
		s := step{act: drawAct.Draw(t, "act")}
		if rapid.Bool().Draw(t, "operator") {
			s.kind = rapid.SampledFrom(operators).Draw(t, "step")
			s.trouble = drawTrouble.Draw(t, "trouble")
		}
		return s
	})
	l := life{dialect: d, choices: permissive}
	begins := []string{"pending", "held", "failed"}
	l.choices.Failed = rapid.SampledFrom(begins).Draw(t, "failed records")
	l.choices.Consumed = rapid.SampledFrom(append(begins, "leave")).Draw(t, "consumed records")
	if rapid.Bool().Draw(t, "the others are chosen later") {
		l.choices.Undecodable, l.choices.InventoryRecords, l.choices.Unserviceable = "block", "block", "block"
	}
	if rapid.Bool().Draw(t, "completed records are skipped") {
		l.choices.Completed = "skip"
	}
	l.records = rapid.SliceOfN(drawAct, 1, 8).Draw(t, "records")
	for range 4 { // rapid draws short lists
		l.steps = append(l.steps, rapid.SliceOfN(drawStep, 0, 12).Draw(t, "steps")...)
	}
	return l
}

// live lives a life. It returns what happened, and why it failed; "" if it did not.
func (l life) live(t *testing.T) (m *migration, failed string) {
	synctest.Test(t, func(t *testing.T) {
		m = &migration{others: &others{oracle: &oracle{}, turns: map[*daemons.Actor]*openTurn{}, fails: map[string]bool{}}, choices: l.choices,
			answers: map[string]migrate.Answer{}, quarantined: map[string][][]byte{}}
		m.say = func(format string, args ...any) { m.story = append(m.story, fmt.Sprintf(format, args...)) }
		defer func() {
			switch r := recover().(type) {
			case nil:
			case failure:
				failed = string(r)
			default:
				panic(r)
			}
		}()
		m.site = newSite(context.Background(), l.dialect, nil, daemons.Options{Fails: m.failsNow})
		defer func() { m.site.close() }()
		for _, a := range l.records {
			m.submit(a)
		}
		m.observe()
		for _, s := range l.steps {
			if do := steps[s.kind]; do != nil {
				do(m, s)
			} else {
				m.do(s.act)
			}
			m.check()
		}
		m.end()
	})
	return m, failed
}
