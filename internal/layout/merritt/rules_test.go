package merritt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
)

func named(t testing.TB, name, dialect string) *layout.Map {
	t.Helper()
	l, err := merritt.Named(name, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func findings(t testing.TB, l *layout.Map, f forest) []layout.Finding {
	t.Helper()
	r, err := l.Check(t.Context(), layout.InMemory(f.tree(t)), layout.Options{Now: time.UnixMilli(exampleTime).Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// sample is a map with a sound example, and with breaks that only this map has.
type sample struct {
	name, dialect string
	sound         func(t testing.TB, m *layout.Map) forest
	// breaks break the rules for which breakGenerically has no way.
	breaks map[string]func(f forest)
	// also are findings that are inevitable when a rule is broken, by rule; "*" for all.
	also map[string][]string
}

var requirementOnZnode = regexp.MustCompile(`^R\d\d[^.]*$`)

// TestEveryRule breaks a sound example of every map once for every rule. The check
// finds that rule and no other. What the services demand of a znode or of several is broken by
// TestEveryBrokenRequirementIsFoundAndStopsItsDaemon of harness/daemons.
func TestEveryRule(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name+s.dialect, func(t *testing.T) {
			l := named(t, s.name, s.dialect)
			sound := s.sound(t, l)
			for _, f := range findings(t, l, sound) {
				if !slices.Contains(s.also["*"], f.Rule) {
					t.Errorf("the sound example: %v", f)
				}
			}
			for _, rule := range l.Rules() {
				if slices.Contains(s.also["*"], rule.ID) || requirementOnZnode.MatchString(rule.ID) {
					continue // it is in the sound example, or harness/daemons breaks it
				}
				broken := sound.clone()
				if do := s.breaks[rule.ID]; do != nil {
					do(broken)
				} else if !breakGenerically(l, rule, broken) {
					t.Errorf("%s: the test does not know how to break this rule", rule.ID)
					continue
				}
				found := false
				for _, f := range findings(t, l, broken) {
					switch {
					case f.Rule == rule.ID:
						found = true
						if f.Document == "" || f.Expected == "" || f.Found == "" {
							t.Errorf("%s: %+v says too little", rule.ID, f)
						}
					case !slices.Contains(s.also["*"], f.Rule) && !slices.Contains(s.also[rule.ID], f.Rule):
						t.Errorf("%s: also found %v", rule.ID, f)
					}
				}
				if !found {
					t.Errorf("%s is not found", rule.ID)
				}
			}
			for id := range s.breaks {
				if l.Rule(id) == nil {
					t.Errorf("there is a break for %s, which is no rule", id)
				}
			}
		})
	}
}

var bomb = compressed(strings.Repeat("0", 33<<20))

func breakGenerically(m *layout.Map, rule *layout.Rule, f forest) bool {
	slash := strings.LastIndexByte(rule.ID, '/')
	if slash < 0 {
		return false
	}
	id, kind := rule.ID[:slash], rule.ID[slash+1:]
	i := slices.IndexFunc(m.Nodes, func(n *layout.Node) bool { return n.ID == id })
	if i < 0 {
		return false
	}
	n := m.Nodes[i]
	path := samplePath(m, n)
	composite := n.Codec != nil && n.Codec.Composite
	stat := func(do func(s *znode.Stat)) {
		x := f[path]
		do(&x.Stat)
		f[path] = x
	}
	content := func(data string) {
		switch {
		case composite:
			f.put(path+"/0000000000", data)
		default:
			f.change(path, data)
		}
	}
	encoded := func(data string) string {
		if composite {
			return compressed(data)
		}
		return data
	}
	switch kind {
	case layout.UnknownPath:
		f.put(path+"/unknown", "")
	case layout.Undocumented:
		f.put(path, "")
	case layout.Missing:
		f.remove(path)
	case layout.Unreadable:
		f.remove(path)
		f[path] = znode.Node{Path: path, Unreadable: "no permission"}
	case layout.TooOld:
		stat(func(s *znode.Stat) { s.Ctime -= (48 * time.Hour).Milliseconds() })
	case "not-persistent":
		stat(func(s *znode.Stat) { s.EphemeralOwner = 9 })
	case "not-ephemeral":
		if n.Kind == layout.Ephemeral {
			stat(func(s *znode.Stat) { s.EphemeralOwner = 0 })
		} else {
			f.put(path+"/"+m.Types[slices.IndexFunc(m.Types, func(t *layout.Type) bool { return t.Name == "contender" })].Example, "")
		}
	case "bad-name", "not-sequence", "bad-state":
		f.put(znode.Parent(path)+"/!", "")
	case layout.BadContender:
		f.put(path+"/me", "")
	case layout.BadShape:
		content(encoded("5"))
	case layout.NotJSON:
		content(encoded("{"))
	case layout.NotEmpty:
		f.change(path, "x")
	case layout.CorruptBlob:
		content(compressed("something long enough")[:12])
	case layout.BlobTooLarge:
		content(bomb)
	case layout.MissingShard:
		f[path+"/0000000001"] = f[path+"/0000000000"]
		f.remove(path + "/0000000000")
		x := f[path+"/0000000001"]
		x.Path = path + "/0000000001"
		f[x.Path] = x
	case layout.EmptyBlob:
		f.remove(path + "/0000000000")
	case layout.ShortShard:
		data := string(f[path+"/0000000000"].Data)
		f.put(path+"/0000000000", data[:5])
		f.put(path+"/0000000001", data[5:])
	case layout.ReadLock:
		f.contend(path, strings.Repeat("1", 32)+"__rlock__0000000000")
	case layout.ShardTooLarge:
		content(stored(inflated(f[path+"/0000000000"].Data) + strings.Repeat(" ", 1_000_001)))
	case layout.BadShard:
		f.put(path+"/0", "")
	case n.Most.Rule:
		for i := range n.Most.Children + 1 {
			f.put(fmt.Sprintf("%s/%032x", path, i+16), compressed(fmt.Sprintf(`{"uuid":"%032x","builds":{},"retry_builds":{},"job_graph":null,"nodeset_info":{},"files":null,"merge_repo_state":null,"extra_repo_state":null}`, i+16)))
		}
	default:
		return false
	}
	return true
}
