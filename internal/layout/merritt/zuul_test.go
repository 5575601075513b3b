package merritt_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// Znodes of the tree that Zuul's own code wrote.
const (
	gateSet = "/zuul/tenant/acme/pipeline/gate/item/3ab0d4da173e44d5ac950a88bbee6e7a/buildset/65b80cc493fc41a7866a1b3166b93c70"
	gateJob = gateSet + "/job/656b70aba2e24e9895dbf929935f7d25"
	bigFile = "/zuul/config/cache/git.example.org%2Facme%2Fwidgets/main/files/zuul.d%2Flarge.yaml"
	oldRepo = "/zuul/config/cache/git.example.org%2Facme%2Fold"
)

// lightTree is that tree without two large blobs, so that it is quickly checked.
func lightTree(t *testing.T) forest {
	f := zuulTree(t)
	f.remove(bigFile)
	f.remove("/zuul/executor/zones/eu-west/params/2f4230ebecc44160b9ac94a64eaee6a8")
	return f
}

// document are the lines of Zuul's document.
func document(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../testdata/zookeeper-map.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// The map has a pattern for every heading of Zuul's document, and each rule names a line of it.
func TestZuulMapIsComplete(t *testing.T) {
	parameters := regexp.MustCompile(`/[{<][^/]*`) // in every notation
	patterns := map[string]bool{}
	for _, n := range named(t, "zuul", "").Nodes {
		patterns[parameters.ReplaceAllString(n.Path, "/*")] = true
	}
	headings, lines := 0, document(t)
	for _, rule := range named(t, "zuul", "").Rules() {
		_, number, found := strings.Cut(rule.Document, "line ")
		if n, err := strconv.Atoi(number); rule.Severity != layout.Info && (!found || err != nil || n > len(lines) || lines[n-1] == "") {
			t.Errorf("%s: %q names no line of the document", rule.ID, rule.Document)
		}
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "zuul/") || strings.Contains(line, ".rst") {
			continue
		}
		headings++
		if !patterns[parameters.ReplaceAllString("/"+line, "/*")] {
			t.Errorf("line %d: %s is not a pattern of the map", i+1, line)
		}
	}
	if headings < 49 {
		t.Errorf("only %d headings were found", headings)
	}
}

