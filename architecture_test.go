package mrtq_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport has, for each part, the other parts that its production code may
// import. Imports go one way: cmd → harness, migrate → newqueue → internal →
// legacy.
var mayImport = map[string][]string{
	"cmd":      {"harness", "migrate", "newqueue", "legacy", "features", "internal"},
	"harness":  {"newqueue", "legacy", "features", "internal"},
	"migrate":  {"newqueue", "legacy", "internal"},
	"newqueue": {"internal"},
	"legacy":   {},
	"features": {},
	"internal": {"legacy"}, // internal/legacyqueue makes legacy records
}

func TestImportsGoOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		from, ours := part(p.ImportPath)
		if !ours {
			continue
		}
		packages++
		allowed, known := mayImport[from]
		if !known {
			t.Errorf("%s: the part %q is in no rule", p.ImportPath, from)
		}
		for _, i := range p.Imports {
			if to, ours := part(i); ours && to != from && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, i, from, allowed)
			}
		}
	}
	if packages < len(mayImport) {
		t.Errorf("only %d packages were checked", packages)
	}
}

// part is the top-level folder of one of our packages.
func part(path string) (string, bool) {
	rest, ours := strings.CutPrefix(path, "mrtq/")
	name, _, _ := strings.Cut(rest, "/")
	return name, ours
}
