package acceptcmd

import (
	"bytes"
	"fmt"

	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/accept"
)

func covered(r *accept.Report) string {
	passed := 0
	for _, row := range r.Coverage {
		if row.Result == accept.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d rows covered", passed, len(r.Coverage))
}

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
	text, err := files.Read(path)
	return err == nil && bytes.Contains(text, []byte(`<testsuites name="mrtq accept"`))
}
