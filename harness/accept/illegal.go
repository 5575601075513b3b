package accept

import (
	"fmt"
	"strings"

	"mrtq/newqueue"
)

// illegal is the feature of every pair of an entity's states that no row of its
// table joins, made from the table.
func illegal(e newqueue.Entity, d newqueue.Dialect) string {
	noun := nouns[e]
	var b strings.Builder
	fmt.Fprintf(&b, `Feature: What a %s can't do
  Every two states that no transition joins: the step is refused with an error
  that says where the %s can go instead, and nothing has changed.
`, noun, noun)
	outline := func(title, given, when string, pairs []newqueue.Pair) {
		fmt.Fprintf(&b, "\n  @illegal\n  Scenario Outline: %s\n    Given %s\n    When %s\n", title, given, when)
		fmt.Fprintf(&b, "    Then it is refused: from <from> the %s can go to <allowed>\n    And nothing has changed\n", noun)
		fmt.Fprintf(&b, "\n    Examples:\n      | from | to | allowed |\n")
		for _, p := range pairs {
			fmt.Fprintf(&b, "      | %s | %s | %s |\n", p.From, p.To, allowed(e, d, p.From))
		}
	}
	pairs := newqueue.Illegal(e, d)
	outline(fmt.Sprintf("no administrator takes a %s from <from> to <to>", noun),
		fmt.Sprintf("a %s that is <from>", noun), fmt.Sprintf("an administrator tries to move the %s to <to>", noun), pairs)
	outline(fmt.Sprintf("no worker takes a %s from <from> to <to>", noun),
		fmt.Sprintf("a %s that is <from>, acquired by a worker", noun), "the worker tries to move it to <to>", workers(e, d, pairs))
	return b.String()
}

// nouns are what scenarios call the entities.
var nouns = map[newqueue.Entity]string{
	newqueue.EntityJob: "job", newqueue.EntityBatch: "batch", newqueue.EntityAccess: "request",
}

// allowed are the states to which an entity can go from a state.
func allowed(e newqueue.Entity, d newqueue.Dialect, from string) string {
	var states []string
	for _, t := range newqueue.Next(e, d, from) {
		states = append(states, t.To)
	}
	if len(states) == 0 {
		return "nowhere"
	}
	return strings.Join(states, " ")
}

// workers are the pairs that begin where a worker may be at work.
func workers(e newqueue.Entity, d newqueue.Dialect, pairs []newqueue.Pair) []newqueue.Pair {
	var some []newqueue.Pair
	for _, p := range pairs {
		for _, t := range newqueue.Next(e, d, p.From) {
			if t.Who == newqueue.Worker {
				some = append(some, p)
				break
			}
		}
	}
	return some
}
