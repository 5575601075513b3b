package side_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

func writeFile(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDump(t *testing.T, path string, packed bool) *side.Dump {
	t.Helper()
	d, err := side.OpenDump(t.Context(), path, packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestDump: OpenDump reads a dump as [znode.ReadDump] does, in every spelling
// and order of its lines.
func TestDump(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	tree := drawTree(t, rnd, 400)
	canonical := dumpOf(t, tree)
	lines := bytes.SplitAfter(bytes.TrimSuffix(canonical, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	join := func(change func(i int, line []byte) []byte) []byte {
		var b []byte
		for i, line := range lines {
			b = append(b, change(i, line)...)
		}
		return b
	}
	shuffled := slices.Clone(lines)
	rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, text := range map[string][]byte{
		"canonical":       canonical,
		"no last newline": bytes.TrimSuffix(canonical, []byte("\n")),
		"shuffled":        bytes.Join(shuffled, nil),
		"parents missing": join(func(i int, line []byte) []byte {
			if i%3 == 0 {
				return nil
			}
			return line
		}),
		"other spelling": join(func(i int, line []byte) []byte {
			switch i % 3 {
			case 0:
				return append([]byte("\n  "), bytes.Replace(line, []byte(`{"path":"/`), []byte(`{ "path" : "\u002f`), 1)...)
			case 1:
				return append(bytes.TrimSuffix(line, []byte("\n")), "\r\n"...)
			}
			return line
		}),
		"with a root":    append([]byte(`{"path":"/","data":"aGk=","stat":{"czxid":0,"cversion":9},"acl":[{"perms":1,"scheme":"world","id":"anyone"}]}`+"\n"), canonical...),
		"one unreadable": append(slices.Clone(canonical), `{"path":"/zz","data":null,"unreadable":"no permission"}`...),
		"empty":          nil,
		"only blanks":    []byte("\n \n"),
	} {
		t.Run(name, func(t *testing.T) {
			want, err := znode.ReadDump(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			d := openDump(t, writeFile(t, "dump.ndjson", text), false)
			same(t, d, want, everything)
			same(t, openDump(t, writeFile(t, "dump.gz", zipped(t, text)), true), want, everything)
			if got, want := len(d.Unreadable()), len(want.Unreadable()); got != want {
				t.Errorf("%d znodes are marked unreadable, want %d", got, want)
			}
			ends(t, d)
		})
	}
}

func TestDumpOutOfAPipe(t *testing.T) {
	tree := drawTree(t, rand.New(rand.NewPCG(8, 8)), 100)
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, dumpOf(t, tree), 0) }()
	same(t, openDump(t, path, false), tree, everything)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestBadDump: OpenDump refuses what [znode.ReadDump] refuses, with the same
// words.
func TestBadDump(t *testing.T) {
	good := `{"path":"/a","data":null}` + "\n" + `{"path":"/b","data":null}` + "\n"
	for name, text := range map[string]string{
		"no JSON":           good + "x\n",
		"cut short":         good + `{"path":"/c","da`,
		"no data":           good + `{"path":"/c"}`,
		"bad base64":        good + `{"path":"/c","data":"aGl="}`,
		"bad path":          good + `{"path":"c","data":null}`,
		"twice":             good + `{"path":"/b","data":null}`,
		"twice, apart":      good + `{"path":"/a","data":null}`,
		"twice, unordered":  `{"path":"/b","data":null}` + "\n" + good,
		"bad and unordered": `{"path":"/c","data":null}` + "\n" + good + "x",
	} {
		t.Run(name, func(t *testing.T) {
			_, want := znode.ReadDump(bytes.NewReader([]byte(text)))
			_, err := side.OpenDump(t.Context(), writeFile(t, "dump.ndjson", []byte(text)), false, nil)
			if de := (*znode.DumpError)(nil); !errors.As(err, &de) || err.Error() != want.Error() {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	cut := zipped(t, []byte(good))
	if _, err := side.OpenDump(t.Context(), writeFile(t, "dump.gz", cut[:len(cut)-6]), true, nil); err == nil {
		t.Error("a truncated packed dump was read")
	}
}

func TestDumpThatChanges(t *testing.T) {
	tree := drawTree(t, rand.New(rand.NewPCG(9, 9)), 100)
	path := writeFile(t, "dump.ndjson", dumpOf(t, tree))
	d := openDump(t, path, false)
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 4_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Get(t.Context(), "/a/b"); err == nil {
		t.Error("a file that was overwritten meanwhile was read")
	}
}

// TestDumpNeedsLittleMemory: a dump of 40 MB is read with a few MB of memory.
func TestDumpNeedsLittleMemory(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "dump.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := znode.NewDumpWriter(f)
	data := bytes.Repeat([]byte("x"), 3000)
	const records = 10_000
	for i := range records {
		if err := w.Write(&znode.Node{Path: fmt.Sprintf("/n%05d", i), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	before := heap()
	d := openDump(t, f.Name(), false)
	names, err := d.Children(t.Context(), "/")
	if err != nil || len(names) != records {
		t.Fatalf("%d names, %v", len(names), err)
	}
	roots := func(yield func(string) bool) {
		for _, name := range names {
			if !yield("/" + name) {
				return
			}
		}
	}
	seen, most := 0, before
	for sub, err := range d.Subtrees(t.Context(), roots) {
		if err != nil || sub.Missing() {
			t.Fatal(sub.Root, err)
		}
		if seen++; seen%1000 == 0 {
			most = max(most, heap())
		}
	}
	if grown := int64(most) - int64(before); grown > 4<<20 {
		t.Errorf("reading took %d bytes", grown)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
