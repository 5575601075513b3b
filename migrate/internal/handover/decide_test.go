package handover_test

import (
	"os"
	"strings"
	"testing"

	"mrtq/migrate/internal/handover"
)

// acts are the acts in the words of docs/life.md.
var acts = map[string]handover.Action{"–": handover.Nothing, "handed over": handover.HandOver, "marked": handover.Mark, "withdrawn": handover.Withdraw,
	"given back": handover.GiveBack, "stays": handover.Stay}

// records are the rows of the tables in docs/life.md, in their words.
var records = map[string][]handover.Facts{
	"as migrated":                        {{Record: handover.AsMigrated}},
	"changed":                            {{Record: handover.Changed}},
	"not there":                          {{Record: handover.Absent}},
	"handed over":                        {{Record: handover.Absent, HandedOver: true}},
	"handed over, and there again":       {{Record: handover.AsMigrated, HandedOver: true}, {Record: handover.Changed, HandedOver: true}},
	"handed over, and there as migrated": {{Record: handover.AsMigrated, HandedOver: true}},
	"handed over, and changed":           {{Record: handover.Changed, HandedOver: true}},
}

// TestTables: each cell of the two tables of docs/life.md is what is decided, with every other fact as the cell says and without.
func TestTables(t *testing.T) {
	page, err := os.ReadFile("../../../docs/life.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, decide := range map[string]func(handover.Facts) handover.Decision{
		"release":  func(f handover.Facts) handover.Decision { return handover.DecideRelease(f, handover.Undecided) },
		"rollback": func(f handover.Facts) handover.Decision { return handover.DecideRollback(f, handover.Undecided, false) },
	} {
		_, table, ok := strings.Cut(string(page), "\n| "+name+" | not begun | begun | gone |\n|---|---|---|---|\n")
		if !ok {
			t.Fatalf("the page has no table of the %s", name)
		}
		rows := 0
		for _, line := range strings.Split(table, "\n") {
			if !strings.HasPrefix(line, "|") {
				break
			}
			rows++
			c := strings.Split(strings.Trim(line, "| "), " | ")
			if len(c) != 4 || records[c[0]] == nil {
				t.Fatalf("%s: the row %q", name, line)
			}
			for i, job := range []handover.JobCondition{handover.NotBegun, handover.Begun, handover.Gone} {
				for _, f := range records[c[0]] {
					f.Job = job
					checkCell(t, name, c[i+1], f, decide)
				}
			}
		}
		if want := map[string]int{"release": 5, "rollback": 6}[name]; rows != want {
			t.Errorf("%s has %d rows, expected %d", name, rows, want)
		}
	}
}

// checkCell checks one cell: an act, or a question with "?", and exceptions with the fact that makes them, as in
// "job-gone? finished: handed over".
func checkCell(t *testing.T, table, cell string, f handover.Facts, decide func(handover.Facts) handover.Decision) {
	t.Helper()
	is := func(f handover.Facts, text string) {
		t.Helper()
		d := decide(f)
		if question, asks := strings.CutSuffix(text, "?"); asks {
			if d.Action != handover.Ask || string(d.Question) != question {
				t.Errorf("%s: %+v: %+v, the page says %s", table, f, d, text)
			}
			return
		}
		if act, known := acts[text]; !known || d.Action != act || d.Question != "" {
			t.Errorf("%s: %+v: %+v, the page says %q", table, f, d, text)
		}
	}
	usual, rest, _ := strings.Cut(cell, "? ")
	if rest != "" {
		usual += "?"
	} else if i := strings.Index(cell, ", "); i >= 0 {
		usual, rest = cell[:i], cell[i+2:]
	}
	set := map[string]func(*handover.Facts){
		"finished": func(f *handover.Facts) { f.Finished = true },
		"held":     func(f *handover.Facts) { f.Held = true },
		"restored": func(f *handover.Facts) { f.Restored, f.Kept = true, true }, // without kept bytes it was not handed over
		"taken":    func(f *handover.Facts) { f.Elsewhere = f.Record == handover.Absent && !f.HandedOver },
		"not kept": func(f *handover.Facts) { f.Kept = false },
	}
	f.Kept = f.HandedOver
	is(f, usual)
	exceptions := map[string]string{}
	for _, e := range strings.Split(rest, ", ") {
		if word, text, ok := strings.Cut(e, ": "); ok {
			exceptions[word] = text
		}
	}
	for word, apply := range set {
		with := f
		if apply(&with); !f.HandedOver && word == "not kept" {
			continue
		}
		text := usual
		if x, ok := exceptions[word]; ok {
			text = x
			delete(exceptions, word)
		}
		is(with, text)
	}
	if len(exceptions) > 0 {
		t.Errorf("%s: %q has words that nobody knows", table, cell)
	}
}

