package advice

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mrtq/migrate"
)

// QueueFlags are the flags that say where the legacy queues are.
var QueueFlags = []struct {
	Kind migrate.QueueKind
	Flag string
}{
	{migrate.Ingest, "ingest"},
	{migrate.Inventory, "inventory"},
	{migrate.AccessSmall, "access-small"},
	{migrate.AccessLarge, "access-large"},
}

// solutions are the flags that solve a kind of problem, with the values from which the
// operator chooses. A problem without a row has to be repaired.
var solutions = map[migrate.ProblemKind]func(migrate.Problem) Flag{
	migrate.Undecodable:      choose("undecodable"),
	migrate.Unserviceable:    choose("unserviceable"),
	migrate.InventoryWaiting: choose("inventory-records"),
	migrate.NeedsNewQueue:    func(migrate.Problem) Flag { return Switch("new-queue") },
	migrate.NeedsHoldAgain:   func(migrate.Problem) Flag { return Switch("hold-again") },
	migrate.NeedsRestored:    func(migrate.Problem) Flag { return Switch("restored") },
	migrate.NeedsDialect:     func(migrate.Problem) Flag { return Flag{"dialect", []string{dialects()}} },
	migrate.OtherTimes:       func(p migrate.Problem) Flag { return Flag{"time", []string{p.Fits}} },
	migrate.OtherDialect:     func(p migrate.Problem) Flag { return Flag{"dialect", []string{p.Fits}} },
}

// choose is the flag of a choice, with those of its values that don't block a plan.
func choose(name string) func(migrate.Problem) Flag {
	return func(migrate.Problem) Flag {
		i := slices.IndexFunc(migrate.AllChoices, func(c migrate.Choice) bool { return c.Name == name })
		return Flag{name, []string{strings.Join(slices.DeleteFunc(slices.Clone(migrate.AllChoices[i].Values), func(v string) bool { return v == "block" }), "|")}}
	}
}

// Solves returns the flag that solves a problem; nil if none does.
func Solves(p migrate.Problem) *Flag {
	f, ok := solutions[p.Kind]
	if !ok {
		return nil
	}
	flag := f(p)
	return &flag
}

// RehearseAgain is the command that runs, with the flags that solve a plan's problems.
func (a Adviser) RehearseAgain(plan *migrate.Plan) string {
	var flags []Flag
	for _, p := range plan.Problems {
		if f := Solves(p); f != nil && !hasFlag(flags, f.Name) {
			flags = append(flags, *f)
		}
	}
	return a.Again(flags...)
}

// unblock is one command with the flags that a plan with problems needs.
func (a Adviser) unblock(s Situation) string {
	flags := a.planFlags(s)
	var drained, repaired, decided bool
	for _, p := range s.Plan.Problems {
		if p.Kind == migrate.RollbackUnfinished {
			return "Next, to finish the rollback: " + a.Command("rollback", []string{s.Target}, Set("run", p.Fits)...)
		}
		if p.Kind == migrate.OtherChoices && s.Plan.Resumes {
			s.Run = &s.Plan.Unfinished
			return "Next, to finish it with its own choices: " + a.withoutChoices().finish(s)
		}
		// No service can finish the jobs that the flags of these two would make.
		if p.Kind == migrate.InventoryWaiting {
			drained = true
			continue
		}
		if p.Kind == migrate.Unserviceable {
			repaired = true
			continue
		}
		if f := Solves(p); f != nil {
			decided = true
			flags = append(slices.DeleteFunc(flags, func(g Flag) bool { return g.Name == f.Name }), *f)
		}
	}
	var events []string
	for _, e := range []struct {
		awaited bool
		words   string
	}{
		{drained, "the legacy inventory service has finished its queue"},
		{repaired, "the records that no service could work on are repaired or removed"},
		{decided, "you have decided"},
	} {
		if e.awaited {
			events = append(events, e.words)
		}
	}
	return "Next, once " + cmp.Or(strings.Join(events, ", and "), "that is repaired") + ": " + a.Command("plan", []string{s.Source, s.Target}, flags...)
}

