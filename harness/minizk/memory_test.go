package minizk_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
)

// mostPerZnode is how many bytes of memory a znode may take besides its name and its data.
const mostPerZnode = 250

// TestMemoryOfAZnode measures what a znode takes, in a queue as the new layout has it, and as one of
// many siblings, as the legacy one has it. With -torture there are ten times as many.
func TestMemoryOfAZnode(t *testing.T) {
	jobs := 2_000
	if *torture {
		jobs *= 10
	}
	stat := znode.Stat{Czxid: 1, Mzxid: 1, Pzxid: 1, Ctime: 1, Mtime: 1}
	data := bytes.Repeat([]byte("x"), 1000)
	for name, tc := range map[string]func(add func(path string, data []byte)){
		"jobs with nine children each": func(add func(string, []byte)) {
			for i := range jobs {
				job := fmt.Sprintf("/jobs/jid%010d", i)
				add(job, nil)
				for _, part := range []string{"bid", "configuration", "inventory", "metadata", "priority", "space_needed", "status", "token", "zero"} {
					add(job+"/"+part, data[:32])
				}
			}
		},
		"siblings of 100 to 1000 bytes": func(add func(string, []byte)) {
			for i := range jobs {
				add(fmt.Sprintf("/ingest/mrtQ-05%012d", i), data[:100+i%900])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t, minizk.Options{LogSize: 1})
			before := inUse()
			znodes, payload := 0, 0
			r, w := io.Pipe()
			go func() {
				d := znode.NewDumpWriter(w)
				tc(func(path string, data []byte) {
					znodes, payload = znodes+1, payload+len(znode.Name(path))+len(data)
					_ = d.Write(&znode.Node{Path: path, Data: data, Stat: stat}) // Close returns the error
				})
				w.CloseWithError(d.Close())
			}()
			if err := s.LoadDump(r); err != nil {
				t.Fatal(err)
			}
			each := (inUse() - before - int64(payload)) / int64(znodes)
			t.Logf("%d znodes: %d bytes each besides name and data", znodes, each)
			if each > mostPerZnode {
				t.Errorf("a znode takes %d bytes besides its name and its data, want at most %d", each, mostPerZnode)
			}
		})
	}
}

// inUse is how many bytes of the heap are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
