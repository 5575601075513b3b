package report

import (
	"fmt"
	"html/template"
	"reflect"
	"slices"
	"strings"

	"mrtq/internal/printable"
	"mrtq/internal/statedraw"
)

// view has the values that page.html shows: texts and counts, ready to print.
type view struct {
	CSS    template.CSS
	JS     template.JS
	Policy string // the content security policy
	Packed template.HTML

	Verdict      Verdict
	Title        string
	Facts        []fact
	Tiles        []tile
	Wrong        []list // damage, differences and problems
	Cross        cross
	Charts       []chart
	Priority     columns
	Batches      list
	LeftOut      []leftOut
	LeftOutKnown bool
	Policies     []Policy
	Decisions    []decision
	Risks        []Risk
	Holds        []Hold
	Legacy       []LegacyLock
	Locks        []Lock
	Notes        []list
	Services     []serviceRow
	Rates        []rate
	Machines     []figure
	Others       []StateCount // states in the target that no state machine has
	Coverage     *coverageView
	Findings     *findingsView
	Records      list
	Done         bool // there was a run, not only a plan
	Planned      string
	Made         string
}

// fact is one line of the page's head.
type fact struct{ Name, Value string }

// tile is one number at the top of the page.
type tile struct {
	N, Label, Tone string
}

// decision is an operator's choice other than the policies.
type decision struct{ What, Detail string }

type serviceRow struct {
	What, Then string
	N          int
	Blocking   bool
	Example    string
}

// figure is one machine.
type figure struct {
	Name  string
	SVG   template.HTML // statedraw draws it, and escapes all texts
	N     int
	Steps int
}

type coverageView struct {
	Passed, Failed, NotRun int
	Rows                   []CoverageRow
}

type findingsView struct {
	Errors, Warnings, Others int
	List                     list
}

// show makes a text from outside harmless. The texts of lists are made harmless
// by listColumn.texts.
func show(s string) string { return printable.Line(s) }

// lists are the view's lists that the page unpacks.
func (v *view) lists() []list {
	lists := append([]list{v.Records, v.Batches}, v.Wrong...)
	lists = append(lists, v.Notes...)
	if v.Findings != nil {
		lists = append(lists, v.Findings.List)
	}
	return slices.DeleteFunc(lists, func(l list) bool { return l.N == 0 })
}

func newView(d *Data) *view {
	of := subject(d.Records)
	v := &view{
		Verdict: d.verdict(), Cross: crossTable(d.Records), LeftOut: reasons(d.Records), LeftOutKnown: d.Verification != nil || d.Plan != nil,
		Batches: batchList(d.Batches, d.Records), Policies: d.Policies, Holds: d.Holds, Locks: d.Locks, Rates: rates(d), Records: recordList(d.Records),
		Done: d.ran(), Made: moment(d.Made),
	}
	v.Title = v.Verdict.Word + ": migration to " + d.Target
	v.facts(d)
	v.tiles(d)
	v.wrong(d)
	v.charts(d, of)
	v.decisions(d)
	v.machines(d)
	if d.Check != nil {
		f := &findingsView{List: findingList(d.Check.Findings)}
		for _, x := range d.Check.Findings {
			switch x.Severity {
			case "error":
				f.Errors++
			case "warning":
				f.Warnings++
			default:
				f.Others++
			}
		}
		v.Findings = f
	}
	return v
}

func (v *view) facts(d *Data) {
	add := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, fact{name, value})
		}
	}
	add("Target", d.Target)
	add("Source", d.Source)
	add("Dialect", d.Dialect)
	var runs []string
	for _, r := range d.Runs {
		runs = append(runs, r.ID+" ("+r.State+")")
	}
	add("Runs", strings.Join(runs, ", "))
	if d.Only != "" {
		add("Only", d.Only)
	}
	if d.ran() {
		add("Started", moment(d.Runs[0].Started))
		add("Finished", moment(d.newest().Finished))
		add("Run by", d.newest().Owner)
	}
	if d.Plan != nil {
		id := d.Plan.ID[:min(len(d.Plan.ID), 16)]
		switch {
		case d.Plan.Carried != "":
			id += ", carried out as " + d.Plan.Carried
		case d.Read:
			id += ", not carried out here"
		}
		add("Plan", id)
	}
}

func (v *view) tiles(d *Data) {
	counts := map[Outcome]int{}
	for i := range d.Records {
		counts[d.Records[i].Outcome]++
	}
	add := func(n int, label, tone string) { v.Tiles = append(v.Tiles, tile{number(n), label, tone}) }
	some := func(n int, label, tone string) {
		if n > 0 {
			add(n, label, tone)
		}
	}
	add(len(d.Records), "records", "")
	if d.ran() {
		add(counts[Migrated]+counts[Touched]+counts[Gone], "migrated", toneGood)
	}
	some(counts[ToCreate], "to create", toneInfo)
	some(counts[ToRewrite], "to rewrite", toneInfo)
	some(counts[Touched], "touched since", toneWarn)
	some(counts[Gone], "done or deleted", toneInfo)
	some(counts[DeclaredDone], "declared done", toneInfo)
	some(counts[Skipped], "skipped", "")
	some(counts[Quarantined], "in quarantine", toneWarn)
	some(counts[Blocked], "blocked", toneBad)
	some(counts[NotMigrated], "not migrated", toneBad)
	some(v.Batches.N, "batches", "")
}

