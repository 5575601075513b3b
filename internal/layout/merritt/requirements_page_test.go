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

// A demand is a row of the table. where are the znodes that it is about, if it is about no key.
type demand struct{ id, of, where, what, worst, safe string }

// requirementsTable has one row for each rule of the map that says what the services do, and for each
// demand, in the order of the requirements. The keys of Dublin Core share a row, and so do rows that
// differ in the znode alone.
func requirementsTable(t *testing.T) string {
	var demands []demand
	for _, r := range named(t, "merritt", "mrt-zk").Rules() {
		if id, stops, ok := strings.Cut(r.Then, ": "); ok {
			worst, _, _ := strings.Cut(stops, "; ")
			effect, daemon, _ := strings.Cut(worst, " ")
			i := slices.IndexFunc(services.Effects, func(e services.Effect) bool { return e.String() == effect })
			demands = append(demands, demand{id, "`" + r.ID + "`", "", r.Says, services.Stop{Daemon: services.Daemon(daemon), Effect: services.Effects[i]}.String(), ""})
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
		where := ""
		if d.Key == "" {
			where = d.Node
		}
		demands = append(demands, demand{d.ID, fmt.Sprint(d.Of), where, what, services.Stop{Daemon: d.By[0], Effect: d.Then}.String(), d.Default})
	}
	demands = joined(demands, func(d *demand) *string { return &d.where })
	demands = joined(demands, func(d *demand) *string { return &d.of })
	slices.SortStableFunc(demands, func(a, b demand) int { return strings.Compare(a.id, b.id) })
	var b strings.Builder
	b.WriteString("| id | of | demand | if not, the worst that happens | safe default |\n| - | - | - | - | - |\n")
	for _, d := range demands {
		if d.where != "" {
			d.what = d.where + ": " + d.what
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.id, d.of, d.what, d.worst, d.safe)
	}
	return b.String()
}

// joined makes one of those demands that differ in one cell alone, with all values of the cell.
func joined(demands []demand, cell func(*demand) *string) (out []demand) {
	place := map[demand]int{}
	for _, d := range demands {
		same := d
		*cell(&same) = ""
		i, found := place[same]
		if !found {
			place[same] = len(out)
			out = append(out, d)
			continue
		}
		*cell(&out[i]) += ", " + *cell(&d)
	}
	return out
}
