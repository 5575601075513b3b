package mrtq_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the picture of the rooms again")

// rooms are the parts of the project, each a folder, from the top down.
// Production code may import only from rooms below its own. A package belongs to
// the room with the longest name that its path begins with.
var rooms = []string{
	"cmd/mrtq",
	"harness/bench",
	"harness/accept",
	"harness/daemons",
	"harness/docker",
	"harness",
	"harness/minizk",
	"features",
	"migrate/live",
	"migrate/layouts",
	"migrate",
	"newqueue/services",
	"newqueue/lint",
	"newqueue/layoutmap",
	"newqueue",
	"newqueue/states",
	"internal/legacyqueue",
	"legacy",
	"internal/layout",
	"internal/offline",
	"internal/side",
	"internal/sides",
	"internal/election",
	"internal/zkserver",
	"internal/zkdata",
	"internal/ztree",
	"internal/zkconn",
	"internal/jute",
	"internal/znode",
	"internal/openfile",
	"internal/statedraw",
	"internal/printable",
	"internal/plainjson",
	"internal/goldenfile",
}

// largest is the share of all lines that one room may have, tests included.
const largest = 0.40

const architecturePage = "docs/architecture.md"

// TestRooms: every package has its room, a room imports only rooms below it, and
// the picture in docs/architecture.md shows these imports. -update draws it again.
func TestRooms(t *testing.T) {
	arrows := map[string]map[string]bool{}
	for _, p := range ours(t) {
		from, ok := roomOf(p.ImportPath)
		if !ok {
			t.Errorf("%s has no room: give it one in rooms_test.go", p.ImportPath)
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, path := range p.Imports {
			to, ok := roomOf(path)
			if !ok || to == from {
				continue
			}
			arrows[from][to] = true
			if slices.Index(rooms, to) < slices.Index(rooms, from) {
				t.Errorf("%s imports %s, which is above it", p.ImportPath, path)
			}
		}
	}
	page, err := os.ReadFile(architecturePage)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		if arrows[room] == nil {
			t.Errorf("the room %s is empty", room)
		}
		if !strings.Contains(string(page), "\n| `"+room+"` |") {
			t.Errorf("%s: the table of the rooms has no row for %s", architecturePage, room)
		}
	}
	const start, end = "<!-- generated: rooms -->\n", "<!-- end of rooms -->\n"
	head, rest, ok := strings.Cut(string(page), start)
	old, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s: want the lines %q and %q", architecturePage, start, end)
	}
	drawn := picture(arrows)
	if *update {
		if err := os.WriteFile(architecturePage, []byte(head+start+drawn+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != drawn {
		t.Errorf("%s does not show today's rooms: if the change is right, run go test . -run TestRooms -update", architecturePage)
	}
}

// picture draws the rooms and the imports between them. It leaves out an arrow if
// there is also a path through other rooms.
func picture(arrows map[string]map[string]bool) string {
	var b strings.Builder
	b.WriteString("\n```mermaid\nflowchart TD\n")
	id := strings.NewReplacer("/", "_").Replace // a slash ends a mermaid id
	for _, room := range rooms {
		fmt.Fprintf(&b, "    %s[%s]\n", id(room), room)
	}
	for _, from := range rooms {
		for _, to := range rooms {
			if !arrows[from][to] {
				continue
			}
			detour := false
			for over := range maps.Keys(arrows[from]) {
				detour = detour || over != to && reaches(arrows, over, to)
			}
			if !detour {
				fmt.Fprintf(&b, "    %s --> %s\n", id(from), id(to))
			}
		}
	}
	b.WriteString("```\n\n")
	return b.String()
}

// reaches reports whether arrows lead from one room to another. Arrows only go
// down, so there are no cycles.
func reaches(arrows map[string]map[string]bool, from, to string) bool {
	for next := range arrows[from] {
		if next == to || slices.Index(rooms, next) < slices.Index(rooms, to) && slices.Index(rooms, next) > slices.Index(rooms, from) && reaches(arrows, next, to) {
			return true
		}
	}
	return false
}

// TestNoRoomIsTooLarge counts the lines of Go in each room.
func TestNoRoomIsTooLarge(t *testing.T) {
	lines, all := map[string]int{}, 0
	for _, p := range ours(t) {
		files, err := filepath.Glob(strings.TrimPrefix(p.ImportPath, "mrtq/") + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files (%v)", p.ImportPath, err)
		}
		room, _ := roomOf(p.ImportPath)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := strings.Count(string(text), "\n")
			lines[room] += n
			all += n
		}
	}
	for _, room := range rooms {
		share := float64(lines[room]) / float64(all)
		t.Logf("%5.1f %% %6d lines  %s", 100*share, lines[room], room)
		if share > largest {
			t.Errorf("%s has %.0f %% of all lines, more than %.0f %%", room, 100*share, 100*largest)
		}
	}
}

// roomOf is the room of one of our packages.
func roomOf(path string) (room string, ok bool) {
	rest, ours := strings.CutPrefix(path, "mrtq/")
	for _, r := range rooms {
		if ours && (rest == r || strings.HasPrefix(rest, r+"/")) && len(r) > len(room) {
			room = r
		}
	}
	return room, room != ""
}

// ours are our packages, without the one of these tests.
func ours(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != "mrtq" {
			packages = append(packages, p)
		}
	}
	if len(packages) < len(rooms) {
		t.Fatalf("go list knows only %d packages", len(packages))
	}
	return packages
}
