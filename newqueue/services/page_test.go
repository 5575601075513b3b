package services

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
)

var update = flag.Bool("update", false, "write the table of docs/deployed-services.md")

// TestDemandsPage holds the table of docs/deployed-services.md to [Demands].
// -update writes it.
func TestDemandsPage(t *testing.T) {
	goldenfile.Section(t, "../../docs/deployed-services.md", "<!-- generated: demands -->", "<!-- end of demands -->", "\n"+demandsTable()+"\n", *update)
}

// demandsTable has one row for each demand, in the order of their ids. The keys
// of Dublin Core share a row.
func demandsTable() string {
	rows := slices.Clone(Demands)
	slices.SortStableFunc(rows, func(a, b Demand) int { return strings.Compare(a.ID, b.ID) })
	var b strings.Builder
	b.WriteString("| id | of | demand | if not, the worst that happens | safe default |\n| - | - | - | - | - |\n")
	for _, d := range rows {
		if strings.HasPrefix(d.Key, "DC") {
			if d.Key != dublinCore[0] {
				continue
			}
			d.Key = "DC…"
		}
		_, what, _ := strings.Cut(d.String(), ": ")
		if d.Key == "" && d.Node != "" {
			what = d.Node + ": " + what
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.ID, d.Of, what, worst(d.Stops), d.Default)
	}
	return b.String()
}

// worst is the effect that comes first in the order of the effects.
func worst(stops []Stop) Stop {
	return slices.MinFunc(stops, func(a, b Stop) int {
		return slices.Index(effectsByHarm, a.Effect) - slices.Index(effectsByHarm, b.Effect)
	})
}

var effectsByHarm = []Effect{StopsQueue, EndsThread, StopsReports, Resubmits, StoresEmpty, ReportsEarly, Stuck, StuckReporting, Waits,
	NotFound, Fails, NeverReported, ReportLost, NeverCleaned, ReportsWrong, BreaksPage, Harmless}
