package merritt_test

import (
	"encoding/json"
	"os"
	"strings"

	"mrtq/internal/znode"
)

// changesOf reads a table of changes, the ways to break each rule. In its lines, names stand for what comes after them.
func changesOf(table string, names ...string) map[string][]func(f forest) {
	text, err := os.ReadFile("testdata/" + table)
	if err != nil {
		panic(err)
	}
	all, rule := map[string][]func(f forest){}, ""
	for line := range strings.SplitSeq(strings.NewReplacer(names...).Replace(string(text)), "\n") {
		word := append(strings.SplitN(line, " ", 4), "")
		if word[0] == "" || word[0] == "#" {
			continue
		}
		do := change(word[1], word[2], word[3])
		if word[0] != "+" {
			rule = word[0]
			all[rule] = append(all[rule], do)
			continue
		}
		last := len(all[rule]) - 1
		first := all[rule][last]
		all[rule][last] = func(f forest) { first(f); do(f) }
	}
	return all
}

func change(op, path, rest string) func(f forest) {
	return func(f forest) {
		switch op {
		case "set":
			key, value, _ := strings.Cut(rest, " ")
			setValue(f, path, key, value)
		case "write":
			data, isZlib := strings.CutPrefix(rest, "zlib ")
			if isZlib {
				data = compressed(data)
			}
			f.put(path, data)
		case "ephemeral":
			n := f[path]
			n.Stat.EphemeralOwner = 1
			f[path] = n
		case "lock":
			f.contend(znode.Parent(path), znode.Name(path))
		case "remove":
			f.remove(path)
		case "move":
			f.move(path, rest)
		case "copy":
			for at, n := range f.clone() {
				if znode.Within(at, path) && n.Stat.EphemeralOwner == 0 {
					n.Path = rest + at[len(path):]
					f[n.Path] = n
				}
			}
		default:
			panic("no change is called " + op)
		}
	}
}

func firstWays(all map[string][]func(f forest)) map[string]func(f forest) {
	first := map[string]func(f forest){}
	for rule, ways := range all {
		first[rule] = ways[0]
	}
	return first
}

func setKey(f forest, path, key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	setValue(f, path, key, string(text))
}

// setValue sets a key of a znode's JSON, or of that of its first shard, compressed or not. No value removes it.
func setValue(f forest, path, key, value string) {
	if f[path+"/0000000000"].Path != "" {
		path += "/0000000000"
	}
	data, pack := string(f[path].Data), func(s string) string { return s }
	if strings.HasPrefix(data, "x") {
		data, pack = inflated([]byte(data)), compressed
	}
	data = strings.ReplaceAll(data, "Infinity", "0")
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		panic(err)
	}
	if fields[key] = json.RawMessage(value); value == "" {
		delete(fields, key)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	f.change(path, pack(string(text)))
}
