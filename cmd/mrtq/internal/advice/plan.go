package advice

import (
	"slices"
	"strings"

	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// RehearsalFile is the file in which a command has a rehearsal saved.
const RehearsalFile = "rehearsal.json"

type solution struct {
	kind migration.ProblemKind
	flag string
	// first is what people do first; "" if they decide whether they want the flag.
	first string
	// instead says that people do that instead of giving the flag: no service could finish the jobs that it would make.
	instead bool
}

// solutions has no row for what has to be repaired.
var solutions = []solution{
	{migration.ProblemInventoryWaiting, "inventory-records", "let the legacy inventory service finish its queue", true},
	{migration.ProblemUnserviceable, "unserviceable", "repair or remove the records that no service could work on", true},
	{migration.ProblemNoQueue, "new-queue", "check the address of the target", false},
	{migration.ProblemUndecodable, "undecodable", "", false},
	{migration.ProblemRestored, "restored", "", false},
	{migration.ProblemOtherTimes, "time", "", false},
	{migration.ProblemOtherDialect, "dialect", "", false},
}

// unplannable are the problems that another command solves than plan.
var unplannable = map[migration.ProblemKind]func(a Adviser, s Situation, fits string) Next{
	migration.ProblemRollbackUnfinished: func(a Adviser, s Situation, _ string) Next {
		return Next{Command: a.rollback(s)}
	},
	migration.ProblemRunStands: func(a Adviser, s Situation, _ string) Next {
		if s.Run.Origin.OneEnsemble {
			return Next{Command: a.status(s)}
		}
		return Next{Command: a.rollback(s)}
	},
	migration.ProblemReleased: func(a Adviser, s Situation, _ string) Next {
		return Next{First: "hold the queues, if their workers may stop", With: []string{a.Command("hold", []string{s.Target}, Set("why", shellVariable+"REASON")...)}, Command: a.PlanAgain(s)}
	},
	migration.ProblemOtherOrigin: func(a Adviser, s Situation, _ string) Next {
		if !s.Plan.Resumes {
			return Next{First: "make sure that this is the legacy queue that was migrated. This says what comes first", Command: a.status(s)}
		}
		return Next{First: "look for the legacy queue that was migrated. If it was removed or made again, this goes back", Command: a.rollback(s)}
	},
	migration.ProblemOtherChoices: func(a Adviser, s Situation, _ string) Next { // it is finished with its own choices
		return Next{Command: a.withoutChoices().finish(s)}
	},
}

func solutionOf(kind migration.ProblemKind) solution {
	for _, row := range solutions {
		if row.kind == kind {
			return row
		}
	}
	return solution{}
}

// Solves returns the flag that solves a problem, with the values from which the operator chooses; nil if none does, or
// there is one for each dialect.
func Solves(p migration.Problem) *Flag {
	row := solutionOf(p.Kind)
	if row.flag == "" {
		return nil
	}
	f := Switch(row.flag)
	if p.Fits != "" {
		f.Values = []string{p.Fits}
	}
	for _, c := range migration.AllChoices {
		if c.Name == f.Name { // a value that blocks is no solution
			f.Values = []string{strings.Join(slices.DeleteFunc(slices.Clone(c.Values), func(v string) bool { return v == "block" }), "|")}
		}
	}
	return &f
}

// RehearseAgain returns the command that runs, with the flags that solve a plan's problems.
func (a Adviser) RehearseAgain(plan *migration.Plan) Next {
	var flags []Flag
	for _, p := range plan.Problems {
		if f := Solves(p); f != nil && !hasFlag(flags, f.Name) {
			flags = append(flags, *f)
		}
	}
	return Next{First: "decide whether you want these flags", Command: a.Again(flags...)}
}

func (a Adviser) unblock(s Situation) Next {
	if s.Plan.Resumes {
		s.Run = &s.Plan.Unfinished
	}
	for _, p := range s.Plan.Problems {
		if next := unplannable[p.Kind]; next != nil {
			return next(a, s, p.Fits)
		}
	}
	has := func(kind migration.ProblemKind) bool {
		return slices.ContainsFunc(s.Plan.Problems, func(p migration.Problem) bool { return p.Kind == kind })
	}
	var first, decided []string
	for _, row := range solutions {
		if row.first != "" && has(row.kind) {
			first = append(first, row.first)
		}
	}
	flags := a.planFlags(s)
	for _, p := range s.Plan.Problems {
		row, f := solutionOf(p.Kind), Solves(p)
		if f == nil || row.instead {
			continue
		}
		flags = append(without(flags, f.Name), *f)
		if flag := strings.Join(f.words(), " "); row.first == "" && !slices.Contains(decided, flag) {
			decided = append(decided, flag)
		}
	}
	if len(decided) > 0 {
		first = append(first, "decide whether you want "+strings.Join(decided, " and "))
	}
	dialect := has(migration.ProblemNoDialect)
	if len(first) == 0 && !dialect {
		first = []string{"resolve the listed problems"}
	}
	next := Next{First: strings.Join(first, ", and ")}
	plan := func(more ...Flag) string {
		return a.Command("plan", []string{s.Source, s.Target}, append(more, flags...)...)
	}
	if !dialect {
		next.Command = plan()
		return next
	}
	for _, d := range newqueue.Dialects {
		readers, _, _ := strings.Cut(d.Readers(), ". ")
		next.Ways = append(next.Ways, Way{"For dialect " + string(d) + ", read by " + readers, plan(Set("dialect", string(d))...)})
	}
	return next
}

func (a Adviser) withoutChoices() Adviser {
	a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool {
		return isChoice(f.Name) || slices.Contains(first, f.Name) || f.Name == "acl" || namesQueue(f.Name)
	})
	return a
}

