package merritt_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

type forest map[string]znode.Node

func (f forest) put(path, data string) {
	f[path] = znode.Node{Path: path, Data: []byte(data), Stat: znode.Stat{Czxid: 1, Ctime: exampleTime, Mtime: exampleTime}}
}

func (f forest) contend(lock, name string) {
	f.put(lock+"/"+name, "")
	n := f[lock+"/"+name]
	n.Stat.EphemeralOwner = 7
	f[n.Path] = n
}

func (f forest) remove(root string) {
	for path := range f {
		if znode.Within(path, root) {
			delete(f, path)
		}
	}
}

func (f forest) move(from, to string) {
	for at, n := range f.clone() {
		if znode.Within(at, from) {
			delete(f, at)
			n.Path = to + at[len(from):]
			f[n.Path] = n
		}
	}
}

func (f forest) change(path, data string) {
	n, ok := f[path]
	if !ok {
		panic("no " + path)
	}
	n.Data = []byte(data)
	f[path] = n
}

func (f forest) tree(t testing.TB) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	for _, path := range slices.Sorted(maps.Keys(f)) {
		if err := tree.Put(f[path]); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

func (f forest) clone() forest { return maps.Clone(f) }

const exampleTime = 1_700_000_000_000

var parameter = regexp.MustCompile(`\{([a-z_]+)(?::([a-z0-9_-]+))?\}`)

func samplePath(m *layout.Map, n *layout.Node) string {
	return parameter.ReplaceAllStringFunc(n.Path, func(p string) string {
		match := parameter.FindStringSubmatch(p)
		name := match[2]
		if name == "" {
			name = match[1]
		}
		i := slices.IndexFunc(m.Types, func(t *layout.Type) bool { return t.Name == name })
		return m.Types[i].Example
	})
}

// example returns a sound tree that has a znode for every documented pattern of the
// map. data has the data of those that can't be empty, by the id of the pattern or
// the part of the id after the last dot.
func example(t testing.TB, m *layout.Map, data map[string]string) forest {
	t.Helper()
	f := forest{}
	for _, n := range m.Nodes {
		if n.Undocumented {
			continue
		}
		path := samplePath(m, n)
		for parent := znode.Parent(path); parent != "/" && f[parent].Path == ""; parent = znode.Parent(parent) {
			f.put(parent, "")
		}
		content, ok := data[n.ID]
		if !ok {
			content = data[n.ID[strings.LastIndexByte(n.ID, '.')+1:]]
		}
		codec := ""
		if n.Codec != nil {
			codec = n.Codec.Name
		}
		switch codec {
		case "sharded-json", "sharded-bytes":
			f.put(path, "")
			f.put(path+"/0000000000", compressed(content))
		case "zlib-json":
			f.put(path, compressed(content))
		default:
			f.put(path, content)
		}
		if n.Kind == layout.Ephemeral {
			x := f[path]
			x.Stat.EphemeralOwner = 7
			f[path] = x
		}
	}
	return f
}

func compressed(text string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// stored returns text in zlib's format without compressing it.
func stored(text string) string {
	var b bytes.Buffer
	z, _ := zlib.NewWriterLevel(&b, zlib.NoCompression)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func inflated(data []byte) string {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
}
