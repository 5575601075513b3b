package main

import (
	"slices"
	"strings"

	"mrtq/migrate"
)

// decisions are the flags that decide about records that block a plan.
var decisions = map[migrate.ProblemKind]string{
	migrate.Consumed:         "consumed",
	migrate.Undecodable:      "undecodable",
	migrate.Unserviceable:    "unserviceable",
	migrate.InventoryWaiting: "inventory-records",
}

// unblock says what to do about a plan that has problems: one command, with the choices
// that the plan needs. settings are those of a saved plan, and the file to save the next in.
func (a *app) unblock(plan *migrate.Plan, s sides, settings ...flagWords) string {
	if at := elsewhere(plan); at != "" {
		return "Next, to look at that queue: " + a.command("status", []string{at})
	}
	flags := settings
	decided := false
	for _, p := range plan.Problems {
		switch {
		case p.Rebuildable:
			return "Next, for the migration's own records: " + a.command("rebuild", []string{s.target.text})
		case p.Kind == migrate.RollbackUnfinished:
			return "Next, to finish it: " + a.command("rollback", []string{s.target.text}, newFlag("run", p.Fits))
		case p.Kind == migrate.NoDialect:
			decided = true
			flags = choose(flags, "dialect", "mrt-zk|design")
		case p.Kind == migrate.OtherDialect:
			flags = choose(flags, "dialect", p.Fits)
		case p.Kind == migrate.OtherPolicies && !migrate.IsRun(p.Fits):
			flags = choose(flags, "time", p.Fits)
		}
		if i := slices.IndexFunc(migrate.PolicyChoices, func(c migrate.PolicyChoice) bool { return c.Name == decisions[p.Kind] }); i >= 0 {
			decided = true
			flags = choose(flags, decisions[p.Kind], strings.Join(unblocking(migrate.PolicyChoices[i]), "|"))
		}
	}
	if decided {
		return "Next, once you have decided: " + a.command("plan", s.args(), flags...)
	}
	return "Next, once that is mended: " + a.command("plan", s.args(), flags...)
}

// savedIn is the flag that saves the next plan in the same file, none if there is no file.
func savedIn(file string) []flagWords {
	if file == "" {
		return nil
	}
	return []flagWords{newFlag("out", file)}
}

// unblocking are the values of a policy that don't block.
func unblocking(c migrate.PolicyChoice) []string {
	return slices.DeleteFunc(slices.Clone(c.Values), func(v string) bool { return v == migrate.Block })
}

// choose sets a flag. If the flag is there with another value, it replaces that.
func choose(flags []flagWords, name, value string) []flagWords {
	others := slices.DeleteFunc(slices.Clone(flags), func(f flagWords) bool { return f.name == name })
	return append(others, newFlag(name, value))
}