// wrong lists what speaks against a good verdict: damage, differences, and the
// plan's problems. It also lists the plan's remarks.
func (v *view) wrong(d *Data) {
	add := func(l list) {
		if l.N > 0 {
			v.Wrong = append(v.Wrong, l)
		}
	}
	add(problemList("damage", "damaged znode", "damaged znodes", d.Damage))
	if d.Verification != nil {
		add(problemList("differences", "difference", "differences", d.Verification.Differences))
	}
	if d.Plan == nil {
		return
	}
	add(problemList("problems", "problem of the plan", "problems of the plan", d.Plan.Problems))
	note := func(l list) {
		if l.N > 0 {
			v.Notes = append(v.Notes, l)
		}
	}
	note(noteList("warnings", "warning of the plan", "warnings of the plan", d.Plan.Warnings))
	note(noteList("vanished", "migrated record that is gone from the source", "migrated records that are gone from the source", d.Plan.Vanished))
	for _, s := range d.Plan.Services {
		row := serviceRow{What: show(s.What), Then: show(s.Then), N: len(s.Paths), Blocking: s.Blocking}
		if len(s.Paths) > 0 {
			row.Example = show(s.Paths[0])
		}
		v.Services = append(v.Services, row)
	}
}

func (v *view) charts(d *Data, of []*Record) {
	at, reference := d.Made, "when this page was made"
	if d.ran() {
		at, reference = d.Runs[0].Started, "when "+d.Runs[0].ID+" started"
	}
	add := func(c chart) {
		if len(c.Bars) > 0 && c.Unknown < len(of) {
			v.Charts = append(v.Charts, c)
		}
	}
	add(tally("State in the new queue", of, func(r *Record) string {
		if r.Outcome == Gone || r.Outcome == DeclaredDone {
			return string(r.Outcome)
		}
		return r.State
	}))
	add(tally("Format of the payload", of, func(r *Record) string { return r.Format }))
	old := ageChart(of, at)
	old.Title += ", " + reference
	add(old)
	if len(of) > 0 {
		v.Priority = priorityColumns(of)
	}
}

func (v *view) decisions(d *Data) {
	if d.Plan == nil {
		return
	}
	v.Risks = d.Plan.Risks
	v.Legacy = d.Plan.Locks
	list := func(what string, paths []string) {
		if len(paths) > 0 {
			v.Decisions = append(v.Decisions, decision{what, strings.Join(paths, " ")})
		}
	}
	list("--again: new jobs for migrated records whose jobs are gone", d.Plan.Again)
	list("--done: records entered as done", d.Plan.Done)
	if d.Plan.ACL != "" {
		v.Decisions = append(v.Decisions, decision{"--acl of new znodes", d.Plan.ACL})
	}
	list("legacy queues that are not in the source", d.Plan.Missing)
	planned, kept, other := 0, 0, 0
	for i := range d.Records {
		r := &d.Records[i]
		if r.Planned == "" || r.Job == "" || !r.Outcome.InLedger() {
			continue
		}
		planned++
		if strings.HasSuffix(r.Job, "/"+r.Planned) {
			kept++
		} else {
			other++
		}
	}
	if d.Plan.Carried != "" && planned > 0 {
		v.Planned = fmt.Sprintf("%s of %s got the ids that the plan gave them", number(kept), count(planned, "job", "jobs"))
		if other > 0 {
			v.Planned += fmt.Sprintf("; %s got other ids, because other clients submitted jobs meanwhile, or because the run did more than was planned", number(other))
		}
		v.Planned += "."
	}
}

func (v *view) machines(d *Data) {
	in := map[string]map[string]int{}
	for _, s := range d.Queue {
		if in[s.Entity] == nil {
			in[s.Entity] = map[string]int{}
		}
		in[s.Entity][s.State] += s.Ours + s.Others
	}
	if d.Coverage != nil {
		v.Coverage = &coverageView{Passed: d.Coverage.Count(CoveragePassed), Failed: d.Coverage.Count(CoverageFailed), Rows: d.Coverage.Rows}
		v.Coverage.NotRun = len(v.Coverage.Rows) - v.Coverage.Passed - v.Coverage.Failed
	}
	for _, m := range d.Machines {
		known := map[string]bool{}
		n := 0
		m.States, m.Steps = slices.Clone(m.States), slices.Clone(m.Steps)
		for i, s := range m.States {
			known[s.Name] = true
			if d.Read && !s.Bound {
				m.States[i].Counted, m.States[i].Count = true, in[m.Name][s.Name]
				n += in[m.Name][s.Name]
			}
		}
		for _, s := range d.Queue {
			if s.Entity == m.Name && !known[s.State] {
				v.Others = append(v.Others, s)
			}
		}
		if d.Coverage != nil {
			m = d.Coverage.mark(m)
		}
		scrubValue(reflect.ValueOf(&m).Elem())
		v.Machines = append(v.Machines, figure{Name: m.Name, SVG: template.HTML(statedraw.Figure(m, label(m, d.Read))), N: n, Steps: len(m.Steps)})
	}
}

// label describes a drawing in words.
func label(m statedraw.Machine, counted bool) string {
	var parts []string
	for _, s := range m.States {
		switch {
		case s.Bound:
		case counted:
			parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.Count))
		default:
			parts = append(parts, s.Name)
		}
	}
	return fmt.Sprintf("States of a %s: %s; %d transitions", m.Name, strings.Join(parts, ", "), len(m.Steps))
}
