package accept

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// KnownFailure is a scenario that is expected to fail, as a line of a list of known deviations has it.
type KnownFailure struct {
	Row, Scenario, Reason string
	line                  int
}

// ParseKnownFailures reads a list of known deviations: a line for each scenario that is expected to fail, with the ids of its
// rows (- if it has none), its name and the reason, separated by " | ". It skips empty lines and those that begin with #.
func ParseKnownFailures(r io.Reader) (all []KnownFailure, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) < 3 || parts[1] == "" || parts[2] == "" {
			return nil, fmt.Errorf("line %d: found %.80q, expected a row, a scenario and a reason: J16 | An administrator resumes a failed job | writes Failed", n, line)
		}
		all = append(all, KnownFailure{parts[0], parts[1], parts[2], n})
	}
	return all, lines.Err()
}

// judge says of each known deviation whether it is one no more. A run that was not of all scenarios may
// have left it out.
func judge(known []KnownFailure, ran []scenario, all bool) (problems []string) {
	for _, k := range known {
		var has, failed bool
		for _, sc := range ran {
			if k.is(sc) {
				has, failed = true, failed || sc.Failed != nil
			}
		}
		switch {
		case has && !failed:
			problems = append(problems, fmt.Sprintf("known deviation, line %d: the scenario %q passes: take it off the list", k.line, k.Scenario))
		case !has && all:
			problems = append(problems, fmt.Sprintf("known deviation, line %d: no scenario %q has run", k.line, k.Scenario))
		}
	}
	return problems
}

func isKnown(known []KnownFailure, sc scenario) bool {
	return slices.ContainsFunc(known, func(k KnownFailure) bool { return k.is(sc) })
}

// is reports whether a scenario is one that is meant. Scenarios of several rows may have its name, so the rows count, too.
func (k KnownFailure) is(sc scenario) bool {
	return k.Scenario == sc.Name && (k.Row == "-" || slices.ContainsFunc(strings.Split(k.Row, ","), func(row string) bool {
		return slices.Contains(sc.Tags, "@"+strings.TrimSpace(row))
	}))
}
