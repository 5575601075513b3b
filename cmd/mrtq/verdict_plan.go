package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mrtq/migrate"
)

// toDo are the words for each action, in the table of a plan and in its verdict.
var toDo = map[migrate.Action]string{
	migrate.ActCreate:     "to create",
	migrate.ActRewrite:    "to rewrite",
	migrate.ActUnchanged:  "migrated before",
	migrate.ActGone:       "migrated before and gone",
	migrate.ActSkip:       "to skip",
	migrate.ActQuarantine: "to quarantine",
	migrate.ActBlock:      "to decide",
}

// planVerdict sums up a plan in one line: what it does with the records, and whether it can
// be carried out.
func planVerdict(p *migrate.Plan) (tone, string) {
	var parts []string
	for _, act := range migrate.Actions {
		if n := p.Count(act); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, toDo[act]))
		}
	}
	records := strings.Join(parts, ", ")
	if records == "" {
		records = "no records"
	}
	switch {
	case p.Blocked():
		return bad, fmt.Sprintf("%s. Not ready: %s", records, toDoFirst(p.Count(migrate.ActBlock), p.Problems))
	case p.Empty() && p.NewestRun() != "":
		return good, fmt.Sprintf("%s: nothing to do, %s is done", records, p.NewestRun())
	case p.Empty():
		return good, records + ": nothing to do"
	case len(p.Warnings) > 0:
		return attention, fmt.Sprintf("%s: ready, with %s", records, count(len(p.Warnings), "warning", "warnings"))
	}
	return good, records + ": ready"
}

// toDoFirst says what to do before a plan can be carried out: what to decide, and how many
// other problems to mend. records is the number of records to decide. Each is a problem.
func toDoFirst(records int, problems []migrate.Problem) string {
	others := len(problems) - records
	var decide, first []string
	if slices.ContainsFunc(problems, func(p migrate.Problem) bool { return p.Kind == migrate.NoDialect }) {
		decide = append(decide, "the dialect")
		others--
	}
	if records > 0 {
		decide = append(decide, count(records, "record", "records"))
	}
	other := ""
	if len(decide) > 0 {
		first = append(first, "decide "+strings.Join(decide, " and "))
		other = "other "
	}
	if others > 0 {
		first = append(first, "mend "+count(others, other+"problem", other+"problems"))
	}
	return strings.Join(first, ", and ")
}

// class is a group of warnings that say the same about different znodes.
type class struct {
	message string // what all of them say, with … in place of what differs; see [migrate.InCommon]
	paths   []string
}

// classes groups warnings, in the order of the first of each class.
func classes(warnings []migrate.Warning) []*class {
	var order []*class
	found := map[string]*class{}
	for _, w := range warnings {
		key := particular.ReplaceAllString(w.Message, "")
		c := found[key]
		if c == nil {
			c = &class{message: w.Message}
			found[key] = c
			order = append(order, c)
		}
		c.message = migrate.InCommon(c.message, w.Message)
		c.paths = append(c.paths, w.Path)
	}
	return order
}

// particular matches the parts of a message that differ between warnings of a class:
// quoted text, paths, identifiers and numbers.
var particular = regexp.MustCompile(`"(\\.|[^"\\])*"|[^\s"]*[/0-9][^\s":,;]*`)

func (a *app) printWarnings(warnings []migrate.Warning) {
	list(a, "Warnings", classes(warnings), []string{"COUNT", "WARNING", "RECORD OR ZNODE"}, func(c *class) []any {
		return []any{len(c.paths), c.message, firstOf(c.paths, len(c.paths))}
	})
}
