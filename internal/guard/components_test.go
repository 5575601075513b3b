package guard_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
)

var update = flag.Bool("update", false, "draw the picture of the components again")

// components are the parts of the project, each a folder, from the top down.
// Production code may import only from components below its own. A package belongs to
// the component with the longest name that its path begins with. Only the command is
// above the harness, so nothing else in production needs it.
var components = []string{
	"cmd/mrtq",
	"harness/life",
	"harness/bench",
	"harness/rehearse",
	"harness/practice",
	"harness/accept",
	"harness/daemons",
	"harness/shared",
	"harness/docker",
	"harness",
	"features",
	"migrate",
	"migrate/internal/plan",
	"migrate/internal/verify",
	"migrate/internal/handover",
	"migrate/internal/apply",
	"migrate/internal/standing",
	"migrate/internal/target",
	"migrate/internal/source",
	"migrate/internal/ledger",
	"migrate/internal/rules",
	"migrate/internal/reasons",
	"migrate/migration",
	"internal/layout/merritt",
	"newqueue/client",
	"newqueue",
	"newqueue/states",
	"internal/legacyqueue",
	"legacy",
	"internal/layout",
	"internal/restore",
	"internal/sides",
	"internal/election",
	"harness/minizk",
	"internal/ztree",
	"internal/zkconn",
	"internal/jute",
	"internal/znode",
	"internal/openfile",
	"internal/text",
	"internal/part",
	"internal/guard",
	"internal/goldenfile",
}

// never has the imports that the order of the components would allow, and that must not be.
var never = map[string][]string{
	// What is verified must not come from what was planned, and each use case can be read alone.
	"migrate/internal/plan":     {"migrate/internal/handover", "migrate/internal/verify"},
	"migrate/internal/handover": {"migrate/internal/plan"},
	// Users of the new queue get no legacy records with it, and the decoders need nothing.
	"newqueue":        {"legacy", "internal/legacyqueue", "internal/zkconn"},
	"newqueue/client": {"legacy", "internal/legacyqueue", "internal/zkconn"},
	"legacy":          {"internal"},
}

const architecturePage = "docs/architecture.md"

// TestComponents: every package has its component, a component imports only components below it, and
// the picture in docs/architecture.md shows these imports. -update draws it again.
func TestComponents(t *testing.T) {
	inProject(t)
	arrows := map[string]map[string]bool{}
	for _, p := range ours(t) {
		from, ok := componentOf(p.ImportPath)
		if !ok {
			t.Errorf("%s has no component: give it one in components_test.go", p.ImportPath)
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, path := range p.Imports {
			to, ok := componentOf(path)
			if !ok || to == from {
				continue
			}
			arrows[from][to] = true
			if slices.Index(components, to) < slices.Index(components, from) {
				t.Errorf("%s imports %s, which is above it", p.ImportPath, path)
			}
			for _, barred := range never[from] {
				if to == barred || strings.HasPrefix(to, barred+"/") {
					t.Errorf("%s imports %s: %s must not import %s", p.ImportPath, path, from, barred)
				}
			}
		}
	}
	page := value(os.ReadFile(architecturePage))(t)
	for _, component := range components {
		if arrows[component] == nil {
			t.Errorf("the component %s is empty", component)
		}
		if !strings.Contains(string(page), "\n| `"+component+"` |") {
			t.Errorf("%s: the table of the components has no row for %s", architecturePage, component)
		}
	}
	_, row, _ := strings.Cut(string(page), "Below `internal/`: ")
	row, _, _ = strings.Cut(row, "\n")
	var named []string
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row, -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	var folders []string
	for _, f := range value(os.ReadDir("cmd/mrtq/internal"))(t) {
		folders = append(folders, f.Name())
	}
	if !slices.Equal(named, folders) {
		t.Errorf("%s names %q below cmd/mrtq/internal, where %q are", architecturePage, named, folders)
	}
	goldenfile.Section(t, architecturePage, "<!-- generated: components -->", "<!-- end of components -->", picture(arrows), *update)
}

// picture draws the components that a program or a reader meets, and the imports between them, also
// through internal ones. It leaves out an arrow if there is also a path through other components.
func picture(arrows map[string]map[string]bool) string {
	drawn := slices.DeleteFunc(slices.Clone(components), func(c string) bool { return strings.Contains("/"+c, "/internal/") })
	var b strings.Builder
	b.WriteString("\n```mermaid\nflowchart TD\n")
	id := strings.NewReplacer("/", "_").Replace // a slash ends a mermaid id
	for _, component := range drawn {
		fmt.Fprintf(&b, "    %s[%s]\n", id(component), component)
	}
	for _, from := range drawn {
		for _, to := range drawn {
			detour := slices.ContainsFunc(drawn, func(over string) bool {
				return over != from && over != to && reaches(arrows, from, over) && reaches(arrows, over, to)
			})
			if from != to && reaches(arrows, from, to) && !detour {
				fmt.Fprintf(&b, "    %s --> %s\n", id(from), id(to))
			}
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

// reaches reports whether arrows lead from one component to another. Arrows only go
// down, so there are no cycles.
func reaches(arrows map[string]map[string]bool, from, to string) bool {
	for next := range arrows[from] {
		if next == to || slices.Index(components, next) < slices.Index(components, to) && slices.Index(components, next) > slices.Index(components, from) && reaches(arrows, next, to) {
			return true
		}
	}
	return false
}

func componentOf(path string) (component string, ok bool) {
	rest, ours := strings.CutPrefix(path, "mrtq/")
	for _, r := range components {
		if ours && (rest == r || strings.HasPrefix(rest, r+"/")) && len(r) > len(component) {
			component = r
		}
	}
	return component, component != ""
}

func ours(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		must(t, dec.Decode(&p))
		if p.ImportPath != "mrtq" {
			packages = append(packages, p)
		}
	}
	if len(packages) < len(components) {
		t.Fatalf("go list knows only %d packages", len(packages))
	}
	return packages
}
