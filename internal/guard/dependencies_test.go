package guard_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// brings has, for each package, the modules that its users get with it, and the
// reason for each module. It leaves out modules that only another module imports.
var brings = map[string]map[string]string{
	"mrtq/legacy": {
		"github.com/beevik/etree":          "XML payloads",
		"github.com/magiconair/properties": "properties payloads",
		"golang.org/x/text":                "the encodings of XML payloads",
	},
	"mrtq/newqueue": {},
	"mrtq/newqueue/client": {
		"github.com/go-zookeeper/zk": "its users open the sessions",
	},
	"mrtq/newqueue/states": {},
	"mrtq/migrate": {
		"github.com/santhosh-tekuri/jsonschema/v6": "the map of the new layout: what a map, and the JSON in znodes, may look like",
		"go.yaml.in/yaml/v3":                       "the map of the new layout: maps of layouts",
		"golang.org/x/text":                        "the map of the new layout: the messages of jsonschema; the encodings of XML payloads",
		"github.com/beevik/etree":                  "XML payloads",
		"github.com/magiconair/properties":         "properties payloads",
		"golang.org/x/sync":                        "how many reads are under way",
		"golang.org/x/time":                        "how many operations a second are sent",
		"github.com/google/renameio/v2":            "a file is replaced as a whole",
	},
	"mrtq/harness/minizk": {},
	"mrtq/harness": {
		"golang.org/x/sync":          "how many reads are under way",
		"golang.org/x/time":          "how many operations a second are sent",
		"github.com/go-zookeeper/zk": "the ZooKeeper client",
	},
	"mrtq/harness/docker": {
		"golang.org/x/sync":                           "how many reads are under way",
		"golang.org/x/time":                           "how many operations a second are sent",
		"github.com/go-zookeeper/zk":                  "the ZooKeeper client",
		"github.com/testcontainers/testcontainers-go": "servers in Docker",
		"github.com/moby/moby/api":                    "servers in Docker: addresses of ports",
		"github.com/moby/moby/client":                 "servers in Docker: which images are there",
	},
}

// heavy has packages that a library for a queue should not bring, whichever module imports them.
var heavy = []string{"os/exec", "github.com/spf13/cobra", "github.com/docker/docker", "github.com/moby/moby/client", "github.com/testcontainers/testcontainers-go"}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
	Module     *struct{ Path string }
}

func (p listed) module() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// TestImportedDependencies: each package brings the modules that have a reason, and nothing heavy.
func TestImportedDependencies(t *testing.T) {
	inProject(t)
	for root, reasons := range brings {
		packages := dependencies(t, root)
		got := map[string]bool{}
		for _, p := range packages {
			for _, path := range p.Imports {
				processes := root == "mrtq/harness" && path == "os/exec" // servers of the jvm backend are processes
				if root != "mrtq/harness/docker" && !p.Standard && slices.Contains(heavy, path) && !processes {
					t.Errorf("%s brings %s, which %s imports", root, path, p.ImportPath)
				}
			}
			if p.module() != "mrtq" {
				continue
			}
			for _, path := range p.Imports {
				if m := packages[path].module(); m != "" && m != "mrtq" {
					got[m] = true
					if reasons[m] == "" {
						t.Errorf("%s brings %s, which %s imports: give a reason in dependencies_test.go", root, m, p.ImportPath)
					}
				}
			}
		}
		for m := range reasons {
			if !got[m] {
				t.Errorf("%s does not bring %s any more: remove the reason", root, m)
			}
		}
	}
}

func dependencies(t *testing.T, root string) map[string]listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard,Module", root).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		must(t, dec.Decode(&p))
		packages[p.ImportPath] = p
	}
	if len(packages) < 2 {
		t.Fatalf("go list knows only %d packages of %s", len(packages), root)
	}
	return packages
}
