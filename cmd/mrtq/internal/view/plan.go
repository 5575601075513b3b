// Package view shows people what package migrate found and did: it prints tables to a
// [screen.Screen], and says in one sentence how something stands. It reads and writes nothing.
package view

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Plan prints a plan as tables: first what would be done, then everything that an
// operator should know before.
func Plan(s *screen.Screen, p *migration.Plan) {
	s.Prose("source    ", p.Source)
	s.Prose("target    ", p.Target)
	if slices.ContainsFunc(p.Problems, func(x migration.Problem) bool { return x.Kind == migration.ProblemNoDialect }) {
		s.Prose("run       ", planRun(p)+", no dialect chosen")
	} else {
		s.Prose("run       ", fmt.Sprintf("%s, dialect %s", planRun(p), p.Dialect))
		s.Prose("read by   ", p.Readers)
	}
	if p.Settings.Note != "" {
		s.Prose("note      ", p.Settings.Note)
	}
	s.Println()
	s.Table("", []string{"RECORDS", "COUNT"}, countRows(p))
	screen.List(s, "", p.Tallies(), []string{"QUEUE", "STATUS", "BECOMES", "COUNT"}, func(t migration.Tally) screen.Row {
		return screen.Row{string(t.Queue), t.Status, t.State, t.Count}
	})
	if n := len(p.Batches); n > 0 {
		made := 0
		for _, b := range p.Batches {
			if b.New {
				made++
			}
		}
		text := screen.Count(made, "batch", "batches") + " to create"
		if n > made {
			text += fmt.Sprintf(", %d to add to", n-made)
		}
		s.Prose("", text+".")
		s.Println()
	}
	printChoices(s, p)
	printFindings(s, p.Findings)
	printLocks(s, p)
	printMigratedBefore(s, p)
	if len(p.Missing) > 0 {
		s.Prose("Not in the source: ", strings.Join(p.Missing, ", "))
		s.Println()
	}
	printProblems(s, p)
}

func printFindings(s *screen.Screen, findings []migration.Finding) {
	if len(findings) > 0 {
		s.Println("What could happen")
	}
	for i, f := range findings {
		if i == screen.MostRows {
			s.Printf("  %d more; -o json has all\n", len(findings)-i)
			break
		}
		one, many := "record", "records"
		if znode.Parent(f.Items[0].Path) == newqueue.BatchUUIDsPath {
			one, many = "batch", "batches"
		}
		says := f.What + ". "
		if f.Then != "" {
			says += screen.Sentence(f.Then) + ". "
		}
		s.Prose("  "+screen.Count(len(f.Items), one, many)+": ", says+firstOf(f.Names()))
	}
	if len(findings) > 0 {
		s.Println()
	}
}

func planRun(p *migration.Plan) string {
	switch {
	case p.Resumes:
		return "finishes " + p.Run
	case p.Empty() && !p.Blocked():
		return "none: " + p.Previous.ID + " is " + stateWord(p.Previous.State)
	}
	return "starts " + p.Run
}

// ToDo has the words for each action, in the table of a plan and in its verdict.
var ToDo = map[migration.Action]string{
	migration.ActionCreate:     "to create",
	migration.ActionUnchanged:  "migrated before",
	migration.ActionChanged:    "migrated before and changed since",
	migration.ActionRemoved:    "migrated before and removed since",
	migration.ActionSkip:       "to skip",
	migration.ActionQuarantine: "to quarantine",
	migration.ActionBlock:      "to decide",
}

func countRows(p *migration.Plan) []screen.Row {
	var rows []screen.Row
	for _, action := range migration.Actions {
		if n := p.Count(action); n > 0 {
			rows = append(rows, screen.Row{ToDo[action], n})
		}
	}
	return append(rows, screen.Row{"all", len(p.Records)})
}

func printChoices(s *screen.Screen, p *migration.Plan) {
	var rows []screen.Row
	for _, c := range migration.AllChoices {
		if about := p.About(c.Name); len(about) > 0 {
			rows = append(rows, screen.Row{"--" + c.Name, *c.Value(&p.Choices), len(about)})
		}
	}
	s.Table("Choices that apply to this plan (for each record, see -o json)", []string{"CHOICE", "VALUE", "RECORDS"}, rows)
}