func (a Adviser) planFlags(s Situation) []Flag {
	if s.PlanFile == "" {
		return nil
	}
	return slices.Concat(Set("out", s.PlanFile), []Flag{Switch("force")}, s.Settings)
}

// PlanAgain returns the command that makes a saved plan again, with its settings.
func (a Adviser) PlanAgain(s Situation) string {
	return a.Command("plan", []string{s.source(), s.Target}, a.planFlags(s)...)
}

func (a Adviser) migrate(s Situation) Next {
	if s.PlanFile == "" && s.Run == nil && !hasFlag(a.Given, "failed") && emptied(s.Plan) {
		failed := func(as string) string {
			return a.Command("plan", []string{s.Source, s.Target}, Set("failed", as)...)
		}
		return Next{Ways: []Way{{"To hold the jobs of failed records, which is safer", failed("held")}, {"To leave them failed", failed("failed")}}}
	}
	if s.PlanFile == "" {
		next := Next{Command: a.Command("plan", []string{s.Source, s.Target}, Set("out", s.planFile())...)}
		switch {
		case s.Run == nil:
			next.First, next.With = "rehearse, and stop the workers of the legacy queue", []string{a.Command("rehearse", []string{s.Source}, Set("out", RehearsalFile)...)}
		case s.Run.State == migration.RunRolledBack:
			next.First = "stop the workers of the legacy queue"
		}
		return next
	}
	// The file has all settings. Only those of the connection are handed over.
	a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool {
		return f.Name != "max-rate" && f.Name != "packet" && !a.Takes("", f.Name)
	})
	report := append(Set("plan", s.PlanFile), Set("out", strings.TrimSuffix(s.PlanFile, ".json")+".html")...)
	if s.Rehearsal != "" && s.Run == nil { // it was of the first migration
		report = append(report, Set("rehearsal", s.Rehearsal)...)
	}
	return Next{First: "have the plan approved", With: []string{a.Command("report", nil, report...)}, Command: a.Command("migrate", nil, Set("plan", s.PlanFile)...)}
}

// emptied reports whether a job that a plan leaves failed might be stored without content if it is requeued.
func emptied(p *migration.Plan) bool {
	return p.Choices.Failed == "failed" && len(p.About("failed")) > 0 && len(p.Affected(migration.EffectStoredEmpty)) > 0
}
