package view

import (
	"fmt"
	"slices"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/layout"
)

// Findings prints the errors and the warnings of a check, and what sessions are working on, as far as the report has kept
// them.
func Findings(out *screen.Screen, r *layout.Report) {
	for _, s := range layout.Severities {
		if s == layout.Info { // counted, and in -o json
			continue
		}
		var rows []screen.Row
		for _, f := range r.Findings {
			if f.Severity == s {
				rows = append(rows, screen.Row{f.Path, f.Rule, f.Found, f.Expected, f.Repair, f.Document})
			}
		}
		title := severityTitles[s]
		if r.Count(s) > len(rows) {
			title += fmt.Sprintf(" (of each rule the first %d; -o json counts all)", screen.MostRows)
		}
		out.Table(title, []string{"ZNODE", "RULE", "FOUND", "EXPECTED", "WHAT TO DO", "DOCUMENT"}, rows)
	}
	working := slices.DeleteFunc(slices.Clone(r.Findings), func(f layout.Finding) bool { return f.LockedBy == "" })
	screen.Brief(out, "Being worked on: a session has locked the job, batch or request, and may be between two writes", working, []string{"ZNODE", "RULE", "FOUND", "SESSION"},
		func(f layout.Finding) screen.Row { return screen.Row{f.Path, f.Rule, f.Found, f.LockedBy} }, all)
}

var severityTitles = map[layout.Severity]string{layout.Error: "Errors", layout.Warning: "Warnings", layout.Info: "Notes"}
