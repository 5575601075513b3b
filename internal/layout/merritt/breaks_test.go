package merritt_test

import (
	"bufio"
	"flag"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// migrated returns a tree that a migration created, in a dialect.
func migrated(t testing.TB, dialect string) forest {
	t.Helper()
	file, err := os.Open("../../../migrate/testdata/tree-" + dialect + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := forest{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		path, quoted, found := strings.Cut(lines.Text(), " = ")
		data, err := strconv.Unquote(quoted)
		if !found || err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		f.put(path, data)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return f
}

// nodeBreaks are the ways in which any znode can be broken.
var nodeBreaks = map[string]func(f forest, path string){
	"deleted":      func(f forest, path string) { f.remove(path) },
	"garbage":      func(f forest, path string) { f.change(path, "\x00{no sense") },
	"emptied":      func(f forest, path string) { f.change(path, "") },
	"ephemeral":    func(f forest, path string) { x := f[path]; x.Stat.EphemeralOwner = 9; f[path] = x },
	"with a child": func(f forest, path string) { f.put(path+"/!", "") },
	"renamed": func(f forest, path string) {
		for at, n := range f.clone() {
			if znode.Within(at, path) {
				delete(f, at)
				n.Path = path + "!" + at[len(path):]
				f[n.Path] = n
			}
		}
	},
	"unreadable": func(f forest, path string) {
		f.remove(path)
		f[path] = znode.Node{Path: path, Unreadable: "no permission"}
	},
}

// allowed says why a change to a znode does not break the layout. It returns "" if the
// change does.
func allowed(n *layout.Node, path, what, dialect string, sound forest) string {
	is := func(ids ...string) bool { return slices.Contains(ids, n.ID) }
	switch what {
	case "garbage", "emptied":
		switch {
		case n.Codec == nil || n.Codec.Name == "free":
			return "no reader looks at its data"
		case what == "emptied" && len(sound[path].Data) == 0:
			return "it was empty before"
		case what == "emptied" && dialect == "mrt-zk" && is("job-metadata", "job-inventory", "job-identifiers", "job-store", "job-configuration", "batch-submission"):
			return "the client library writes an empty object as no data"
		}
	case "with a child":
		if is("collection-holds", "storage-locks", "inventory-locks", "localid-locks") {
			return "a lock or a hold can have any name"
		}
	case "renamed":
		if is("access", "locks") {
			return "it may be missing, and the layout says nothing about the znodes beside it"
		}
	case "deleted":
		switch {
		case is("job-metadata", "job-inventory", "job-identifiers", "batch-report"), is("job-space") && dialect == "design":
			return "a job or batch need not have it"
		case is("access", "access-queue", "request", "locks", "queue-holds", "queue-hold", "collection-holds", "storage-locks", "inventory-locks", "localid-locks"):
			return "nothing refers to it"
		case is("batch-folder", "job-state") && !hasBelow(sound, path):
			return "a folder is created when it is needed"
		case is("queue-entry", "job-state") && strings.Contains(path, "/completed") && dialect == "design":
			return "a completed job may have lost its entry"
		}
	}
	return ""
}

func hasBelow(f forest, path string) bool {
	for other := range f {
		if strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}

var torture = flag.Bool("torture", false, "break every znode of a tree, not only one for each node of the map")

// TestEveryBreak breaks a znode for each node of the map, in a migrated tree, in every way. Unless
// the change is allowed, the check must find something new.
func TestEveryBreak(t *testing.T) {
	for _, dialect := range []string{"design", "mrt-zk"} {
		t.Run(dialect, func(t *testing.T) {
			l := named(t, "merritt", dialect)
			sound := migrated(t, dialect)
			before := findings(t, l, sound)
			for _, f := range before {
				// No deployed service could work on some of the corpus's records.
				if f.Severity == layout.Error && !strings.HasPrefix(f.Rule, "R") {
					t.Errorf("the migrated tree: %v", f)
				}
			}
			ids := nodesOf(t, l, sound)
			tried, found, broke := 0, 0, map[string]bool{}
			for _, path := range slices.Sorted(maps.Keys(sound)) {
				n := ids[path]
				if n == nil || broke[n.ID] && !*torture {
					continue // the layout says nothing about it, or one was enough
				}
				broke[n.ID] = true
				for what, do := range nodeBreaks {
					broken := sound.clone()
					do(broken, path)
					tried++
					if isNew(findings(t, l, broken), before) {
						found++
					} else if allowed(n, path, what, dialect, sound) == "" {
						t.Errorf("%s (%s) %s: nothing is found", path, n.ID, what)
					}
				}
			}
			t.Logf("%d breaks, %d found, the rest allowed", tried, found)
			if found < tried/2 {
				t.Errorf("only %d of %d breaks were found", found, tried)
			}
		})
	}
}

func isNew(after, before []layout.Finding) bool {
	for _, f := range after {
		if f.Severity != layout.Info && !slices.ContainsFunc(before, func(b layout.Finding) bool { return b.Path == f.Path && b.Rule == f.Rule && b.Found == f.Found }) {
			return true
		}
	}
	return false
}

// nodesOf returns the pattern of each znode of a tree.
func nodesOf(t *testing.T, l *layout.Map, f forest) map[string]*layout.Node {
	t.Helper()
	seen := map[string]*layout.Node{}
	note := layout.GoRules{Visit: func(v layout.Visit) { seen[v.Znode.Path] = v.Node }}
	if err := l.AddGoRules(func(func(layout.Finding, string)) layout.GoRules { return note }); err != nil {
		t.Fatal(err)
	}
	findings(t, l, f)
	return seen
}
