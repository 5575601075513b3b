package merritt_test

import (
	"compress/gzip"
	"errors"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// zuulTree is the tree that Zuul's own code wrote.
func zuulTree(t testing.TB) forest {
	t.Helper()
	file, err := os.Open("../testdata/zuul-tree.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := znode.ReadDump(z)
	if err != nil {
		t.Fatal(err)
	}
	f := forest{}
	for n := range tree.All("/") {
		f[n.Path] = *n
	}
	return f
}

// branch is a znode with those above and directly below it: enough for one change, and
// quickly checked.
func (f forest) branch(path string) forest {
	b := forest{}
	for at, n := range f {
		if znode.Within(path, at) || znode.Parent(at) == path {
			b[at] = n
		}
	}
	return b
}

// nodeBreaks are the ways in which any znode can be broken.
var nodeBreaks = map[string]func(f forest, path string){
	"deleted":      func(f forest, path string) { f.remove(path) },
	"garbage":      func(f forest, path string) { f.change(path, "\x00{no sense") },
	"emptied":      func(f forest, path string) { f.change(path, "") },
	"ephemeral":    func(f forest, path string) { x := f[path]; x.Stat.EphemeralOwner = 9; f[path] = x },
	"with a child": func(f forest, path string) { f.put(path+"/!", "") },
	"renamed":      func(f forest, path string) { f.move(path, path+"!") },
	"unreadable": func(f forest, path string) {
		f.remove(path)
		f[path] = znode.Node{Path: path, Unreadable: "no permission"}
	},
}

// survives checks a tree with a map. Any finding is right that names its rule and says what is there. A panic is not.
func survives(t testing.TB, l *layout.Map, f forest, what string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s, %s: %v\n%s", l.Name, what, r, debug.Stack())
		}
	}()
	r, err := l.Check(t.Context(), layout.InMemory(f.tree(t)), layout.Options{})
	if err != nil && !errors.Is(err, layout.ErrNoMatch) {
		t.Fatalf("%s, %s: %v", l.Name, what, err)
	}
	for i := 0; err == nil && i < len(r.Findings); i++ {
		if f := r.Findings[i]; l.Rule(f.Rule) == nil || f.Expected == "" || f.Found == "" {
			t.Errorf("%s, %s: %+v", l.Name, what, f)
		}
	}
}

// FuzzTrees: no tree can panic the checker. The seeds break every znode of Zuul's tree and of the
// samples in every way (nodeBreaks), and check the branch with every map.
func FuzzTrees(f *testing.F) {
	trees := map[string]forest{"zuul": zuulTree(f)}
	var all []*layout.Map
	for _, s := range samples {
		l := named(f, s.name, s.dialect)
		all = append(all, l)
		trees["example of "+s.name+" "+s.dialect] = s.sound(f, l)
	}
	ways := slices.Sorted(maps.Keys(nodeBreaks))
	names := slices.Sorted(maps.Keys(trees))
	checks := 0
	for _, name := range names {
		for _, path := range slices.Sorted(maps.Keys(trees[name])) {
			if path == "/" {
				continue
			}
			branch := trees[name].branch(path)
			for _, way := range ways {
				broken := branch.clone()
				nodeBreaks[way](broken, path)
				for _, l := range all {
					survives(f, l, broken, name+": "+path+" "+way)
					checks++
				}
			}
		}
		f.Logf("%s: each of %d znodes broken in %d ways", name, len(trees[name]), len(ways))
	}
	f.Logf("%d checks with %d maps", checks, len(all))
	f.Add(uint8(0), uint16(7), "lock", []byte("\x00\x01"), int64(9))
	f.Fuzz(func(t *testing.T, tree uint8, node uint16, child string, data []byte, owner int64) {
		broken := trees[names[int(tree)%len(names)]].clone()
		paths := slices.Sorted(maps.Keys(broken))
		path := paths[int(node)%len(paths)]
		n := broken[path]
		n.Data, n.Stat.EphemeralOwner = data, owner
		broken[path] = n
		if below := znode.Join(path, child); znode.ValidatePath(below) == nil {
			broken.put(below, string(data))
		}
		for _, l := range all {
			survives(t, l, broken, path)
		}
	})
}
