package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

type pair struct{ from, to string }

// illegal returns the feature with every pair of an entity's states between which no
// step is documented. A state and itself are a pair, too, about which the published design says nothing: newqueue
// refuses it.
func illegal(e states.Entity, d newqueue.Dialect) string {
	noun, table := nounOf(e), states.Transitions(e, string(d))
	var b strings.Builder
	fmt.Fprintf(&b, `Feature: What a %s can't do
  If there is no transition between two states, the step is refused. The error says
  to which states the %s can move instead, and nothing changes.
`, noun, noun)
	outline := func(tags, title, given, when string, pairs []pair) {
		fmt.Fprintf(&b, "\n  %s\n  Scenario Outline: %s\n    Given %s\n    When %s\n", tags, title, given, when)
		fmt.Fprintf(&b, "    Then it is refused: from <from> the %s can move to <allowed>\n    And nothing has changed\n", noun)
		fmt.Fprintf(&b, "\n    Examples:\n      | from | to | allowed |\n")
		for _, p := range pairs {
			fmt.Fprintf(&b, "      | %s | %s | %s |\n", p.from, p.to, allowed(table, p.from))
		}
	}
	for _, of := range []struct {
		tags string
		same bool
	}{{"@illegal", false}, {"@illegal @newqueue", true}} {
		pairs := slices.DeleteFunc(notJoined(e, d), func(p pair) bool { return (p.from == p.to) != of.same })
		outline(of.tags, fmt.Sprintf("an administrator can't move a %s from <from> to <to>", noun),
			fmt.Sprintf("a %s that is <from>", noun), fmt.Sprintf("an administrator tries to move the %s to <to>", noun), pairs)
		outline(of.tags, fmt.Sprintf("a worker can't move a %s from <from> to <to>", noun),
			fmt.Sprintf("a %s that is <from>, acquired by a worker", noun), "the worker tries to move it to <to>",
			slices.DeleteFunc(pairs, func(p pair) bool {
				return !slices.ContainsFunc(table.From(p.from), func(t states.Transition) bool { return t.Who == states.Worker })
			}))
	}
	return b.String()
}

func notJoined(e states.Entity, d newqueue.Dialect) []pair {
	var pairs []pair
	all := states.States(e, string(d))
	for _, from := range all {
		for _, to := range all {
			if _, joined := states.Transitions(e, string(d)).Find(from, to); !joined {
				pairs = append(pairs, pair{from, to})
			}
		}
	}
	return pairs
}

func allowed(table states.Table, from string) string {
	var to []string
	for _, t := range table.From(from) {
		if t.To != states.Removed { // which is no state
			to = append(to, t.To)
		}
	}
	return cmp.Or(strings.Join(to, " "), "no state")
}