func printProblems(s *screen.Screen, p *migration.Plan) {
	for i, x := range p.Problems {
		switch {
		case i == screen.MostRows:
			s.Printf("  %d more; -o json has all\n", len(p.Problems)-i)
		case i == 0:
			s.Println("Problems: the plan can't be applied while there are any")
			fallthrough
		case i < screen.MostRows:
			s.Prose("  ", x.Path+": "+x.Message)
		}
	}
	if len(p.Problems) > 0 {
		s.Println()
	}
	said := map[string]bool{}
	for _, x := range p.Problems {
		next := x.Next
		if f := advice.Solves(x); f != nil {
			next += " (--" + strings.Join(append([]string{f.Name}, f.Values...), " ") + ")"
		}
		if line := string(x.Kind) + ": " + next; !said[line] && len(said) < screen.MostRows {
			said[line] = true
			s.Prose(string(x.Kind)+": ", next)
		}
	}
	if len(said) > 0 {
		s.Println()
	}
}

// printLocks prints the legacy locks (docs/night.md, "3.4 Remove leftover locks").
func printLocks(s *screen.Screen, p *migration.Plan) {
	screen.List(s, "Legacy locks: the release does not lift the hold of ingest while one is left. A lock that stays when all legacy workers are stopped was left by one that died: remove it", p.Locks, []string{"LOCK", "SINCE", "DATA", "CONSUMED RECORD"},
		func(l migration.LegacyLock) screen.Row { return screen.Row{l.Path, l.Time, l.Data, l.Record} })
}

func printMigratedBefore(s *screen.Screen, p *migration.Plan) {
	var removed, changed []migration.PlanRecord
	for _, r := range p.Records {
		switch r.Action {
		case migration.ActionRemoved:
			removed = append(removed, r)
		case migration.ActionChanged:
			changed = append(changed, r)
		}
	}
	row := func(r migration.PlanRecord) screen.Row { return screen.Row{r.Path, r.Job, r.Reason} }
	screen.List(s, "Migrated before, and the job removed: not created again", removed, []string{"RECORD", "JOB", "WHY"}, row)
	screen.List(s, "Migrated before, and changed since: neither the record nor its job is changed", changed, []string{"RECORD", "JOB", "WHY"}, row)
}

func firstOf(names []string) string {
	const most = 3
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("… and %d more", len(names)-most))
	}
	return strings.Join(names, " ")
}

// PlanVerdict sums up a plan: whether it can be applied, in a word, and what it does with the records.
func PlanVerdict(p *migration.Plan) (tone screen.Tone, word, text string) {
	var parts []string
	for _, action := range migration.Actions {
		if n := p.Count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ToDo[action]))
		}
	}
	records := strings.Join(parts, ", ")
	if records == "" {
		records = "no records"
	}
	switch {
	case p.Blocked():
		return screen.Bad, "not ready", fmt.Sprintf("%s; %s", records, screen.Count(len(p.Problems), "problem", "problems"))
	case p.Empty():
		return screen.Good, "nothing to do", fmt.Sprintf("%s; %s is %s", records, p.Previous.ID, stateWord(p.Previous.State))
	}
	if notes := PlanNotes(p); len(notes) > 0 {
		return screen.Attention, "ready", fmt.Sprintf("%s. Review first: %s", records, strings.Join(notes, "; "))
	}
	return screen.Good, "ready", records
}

// PlanNotes counts what an operator should look at before a plan is carried out.
func PlanNotes(p *migration.Plan) []string {
	findings, waits := len(p.Findings), 0
	if p.Empty() { // they were seen before
		findings = 0
	}
	for _, t := range p.Tallies() {
		if t.State == string(newqueue.JobHeld) || t.State == string(newqueue.JobFailed) {
			waits += t.Count
		}
	}
	return counted([]note{
		{len(p.Locks), "legacy lock is still held", "legacy locks are still held"},
		{findings, "finding in the plan", "findings in the plan"},
		{len(p.Affected(migration.EffectLost)), "job might be lost", "jobs might be lost"},
		{len(p.Affected(migration.EffectRunsTwice)), "job might run twice", "jobs might run twice"},
		{waits, "job or request won't run until an administrator releases or requeues it", "jobs and requests won't run until an administrator releases or requeues them"},
		{len(p.Affected(migration.EffectUnfit)), "job cannot be processed", "jobs cannot be processed"},
	})
}

// ChangedSince counts the migrated records that are not as they were. [PlanVerdict] counts them
// among the records.
func ChangedSince(p *migration.Plan) []string {
	return counted([]note{
		{p.Count(migration.ActionRemoved), "migrated record no longer has a job", "migrated records no longer have a job"},
		{p.Count(migration.ActionChanged), "migrated record has changed since", "migrated records have changed since"},
	})
}

type note struct {
	n         int
	one, many string
}

func counted(notes []note) (texts []string) {
	for _, x := range notes {
		if x.n > 0 {
			texts = append(texts, screen.Count(x.n, x.one, x.many))
		}
	}
	return texts
}
