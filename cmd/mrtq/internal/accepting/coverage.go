package accepting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/report"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/accept"
	"mrtq/newqueue"
)

// coverageOf is the content of --coverage.
func coverageOf(r *accept.Report) report.Coverage {
	c := report.Coverage{Rows: []report.CoverageRow{}}
	for _, row := range r.Coverage {
		c.Rows = append(c.Rows, report.CoverageRow{ID: row.ID, What: row.What, Dialect: string(row.Dialect), Result: string(row.Result), Why: row.Why})
	}
	return c
}

func covered(r *accept.Report) string {
	passed := 0
	for _, row := range r.Coverage {
		if row.Result == accept.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d rows covered", passed, len(r.Coverage))
}

var coverageTones = map[accept.Result]screen.Tone{accept.Passed: screen.Good, accept.Failed: screen.Bad, accept.NotRun: screen.Attention}

// printCoverage prints a row for each documented transition, with a column for each dialect.
// After a run with --tags, it prints only the rows that have run. If brief, it prints
// only the rows that have not passed.
func printCoverage(s *screen.Screen, r *accept.Report, brief bool) {
	results := map[string]map[newqueue.Dialect]accept.Result{}
	var lines []string // keys of results, in the documents' order
	var dialects []newqueue.Dialect
	last := -1
	for _, row := range r.Coverage {
		if !slices.Contains(dialects, row.Dialect) {
			dialects, last = append(dialects, row.Dialect), -1
		}
		if r.Subset && row.Result == accept.NotRun {
			continue
		}
		key := row.ID + "\t" + row.What
		if results[key] == nil {
			results[key] = map[newqueue.Dialect]accept.Result{}
			lines = slices.Insert(lines, last+1, key) // a row of only one dialect stays beside its neighbour
		}
		last = slices.Index(lines, key)
		results[key][row.Dialect] = row.Result
	}
	header := []string{"id", "what"}
	for _, d := range dialects {
		header = append(header, string(d))
	}
	var rows []screen.Row
	for _, key := range lines {
		id, what, _ := strings.Cut(key, "\t")
		row := screen.Row{id, what}
		passed := true
		for _, d := range dialects {
			result := results[key][d]
			passed = passed && (result == accept.Passed || result == "")
			row = append(row, screen.Toned{Tone: coverageTones[result], Text: cmp.Or(string(result), "–")})
		}
		if !brief || !passed {
			rows = append(rows, row)
		}
	}
	s.Table("Coverage", header, rows)
}
