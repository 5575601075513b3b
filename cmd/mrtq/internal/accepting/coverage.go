package accepting

import (
	"bytes"
	"encoding/json"
	"fmt"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/accept"
	"mrtq/internal/openfile"
)

// coverage is the content of --coverage.
type coverage struct {
	Rows []coverageRow `json:"rows"`
}

// coverageRow is one documented transition, acquisition, lock or behaviour in a dialect.
type coverageRow struct {
	ID      string   `json:"id"`
	What    string   `json:"what"`
	Dialect string   `json:"dialect"`
	Result  string   `json:"result"`        // passed, failed or not run
	Why     []string `json:"why,omitempty"` // what is missing, if the row has not passed
}

func coverageOf(r *accept.Report) coverage {
	c := coverage{Rows: []coverageRow{}}
	for _, row := range r.Coverage {
		c.Rows = append(c.Rows, coverageRow{row.ID, row.What, string(row.Dialect), string(row.Result), row.Why})
	}
	return c
}

// isCoverage reports whether a file is an earlier content of --coverage, which the next run replaces.
func isCoverage(path string) bool {
	text, err := openfile.ReadAll(path)
	if err != nil {
		return false
	}
	var c coverage
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	return read.Decode(&c) == nil && c.Rows != nil
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

// printCoverage prints a row for each documented transition in each dialect. After a run with --tags,
// it prints only the rows that have run. If brief, it prints only the rows that have not passed.
func printCoverage(s *screen.Screen, r *accept.Report, brief bool) {
	var rows []screen.Row
	for _, row := range r.Coverage {
		if r.Subset && row.Result == accept.NotRun || brief && row.Result == accept.Passed {
			continue
		}
		rows = append(rows, screen.Row{row.ID, row.What, string(row.Dialect), string(row.Result)})
	}
	s.Table("Coverage", []string{"ID", "WHAT", "DIALECT", "RESULT"}, rows)
}

// isJUnit reports whether a file is an earlier content of --out, which the next run replaces.
func isJUnit(path string) bool {
	text, err := openfile.ReadAll(path)
	return err == nil && bytes.Contains(text, []byte(`<testsuites name="mrtq accept"`))
}
