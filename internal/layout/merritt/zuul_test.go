package merritt_test

import (
	"encoding/json"
	"maps"
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
)

// lightTree is that tree without two large blobs, so that it is quickly checked.
func lightTree(t *testing.T) forest {
	f := zuulTree(t)
	f.remove(bigFile)
	f.remove("/zuul/executor/zones/eu-west/params/2f4230ebecc44160b9ac94a64eaee6a8")
	return f
}

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
		if f.Rule != "change/unreferenced" { // an update left old data to the cleanup
			got = append(got, f.Path)
		}
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// zuulKeys are the keys of each znode that every version of Zuul's code reads by subscript.
var zuulKeys = map[string]string{
	"pipeline":                "queues old_queues layout_uuid",
	"queue":                   "_jobs project_branches",
	"item":                    "changes event current_build_set dynamic_state item_ahead items_behind",
	"buildset":                "builds retry_builds job_graph nodeset_info files merge_repo_state extra_repo_state",
	"job":                     "dependencies semaphores required_projects provides requires tags",
	"change-entry":            "key_reference data_uuid",
	"change":                  "change_type change_data",
	"branch-cache":            "remainder",
	"config-branch":           "extra_dirs_searched extra_files_searched",
	"layout":                  "hostname last_reconfigured",
	"zone.request":            "zone worker_info job_uuid build_set_uuid tenant_name pipeline_name event_id result_path",
	"merger.request":          "job_type build_set_uuid event_id result_path",
	"tenant-management.entry": "result_path",
	"tenant-trigger.entry":    "driver_name",
}

// TestZuulKeys: without one of these keys, a znode that Zuul's own code wrote is not valid any more.
func TestZuulKeys(t *testing.T) {
	m, written := named(t, "zuul", ""), map[string][]layout.Visit{}
	m.AddGoRules(func(func(layout.Finding, string)) layout.GoRules {
		return layout.GoRules{Visit: func(v layout.Visit) { written[v.Node.ID] = append(written[v.Node.ID], v) }}
	})
	findings(t, m, zuulTree(t))
	for id, keys := range zuulKeys {
		for key := range strings.FieldsSeq(keys) {
			tried := 0
			for _, v := range written[id] {
				value, _ := v.Value.(map[string]any)
				if _, has := value[key]; !has || v.Node.Schema.Validate(value) != nil {
					continue
				}
				without := maps.Clone(value)
				delete(without, key)
				if tried++; v.Node.Schema.Validate(without) == nil {
					t.Errorf("%s is valid without %s", v.Znode.Path, key)
				}
			}
			if tried == 0 {
				t.Errorf("no %s has %s", id, key)
			}
		}
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
	m, sound := named(t, "zuul", ""), lightTree(t)
	for name, do := range firstWays(changesOf("zuul-variants.txt", "{other}", otherUUID, "{set}", gateSet, "{job}", gateJob)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := sound.clone()
			do(f)
			for _, found := range findings(t, m, f) {
				if found.Severity != layout.Info {
					t.Errorf("%v", found)
				}
			}
		})
	}
}
