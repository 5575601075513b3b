package standing_test

import (
	"os"
	"strings"
	"testing"

	"mrtq/migrate/internal/standing"
	"mrtq/migrate/migration"
)

// acts are the acts in the words of docs/life.md.
var acts = map[string]standing.Action{"–": standing.Nothing, "handed over": standing.HandOver, "marked": standing.Mark, "withdrawn": standing.Withdraw,
	"given back": standing.GiveBack, "stays": standing.Stay}

// records are the rows of the tables in docs/life.md, in their words.
var records = map[string][]standing.Facts{
	"as migrated":                        {{Record: standing.AsMigrated}},
	"changed; renamed":                   {{Record: standing.Changed}, {Record: standing.Renamed}},
	"not there":                          {{Record: standing.Absent}},
	"handed over":                        {{Record: standing.Absent, HandedOver: true}},
	"handed over, and there again":       {{Record: standing.AsMigrated, HandedOver: true}, {Record: standing.Changed, HandedOver: true}},
	"handed over, and there as migrated": {{Record: standing.AsMigrated, HandedOver: true}},
	"handed over, and changed":           {{Record: standing.Changed, HandedOver: true}},
}

// TestTables: each cell of the two tables of docs/life.md is what is decided, with every other fact as the cell says and without.
func TestTables(t *testing.T) {
	page, err := os.ReadFile("../../../docs/life.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, decide := range map[string]func(standing.Facts) standing.Decision{
		"release": func(f standing.Facts) standing.Decision { return standing.DecideRelease(f, migration.AnswerNone) },
		"rollback": func(f standing.Facts) standing.Decision {
			return standing.DecideRollback(f, migration.AnswerNone, false)
		},
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
			for i, job := range []standing.JobCondition{standing.NotBegun, standing.Begun, standing.Gone} {
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
func checkCell(t *testing.T, table, cell string, f standing.Facts, decide func(standing.Facts) standing.Decision) {
	t.Helper()
	is := func(f standing.Facts, text string) {
		t.Helper()
		d := decide(f)
		if question, asks := strings.CutSuffix(text, "?"); asks {
			if d.Action != standing.Ask || string(d.Question) != question {
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
	set := map[string]func(*standing.Facts){
		"finished": func(f *standing.Facts) { f.Finished = true },
		"held":     func(f *standing.Facts) { f.AlwaysHeld = true },
		"restored": func(f *standing.Facts) { f.Restored, f.Kept = true, true }, // without kept bytes it was not handed over
		"taken":    func(f *standing.Facts) { f.Elsewhere = f.Record == standing.Absent && !f.HandedOver },
		"not kept": func(f *standing.Facts) { f.Kept = false },
		"another":  func(f *standing.Facts) { f.Another = f.Record == standing.Absent },
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
	all(func(f standing.Facts) {
		for name, decide := range deciders(false) {
			asked := decide(f, migration.AnswerNone)
			for _, a := range migration.Answers {
				got := decide(f, a)
				if asked.Action != standing.Ask {
					if got != asked {
						t.Errorf("%s: %+v: %+v, with the answer %s %+v", name, f, asked, a, got)
					}
					continue
				}
				blocked := a == migration.AnswerNew && (f.Worked || asked.Question == migration.QuestionTaken) || a == migration.AnswerLegacy && f.Locked
				want := map[migration.Answer]standing.Action{migration.AnswerNew: standing.HandOver, migration.AnswerLegacy: standing.Withdraw}[a]
				if a == migration.AnswerNew && f.Record == standing.Absent {
					want = standing.Mark
				}
				if blocked {
					want = standing.Ask
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
	all(func(f standing.Facts) {
		for _, force := range []bool{false, true} {
			for name, decide := range deciders(force) {
				for _, a := range append(migration.Answers, migration.AnswerNone) {
					n++
					d := decide(f, a)
					record, job := f.Record != standing.Absent, f.Job != standing.Gone
					was := record || job
					takesRecord, takesJob := d.Action == standing.HandOver, d.Action == standing.Withdraw || d.Action == standing.GiveBack
					record, job = record && !takesRecord || d.Action == standing.GiveBack, job && !takesJob
					says := func(what string) {
						t.Errorf("%s of %+v, answer %q, force %t: %s (%s): %s", name, f, a, force, d.Action, d.Question, what)
					}
					switch final := d.Action != standing.Ask && d.Action != standing.Wait; {
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
					case takesJob && f.Job == standing.Begun && d.Question == "" && !(force && name == "rollback"):
						says("the job was begun")
					}
				}
			}
		}
	})
	t.Logf("%d decisions", n)
}

func deciders(force bool) map[string]func(standing.Facts, migration.Answer) standing.Decision {
	return map[string]func(standing.Facts, migration.Answer) standing.Decision{
		"release": standing.DecideRelease,
		"rollback": func(f standing.Facts, a migration.Answer) standing.Decision {
			return standing.DecideRollback(f, a, force)
		},
	}
}

func all(f func(standing.Facts)) {
	for _, record := range []standing.RecordCondition{standing.AsMigrated, standing.Changed, standing.Absent} {
		for _, job := range []standing.JobCondition{standing.NotBegun, standing.Begun, standing.Gone} {
			for bits := range 1 << 8 {
				is := func(bit int) bool { return bits&(1<<bit) != 0 }
				facts := standing.Facts{Record: record, Job: job, Finished: is(0), AlwaysHeld: is(1), HandedOver: is(2), Kept: is(3), Worked: is(4), Locked: is(5), Restored: is(6), Elsewhere: is(7)}
				if facts.Locked && job != standing.Begun || facts.Worked && (record == standing.Absent || facts.Finished) ||
					facts.Finished && record == standing.Changed || facts.Kept && !facts.HandedOver && !facts.Restored ||
					facts.Elsewhere && (record != standing.Absent || facts.HandedOver) {
					continue
				}
				f(facts)
			}
		}
	}
}

// TestWaits: a record that was consumed when it was migrated stays with its worker while a lock names it.
func TestWaits(t *testing.T) {
	f := standing.Facts{Record: standing.AsMigrated, Job: standing.NotBegun, Worked: true}
	if d := standing.DecideRelease(f, migration.AnswerNew); d.Action != standing.Wait {
		t.Errorf("%+v", d)
	}
	if d := standing.DecideRollback(f, migration.AnswerNone, false); d.Action != standing.Withdraw {
		t.Errorf("%+v", d)
	}
	f.Job = standing.Begun // both are at work
	if d := standing.DecideRollback(f, migration.AnswerNone, false); d.Question != migration.QuestionBoth {
		t.Errorf("%+v", d)
	}
}