// A tree that Zuul's own code wrote matches Zuul's document. What the document
// lacks is reported as information, each kind once.
func TestZuulTreeIsSound(t *testing.T) {
	text, err := os.ReadFile("../testdata/zuul-tree.coverage.json")
	if err != nil {
		t.Fatal(err)
	}
	var of struct{ Undocumented []string }
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(of.Undocumented, func(path string) bool { return !znode.Within(path, "/zuul") })
	var got []string
	for _, f := range findings(t, named(t, "zuul", ""), zuulTree(t)) {
		if f.Severity != layout.Info {
			t.Errorf("%v", f)
		}
		got = append(got, f.Path)
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestZuulDefects has defects that are less plain than those of TestEveryRule: references to znodes of the wrong
// kind, values deep inside, shards, and names that are escaped in another way.
func TestZuulDefects(t *testing.T) {
	m, sound, light := named(t, "zuul", ""), zuulTree(t), lightTree(t)
	before := findings(t, m, sound)
	for rule, ways := range changesOf("zuul-defects.txt") {
		for i, do := range ways {
			t.Run(rule, func(t *testing.T) {
				t.Parallel()
				broken := light.clone()
				do(broken)
				found := slices.DeleteFunc(findings(t, m, broken), func(f layout.Finding) bool { return slices.Contains(before, f) })
				if !slices.ContainsFunc(found, func(f layout.Finding) bool { return f.Rule == rule }) {
					t.Errorf("way %d: only %v", i, found)
				}
			})
		}
	}
	// A shard that is not full, of a blob that is compressed as a whole.
	first, second := sound[bigFile+"/0000000000"].Data, sound[bigFile+"/0000000001"].Data
	sound.put(bigFile+"/0000000001", string(first[len(first)-10:])+string(second))
	sound.put(bigFile+"/0000000000", string(first[:len(first)-10]))
	if !slices.ContainsFunc(findings(t, m, sound), func(f layout.Finding) bool { return f.Rule == "config-file/short-shard" }) {
		t.Error("a short shard is not found")
	}
}

// Variants that the document allows, and paths that only later versions write, are
// neither errors nor warnings.
func TestZuulVariants(t *testing.T) {
	const quota, projects = "/zuul/endpoint/aws-us-west-2", "/zuul/cache/connection/gerrit/project"
	m, sound := named(t, "zuul", ""), lightTree(t)
	move := func(from, to string) func(forest) { return func(f forest) { f.move(from, to) } }
	for name, c := range map[string]struct {
		put  map[string]string
		also func(f forest)
	}{
		"later paths": {put: map[string]string{"/zuul/locks/connection/database/migration/" + otherUUID + "__lock__0000000000": "", "/zuul/nodeset/requests/" + otherUUID: "{}", "/zuul/nodes/nodes/" + otherUUID: "{}",
			"/zuul/images/artifacts/x": "{}", "/zuul/image-uploads/uploads/x": "{}", "/zuul/validate/" + otherUUID + "/cache": "", "/zuul/provider": "", "/zuul/launcher/stats-election": "",
			"/zuul/tenant/acme/provider/x/config": "{}", "/zuul/events/tenant/acme/state": "{}", gateSet + "/config_errors": "", gateJob + "/artifact_data": "",
			quota + "/quota/resource": "", quota + "/quota/limits": `{"quota": {"cores": 10}}`, projects + "/data/org%2Fproject": "x", projects + "/lock/org%2Fproject/" + otherUUID + "__lock__0000000000": ""}},
		"an entry of 2021":          {also: move("/zuul/events/connection/gerrit/events/queue/q0000000000", "/zuul/events/connection/gerrit/events/queue/0000000000")},
		"a job of 2021":             {put: map[string]string{gateSet + "/job/build+all%2Fslow": `{"name":"build all/slow"}`}},
		"a new tenant":              {put: map[string]string{"/zuul/tenant/new/pipeline/check": `{"queues":[],"old_queues":[]}`, "/zuul/locks/tenant/new": "", "/zuul/events/tenant/new/trigger/queue": "", "/zuul/semaphores/new": ""}},
		"a semaphore of nobody":     {put: map[string]string{"/zuul/semaphores/acme/free": ""}},
		"quoted names":              {put: map[string]string{"/zuul/locks/pipeline/a+b%2Fc/%C3%A9t%C3%A9": "", "/zuul/config/lock/git.example.org%2F%7Eacme": ""}},
		"a tenant that is unquoted": {put: map[string]string{"/zuul/layout/50% more": `{"tenant_name":"50% more","uuid":"` + otherUUID + `"}`, "/zuul/events/tenant/50% more/management": ""}},
		"an empty file of 2021":     {also: func(f forest) { f.remove(oldRepo + "/master/files/zuul.yaml/0000000000") }},
		"a reset": {also: func(f forest) {
			for _, path := range []string{"/zuul/tenant", "/zuul/semaphores", "/zuul/executor", "/zuul/merger"} {
				f.remove(path)
			}
		}},
		"data being written": {put: map[string]string{"/zuul/merger/result-data/" + otherUUID: ""}},
		"a readers' lock": {also: func(f forest) {
			f.contend("/zuul/config/lock/git.example.org%2Facme%2Fgadgets", otherUUID+"__rlock__0000000007")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := sound.clone()
			for path, data := range c.put {
				f.put(path, data)
			}
			if c.also != nil {
				c.also(f)
			}
			for _, found := range findings(t, m, f) {
				if found.Severity != layout.Info {
					t.Errorf("%v", found)
				}
			}
		})
	}
}