// Details says where the details of what a migration counts are: in a new plan, or if it created
// something, in the saved plan's page, or else in the page about the target.
func (a Adviser) Details(s Situation, created bool) string {
	created = created && onlyBefore(s.Plan)
	switch {
	case created && s.PlanFile != "":
		page := strings.TrimSuffix(s.PlanFile, ".json") + ".html"
		return "For details: " + a.Command("report", nil, append(Set("plan", s.PlanFile), Set("out", page)...)...)
	case created:
		return "For each record and its job: " + a.Command("report", []string{s.Target}, Set("out", "report.html")...)
	}
	var flags []Flag
	if s.PlanFile != "" {
		flags = later(planSettings(s.Plan))
	}
	a.Given = later(a.Given) // what only the first migration needs
	return "For details: " + a.Command("plan", []string{s.Source, s.Target}, flags...)
}

// onlyBefore reports whether some of what is notable about a plan is not in a plan that is made after
// its migration. That has only the legacy locks, and the records that changed or vanished.
func onlyBefore(p *migrate.Plan) bool {
	risky := slices.ContainsFunc(p.Risks, func(r migrate.Risk) bool { return r.Chosen && len(r.Twice)+len(r.Never) > 0 })
	return risky || len(p.Warnings)+len(p.About("inventory-records"))+len(p.About("unserviceable")) > 0
}

func later(flags []Flag) []Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f Flag) bool { return slices.Contains(first, f.Name) })
}

// withoutChoices is an adviser that hands no choice of this command to the next one.
func (a Adviser) withoutChoices() Adviser {
	a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool {
		return isChoice(f.Name) || slices.Contains(first, f.Name) || f.Name == "acl"
	})
	return a
}

// planFlags are the settings of a saved plan that was given with --plan, and the file in
// which the next one is saved.
func (a Adviser) planFlags(s Situation) (flags []Flag) {
	if s.PlanFile == "" {
		return nil
	}
	flags = append(Set("out", s.PlanFile), Switch("force"))
	if a.Name != "plan" {
		flags = append(flags, planSettings(s.Plan)...)
	}
	return flags
}

// PlanAgain is the command that makes a saved plan again, with its settings.
func (a Adviser) PlanAgain(s Situation) string {
	return a.Command("plan", []string{s.Source, s.Target}, a.planFlags(s)...)
}

// migrate is the command that carries a plan out.
func (a Adviser) migrate(s Situation) string {
	if s.PlanFile == "" {
		return a.Command("migrate", []string{s.Source, s.Target})
	}
	// The file has all settings. Only those of the connection are handed over.
	a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool {
		return f.Name != "max-rate" && f.Name != "packet" && !a.Takes("", f.Name)
	})
	return a.Command("migrate", nil, Set("plan", s.PlanFile)...)
}

// planSettings are the settings of a plan as flags. The ACL is not shown.
func planSettings(p *migrate.Plan) []Flag {
	s := Situation{Plan: p}
	flags := append(choices(p.Choices, p.Settings.Time), s.queues()...)
	flags = append(flags, acl(p.Settings.ACL)...)
	flags = append(flags, Set("again", p.Settings.Again...)...)
	if p.Settings.Note != "" {
		flags = append(flags, Set("note", p.Settings.Note)...)
	}
	if p.Settings.Packet != migrate.DefaultPacket && p.Settings.Packet != 0 {
		flags = append(flags, Set("packet", strconv.Itoa(p.Settings.Packet))...)
	}
	if p.Previous == nil {
		flags = append(flags, Set("dialect", string(p.Dialect))...)
	}
	for _, word := range []struct {
		name  string
		given bool
	}{{"new-queue", p.Settings.NewQueue}, {"hold-again", p.Settings.HoldAgain}, {"restored", p.Settings.Restored}} {
		if word.given {
			flags = append(flags, Switch(word.name))
		}
	}
	return flags
}

// queues are the flags that say where the legacy queues of a plan are, if they are not in
// the default places.
func (s Situation) queues() (flags []Flag) {
	if s.Plan == nil || s.Plan.Settings.Queues.Nodes == nil {
		return nil
	}
	own, def := s.Plan.Settings.Queues, migrate.DefaultQueues()
	for _, q := range QueueFlags {
		if nodes := own.Nodes[q.Kind]; !slices.Equal(nodes, def.Nodes[q.Kind]) {
			flags = append(flags, Set(q.Flag, List(nodes...))...)
		}
	}
	if !slices.Equal(own.Locks, def.Locks) {
		flags = append(flags, Set("locks", List(own.Locks...))...)
	}
	return flags
}
