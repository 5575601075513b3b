package view

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/layout"
)

// Findings prints the errors and the warnings of a check, and what sessions are working on. A rule that thousands of
// znodes break has a hundred rows.
func Findings(out *screen.Screen, findings []layout.Finding) {
	for _, s := range layout.Severities {
		if s == layout.Info { // counted, and in -o json
			continue
		}
		var rows []screen.Row
		title, of := severityTitles[s], map[string]int{} // findings, by rule
		for _, f := range findings {
			if f.Severity != s {
				continue
			}
			if of[f.Rule]++; of[f.Rule] <= screen.MostRows {
				rows = append(rows, screen.Row{f.Path, f.Rule, f.Found, f.Expected, f.Repair, f.Document})
			}
		}
		if len(of) > 0 && slices.Max(slices.Collect(maps.Values(of))) > screen.MostRows {
			title += fmt.Sprintf(" (of each rule the first %d; -o json has all)", screen.MostRows)
		}
		out.Table(title, []string{"ZNODE", "RULE", "FOUND", "EXPECTED", "WHAT TO DO", "DOCUMENT"}, rows)
	}
	working := slices.DeleteFunc(slices.Clone(findings), func(f layout.Finding) bool { return f.LockedBy == "" })
	screen.List(out, "Being worked on: a session has locked the job, batch or request, and may be between two writes", working, []string{"ZNODE", "RULE", "FOUND", "SESSION"},
		func(f layout.Finding) screen.Row { return screen.Row{f.Path, f.Rule, f.Found, f.LockedBy} })
}

var severityTitles = map[layout.Severity]string{layout.Error: "Errors", layout.Warning: "Warnings", layout.Info: "For information"}
