// Package report makes one HTML file about a migration, for the operator and for the person
// who must approve the cutover. The file is complete: it loads nothing from a network.
//
// A page shows what `mrtq status` and `mrtq verify`, or a saved plan, say, and a row for each
// legacy record. It has no view of its own.
//
//	report.go   what a page is made from, and the page's parts
//	verdict.go  the line at the top
//	risks.go    what an approver has to weigh: what could run never or twice, and why
//	tally.go    records by queue and outcome, and why some were left out
//	lists.go    long lists, as JSON in the page
//	write.go    puts frame.html, the sections of a page, page.css and page.js together
//
// A page is a pure function of its [Data]. Any text may be hostile. The page only shows it
// (see [mrtq/internal/text]): it never becomes markup or script.
package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness/rehearse"
	"mrtq/migrate"
)

// Data is everything that a page can show: a saved plan, or where a target stands.
type Data struct {
	Made           time.Time
	Source, Target string           // without credentials
	Plan           *migrate.Plan    // nil if the page is about a target
	Status         *migrate.Status  // nil if the page is about a plan
	Verdict        *migrate.Verdict // nil if the legacy queue is in another ensemble
	Records        []migrate.RecordStatus
	// QuarantineChecked says that Verdict has compared a quarantine file.
	QuarantineChecked bool
	// PlanID is the digest of the plan's file, Version that of mrtq, and Rehearsal what --rehearsal gave,
	// for the approver of a plan.
	PlanID, Version string
	Rehearsal       *rehearse.Report
	// Next words what to do in a step.
	Next func(migrate.Step) advice.Next
}

// content has the values that page.html shows: texts and counts, ready to print.
type content struct {
	frame
	Risks       []shownRisk
	Unknown     bool   // the page can't know all risks
	Wrong       []list // damage, differences and problems
	Cross       cross
	LeftOut     []leftOut
	Choices     []choice
	Idle        []string // choices that are as by default, and about no record
	Settings    []fact
	Becomes     []migrate.Tally // what the records of a plan become
	Runs        []run
	Notes       []list
	ChoiceRisks []migrate.Risk // of the choices that matter for any record
	States      []state
	Records     list
	*Data       // for the tables that show a part of it as it is
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

func newContent(d *Data) *content {
	v := &content{frame: newFrame(d.Made, d.verdict()), Cross: d.crossTable(), LeftOut: d.reasons(), Records: d.recordList(), Risks: d.shownRisks(), Data: d}
	if d.Plan != nil {
		v.ChoiceRisks = view.RisksThatMatter(d.Plan)
	}
	v.Unknown = d.Plan == nil && d.Verdict == nil && d.newestState() != ""
	v.Title = v.frame.Verdict.Word + ": migration to " + d.Target
	v.tiles()
	v.facts()
	v.wrong()
	v.decisions()
	v.chosen()
	v.states()
	return v
}

// lists are the lists that the page's script draws.
func (v *content) lists() []list {
	lists := slices.Concat([]list{v.Records}, v.Wrong, v.Notes)
	return slices.DeleteFunc(lists, func(l list) bool { return l.N() == 0 })
}

func (v *content) facts() {
	add := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, fact{name, value})
		}
	}
	add("Target", v.Target)
	add("Source", v.Source)
	if v.Plan != nil {
		add("Dialect", string(v.Plan.Dialect))
		add("Plan", v.Plan.Run)
		add("Note", v.Plan.Settings.Note)
		made := 0
		for _, b := range v.Plan.Batches {
			if b.New {
				made++
			}
		}
		add("Batches", fmt.Sprintf("%s to create, %s to add to", number(made), number(len(v.Plan.Batches)-made)))
		v.Becomes = v.Plan.Tallies()
		return
	}
	if run := v.Status.Current(); run != nil {
		add("Dialect", string(run.Dialect))
		add("Note", run.Note)
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
func (v *content) wrong() {
	add := func(to *[]list, l list) {
		if l.N() > 0 {
			*to = append(*to, l)
		}
	}
	if v.Data.Verdict != nil {
		for _, g := range migrate.Groups {
			add(&v.Wrong, differenceList(g, v.Data.Verdict.Differences))
		}
		add(&v.Notes, pathList("rest", "record that is not migrated", "records that are not migrated", v.Data.Verdict.NotMigrated))
	}
	if p := v.Plan; p != nil {
		add(&v.Wrong, problemList(p.Problems))
		add(&v.Notes, warningList(p.Warnings))
	}
}

// decisions are what the operator chose: in the plan, or in the newest run.
func (v *content) decisions() {
	var chosen *migrate.Choices
	switch {
	case v.Plan != nil:
		chosen = &v.Plan.Choices
	case v.Status.Current() != nil:
		chosen = &v.Status.Current().Choices
	default:
		return
	}
	for _, c := range migrate.AllChoices {
		row := choice{c, *c.Value(chosen), -1}
		if v.Plan != nil {
			row.N = len(v.Plan.About(c.Name))
		}
		if row.N == 0 && row.Chosen == c.Values[0] {
			v.Idle = append(v.Idle, "--"+c.Name)
			continue
		}
		v.Choices = append(v.Choices, row)
	}
	if v.Plan == nil {
		return
	}
	add := func(what string, values ...string) {
		if text := strings.Join(values, " "); text != "" {
			v.Settings = append(v.Settings, fact{what, text})
		}
	}
	p := v.Plan
	add("read by", p.Readers)
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

// chosen adds to the facts what was decided in another way than by default.
func (v *content) chosen() {
	var flags []string
	for _, c := range v.Choices {
		if c.Chosen != c.Values[0] {
			flags = append(flags, "--"+c.Name+" "+c.Chosen)
		}
	}
	switch {
	case len(flags) > 0:
		v.Facts = append(v.Facts, fact{"Decided", strings.Join(flags, ", ")})
	case len(v.Choices)+len(v.Idle) > 0:
		v.Facts = append(v.Facts, fact{"Decided", "everything as by default"})
	}
}

// states counts what is in each state.
func (v *content) states() {
	if v.Status == nil {
		return
	}
	for _, of := range []struct {
		entity string
		counts []migrate.StateCount
	}{{"job", v.Status.Jobs}, {"batch", v.Status.Batches}, {"access request", v.Status.Access}} {
		for _, c := range of.counts {
			v.States = append(v.States, state{of.entity, c})
		}
	}
}
