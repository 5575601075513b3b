package layout_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

func zuul(t testing.TB) *layout.Map {
	t.Helper()
	m, err := layout.Zuul()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func readDump(t testing.TB, name string) *znode.Tree {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := znode.ReadDump(z)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func check(t testing.TB, m *layout.Map, tree *znode.Tree) []layout.Finding {
	t.Helper()
	r, err := m.Check(t.Context(), layout.InMemory(tree), layout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// A tree that Zuul's own code wrote matches Zuul's document. What the document
// lacks is reported as information, each kind once.
func TestZuulTreeIsSound(t *testing.T) {
	text, err := os.ReadFile("testdata/zuul-tree.coverage.json")
	if err != nil {
		t.Fatal(err)
	}
	var coverage struct{ Undocumented []string }
	if err := json.Unmarshal(text, &coverage); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(coverage.Undocumented, func(path string) bool { return !znode.Within(path, "/zuul") })
	var got []string
	for _, f := range check(t, zuul(t), readDump(t, "zuul-tree.ndjson.gz")) {
		if f.Severity != layout.Info {
			t.Errorf("%v", f)
		}
		got = append(got, f.Path)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("undocumented:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Znodes that Zuul's code writes since the version that the map describes are information. Neither
// they nor what is below them is a defect.
func TestNewerZuul(t *testing.T) {
	const quota, projects = "/zuul/endpoint/aws-us-west-2", "/zuul/cache/connection/gerrit/project"
	tree := znode.NewTree()
	for path, data := range map[string]string{
		"/zuul": "", "/zuul/ltime": "", "/zuul/endpoint": "", quota: "", quota + "/quota": "", quota + "/quota/resource": "",
		quota + "/quota/limits": `{"quota": {"cores": 10}}`, quota + "/quota/unmanaged-usage": `{"quota": {}}`, quota + "/quota/resource/t3.medium": `{"quota": {"cores": 2}}`,
		"/zuul/cache": "", "/zuul/cache/connection": "", "/zuul/cache/connection/gerrit": "",
		projects: "", projects + "/data": "", projects + "/data/org%2Fproject": "x", projects + "/lock": "", projects + "/lock/org%2Fproject": "",
		projects + "/lock/org%2Fproject/0123456789abcdef0123456789abcdef__lock__0000000000": "",
	} {
		if err := tree.Put(znode.Node{Path: path, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range check(t, zuul(t), tree) {
		got = append(got, string(f.Severity)+" "+f.Path+" "+f.Rule)
	}
	slices.Sort(got)
	if want := []string{"info " + projects + " projects/undocumented", "info /zuul/endpoint endpoints/undocumented"}; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Check finds each defect at its znode, and finds nothing else.
func TestZuulTreeIsBroken(t *testing.T) {
	text, err := os.ReadFile("testdata/zuul-tree-broken.expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var defects []struct{ Path, Kind string }
	if err := json.Unmarshal(text, &defects); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, d := range defects {
		want = append(want, d.Path+" "+d.Kind)
	}
	lines := documentLines(t)
	for _, f := range check(t, zuul(t), readDump(t, "zuul-tree-broken.ndjson.gz")) {
		if f.Severity == layout.Info {
			continue
		}
		got = append(got, f.Path+" "+f.Rule[strings.LastIndex(f.Rule, "/")+1:])
		_, number, found := strings.Cut(f.Document, "line ")
		if n, err := strconv.Atoi(number); !found || err != nil || n > len(lines) || lines[n-1] == "" {
			t.Errorf("%v: %q names no line of the document", f, f.Document)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func documentLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/zookeeper-map.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}