// TestAnswers: an answer is carried out, unless the side that loses is at work. It counts for questions alone.
func TestAnswers(t *testing.T) {
	all(func(f handover.Facts) {
		for name, decide := range deciders(false) {
			asked := decide(f, handover.Undecided)
			for _, a := range handover.Answers {
				got := decide(f, a)
				if asked.Action != handover.Ask {
					if got != asked {
						t.Errorf("%s: %+v: %+v, with the answer %s %+v", name, f, asked, a, got)
					}
					continue
				}
				blocked := a == handover.AnswerNew && (f.Worked || asked.Question == handover.Taken) || a == handover.AnswerLegacy && f.Locked
				want := map[handover.Answer]handover.Action{handover.AnswerNew: handover.HandOver, handover.AnswerLegacy: handover.Withdraw}[a]
				if a == handover.AnswerNew && f.Record == handover.Absent {
					want = handover.Mark
				}
				if blocked {
					want = handover.Ask
				}
				if got.Action != want || got.Question != asked.Question || (got.Why != "") != blocked {
					t.Errorf("%s: %+v, %s: %+v, expected %s", name, f, a, got, want)
				}
			}
		}
	})
}

// TestOneQueue: whatever the facts and the answers, a decision that is carried out leaves the work in one queue: not in both, and
// in none only if it was finished, or was in none before, or somebody said so. No side loses what it has at work.
func TestOneQueue(t *testing.T) {
	n := 0
	all(func(f handover.Facts) {
		for _, force := range []bool{false, true} {
			for name, decide := range deciders(force) {
				for _, a := range append(handover.Answers, handover.Undecided) {
					n++
					d := decide(f, a)
					record, job := f.Record != handover.Absent, f.Job != handover.Gone
					was := record || job
					takesRecord, takesJob := d.Action == handover.HandOver, d.Action == handover.Withdraw || d.Action == handover.GiveBack
					record, job = record && !takesRecord || d.Action == handover.GiveBack, job && !takesJob
					says := func(what string) {
						t.Errorf("%s of %+v, answer %q, force %t: %s (%s): %s", name, f, a, force, d.Action, d.Question, what)
					}
					switch final := d.Action != handover.Ask && d.Action != handover.Wait; {
					case final && record && job:
						says("both queues have the work")
					case was && !record && !job && !f.Finished && d.Question == "":
						says("no queue has the work")
					}
					switch {
					case takesRecord && f.Worked:
						says("a legacy worker had the record")
					case takesJob && f.Locked:
						says("a worker had the job")
					case takesJob && f.Job == handover.Begun && d.Question == "" && !(force && name == "rollback"):
						says("the job was begun")
					}
				}
			}
		}
	})
	t.Logf("%d decisions", n)
}

// deciders are the two tables.
func deciders(force bool) map[string]func(handover.Facts, handover.Answer) handover.Decision {
	return map[string]func(handover.Facts, handover.Answer) handover.Decision{
		"release": handover.DecideRelease,
		"rollback": func(f handover.Facts, a handover.Answer) handover.Decision {
			return handover.DecideRollback(f, a, force)
		},
	}
}

// all calls f with all facts that can be true together.
func all(f func(handover.Facts)) {
	for _, record := range []handover.RecordCondition{handover.AsMigrated, handover.Changed, handover.Absent} {
		for _, job := range []handover.JobCondition{handover.NotBegun, handover.Begun, handover.Gone} {
			for bits := range 1 << 8 {
				is := func(bit int) bool { return bits&(1<<bit) != 0 }
				facts := handover.Facts{Record: record, Job: job, Finished: is(0), Held: is(1), HandedOver: is(2), Kept: is(3), Worked: is(4), Locked: is(5), Restored: is(6), Elsewhere: is(7)}
				if facts.Locked && job != handover.Begun || facts.Worked && (record == handover.Absent || facts.Finished) ||
					facts.Finished && record == handover.Changed || facts.Kept && !facts.HandedOver && !facts.Restored ||
					facts.Elsewhere && (record != handover.Absent || facts.HandedOver) {
					continue
				}
				f(facts)
			}
		}
	}
}

// TestWaits: a record that was consumed when it was migrated stays with its worker while a lock names it.
func TestWaits(t *testing.T) {
	f := handover.Facts{Record: handover.AsMigrated, Job: handover.NotBegun, Worked: true}
	if d := handover.DecideRelease(f, handover.AnswerNew); d.Action != handover.Wait {
		t.Errorf("%+v", d)
	}
	if d := handover.DecideRollback(f, handover.Undecided, false); d.Action != handover.Withdraw {
		t.Errorf("%+v", d)
	}
	f.Job = handover.Begun // both are at work
	if d := handover.DecideRollback(f, handover.Undecided, false); d.Question != handover.Both {
		t.Errorf("%+v", d)
	}
}
