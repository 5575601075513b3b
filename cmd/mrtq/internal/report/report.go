// Package report makes one HTML file about a migration, for the operator and for the person
// who must approve the cutover. The file is complete: it loads nothing from a network.
//
// A page shows what `mrtq status`, `mrtq verify` and a saved plan say, and a row for each
// legacy record. It has no view of its own.
//
//	report.go    what a page is made from, and the page's parts
//	verdict.go   the line at the top, from a table of rules
//	tally.go     records by queue and outcome, and why some were left out
//	lists.go     long lists, as JSON in the page
//	write.go     puts page.html, page.css and page.js together
//	coverage.go  what mrtq accept proved, read from its file
//	findings.go  what mrtq check found, read from its file
//
// A page is a pure function of its [Data]. Any text may be hostile. The page only shows it
// (see [mrtq/internal/printable]): it never becomes markup or script.
package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/migrate"
)

// Data is everything that a page can show. What is not known stays zero.
type Data struct {
	Made           time.Time
	Source, Target string // as given on the command line, without credentials
	Dialect        string
	Plan           *migrate.Plan    // saved
	Status         *migrate.Status  // nil if no target was given
	Verdict        *migrate.Verdict // nil if no source was given
	Only           string           // the run that the page is about; "" means all runs
	Records        []migrate.RecordStatus
	Coverage       *Coverage
	Check          *Check
	// QuarantineChecked says that Verdict has compared a quarantine file.
	QuarantineChecked bool
	// Next words what to do in a step; nil says nothing.
	Next func(migrate.Step) string
}

// view has the values that page.html shows: texts and counts, ready to print.
type view struct {
	CSS    template.CSS
	JS     template.JS
	Policy string // the content security policy

	Verdict  Verdict
	Title    string
	Facts    []fact
	Wrong    []list // damage, differences and problems
	Cross    cross
	LeftOut  []leftOut
	Choices  []choice
	Settings []fact
	Runs     []run
	Notes    []list
	States   []state
	Coverage *coverageView
	Findings *findingsView
	Records  list
	Ran      bool // there was a run, not only a plan
	Made     string
	*Data    // for the tables that show a part of it as it is
}

// fact is one line of the page's head.
type fact struct{ Name, Value string }

// choice is what only the operator can decide.
type choice struct {
	migrate.Choice
	Chosen string
	N      int
}

// run is one run of a migration.
type run struct {
	migrate.RunStatus
	Took, Rate string
}

// state is how many jobs, batches or requests are in one state.
type state struct {
	Entity string
	migrate.StateCount
}

type coverageView struct {
	Passed, Failed, NotRun int
	Rows                   []CoverageRow
}

type findingsView struct {
	List                    list
	Errors, Warnings, Infos int
}

func newView(d *Data) *view {
	v := &view{Verdict: d.verdict(), Cross: crossTable(d.Records), LeftOut: reasons(d.Records), Records: recordList(d.Records), Ran: d.ran(), Made: moment(d.Made), Data: d}
	v.Title = v.Verdict.Word + ": migration to " + d.Target
	v.facts()
	v.wrong()
	v.decisions()
	v.states()
	if d.Check != nil {
		v.Findings = &findingsView{findingList(d.Check.Findings), d.Check.Count(layout.Error), d.Check.Count(layout.Warning), d.Check.Count(layout.Info)}
	}
	return v
}

// lists are the view's lists that the page's script draws.
func (v *view) lists() []list {
	lists := slices.Concat([]list{v.Records}, v.Wrong, v.Notes)
	if v.Findings != nil {
		lists = append(lists, v.Findings.List)
	}
	return slices.DeleteFunc(lists, func(l list) bool { return l.N() == 0 })
}

func (v *view) facts() {
	add := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, fact{name, value})
		}
	}
	add("Target", v.Target)
	add("Source", v.Source)
	add("Dialect", v.Dialect)
	add("Only", v.Only)
	if v.Data.Plan != nil {
		add("Plan", fmt.Sprintf("%s, %s", v.Data.Plan.Run, count(len(v.Data.Plan.Records), "record", "records")))
	}
	if v.Status == nil {
		return
	}
	for _, r := range v.Status.Runs {
		row := run{RunStatus: r}
		if took := r.Finished.Sub(r.Started); took > 0 && !r.Finished.IsZero() {
			row.Took = took.Round(100 * time.Millisecond).String()
			row.Rate = number(int(float64(r.Created.Records())/took.Seconds())) + " a second"
		}
		v.Runs = append(v.Runs, row)
	}
}

// wrong lists what speaks against a good verdict: differences, by their group, and the
// plan's problems. It also lists the plan's remarks.
func (v *view) wrong() {
	add := func(to *[]list, l list) {
		if l.N() > 0 {
			*to = append(*to, l)
		}
	}
	if v.Data.Verdict != nil {
		for _, g := range migrate.Groups {
			add(&v.Wrong, differenceList(g, v.Data.Verdict.Differences))
		}
		add(&v.Notes, pathList("late", "late record", "late records", v.Data.Verdict.Late))
	}
	if p := v.Data.Plan; p != nil {
		add(&v.Wrong, problemList(p.Problems))
		add(&v.Notes, warningList(p.Warnings))
	}
}

// decisions are what the operator chose: in the plan, or else in the newest run.
func (v *view) decisions() {
	var chosen *migrate.Choices
	switch {
	case v.Data.Plan != nil:
		chosen = &v.Data.Plan.Choices
	case v.Ran:
		chosen = &v.Status.Newest().Choices
	default:
		return
	}
	for _, c := range migrate.AllChoices {
		row := choice{c, *c.Value(chosen), -1}
		if v.Data.Plan != nil {
			row.N = len(v.Data.Plan.About(c.Name))
		}
		v.Choices = append(v.Choices, row)
	}
	if v.Data.Plan == nil {
		return
	}
	add := func(what string, values ...string) {
		if text := strings.Join(values, " "); text != "" {
			v.Settings = append(v.Settings, fact{what, text})
		}
	}
	p := v.Data.Plan
	add("--again: new jobs for migrated records whose jobs were removed", p.Settings.Again...)
	add("legacy queues that are not in the source", p.Missing...)
	for _, a := range p.Settings.ACL {
		add("--acl of new znodes", a.Public())
	}
	for _, w := range []struct {
		what  string
		given bool
	}{{"--new-queue", p.Settings.NewQueue}, {"--hold-again", p.Settings.HoldAgain}, {"--restored", p.Settings.Restored}} {
		if w.given {
			add(w.what, "given")
		}
	}
}

// states counts what is in each state, and what mrtq accept proved about the transitions.
func (v *view) states() {
	if v.Status != nil {
		for _, of := range []struct {
			entity string
			counts []migrate.StateCount
		}{{"job", v.Status.Jobs}, {"batch", v.Status.Batches}, {"access request", v.Status.Access}} {
			for _, c := range of.counts {
				v.States = append(v.States, state{of.entity, c})
			}
		}
	}
	if c := v.Data.Coverage; c != nil {
		v.Coverage = &coverageView{Passed: c.Count(CoveragePassed), Failed: c.Count(CoverageFailed), Rows: c.Rows}
		v.Coverage.NotRun = len(c.Rows) - v.Coverage.Passed - v.Coverage.Failed
	}
}
