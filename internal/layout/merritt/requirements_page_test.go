package merritt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/internal/layout/merritt/services"
)

// TestRequirementsPage holds the table of docs/requirements.md to [services.Requirements].
// -update writes it.
func TestRequirementsPage(t *testing.T) {
	goldenfile.Section(t, "../../../docs/requirements.md", "<!-- generated: demands -->", "<!-- end of demands -->", "\n"+requirementsTable(t)+"\n", *update)
}

// requirementsTable has one row for each rule of the map that says what the services do, and for each
// demand, in the order of the requirements. The keys of Dublin Core share a row.
func requirementsTable(t *testing.T) string {
	var rows []string
	for _, r := range named(t, "merritt", "mrt-zk").Rules() {
		if id, stops, ok := strings.Cut(r.Then, ": "); ok {
			worst, _, _ := strings.Cut(stops, "; ")
			effect, daemon, _ := strings.Cut(worst, " ")
			i := slices.IndexFunc(services.Effects, func(e services.Effect) bool { return e.String() == effect })
			rows = append(rows, fmt.Sprintf("| %s | `%s` | %s | %s | |\n", id, r.ID, r.Says, services.Stop{Daemon: services.Daemon(daemon), Effect: services.Effects[i]}))
		}
	}
	for _, d := range services.Requirements {
		if strings.HasPrefix(d.Key, "DC") {
			if d.Key != "DCcontributor" {
				continue
			}
			d.Key = "DC…"
		}
		_, what, _ := strings.Cut(d.String(), ": ")
		if d.Key == "" && d.Node != "" {
			what = d.Node + ": " + what
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", d.ID, d.Of, what, services.Stop{Daemon: d.By[0], Effect: d.Then}, d.Default))
	}
	slices.SortStableFunc(rows, func(a, b string) int { return strings.Compare(a[:len("| R01")], b[:len("| R01")]) })
	return "| id | of | demand | if not, the worst that happens | safe default |\n| - | - | - | - | - |\n" + strings.Join(rows, "")
}
