package sides_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/sides"
	"mrtq/internal/znode"
)

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestForecast: a dump is refused with half the memory that it takes, if it is not packed, and never with twice as
// much.
func TestForecast(t *testing.T) {
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: 10_000, Seed: 1})
	must(t, err)
	var text strings.Builder
	must(t, znode.WriteDump(&text, tree))
	tree = nil
	for _, path := range []string{file(t, "queue.ndjson", text.String()), file(t, "queue.ndjson.gz", zipped(t, text.String()))} {
		p := place(t, "file:"+path)
		before := heap()
		loaded, err := sides.Load(t.Context(), p, sides.Options{})
		must(t, err)
		took := heap() - before
		runtime.KeepAlive(loaded)
		var bad *sides.MemoryError
		if _, err := sides.Load(t.Context(), p, sides.Options{Memory: took / 2}); filepath.Ext(path) != ".gz" && !errors.As(err, &bad) {
			t.Errorf("%s takes %d bytes, and with half of them: %v", filepath.Base(path), took, err)
		}
		if _, err := sides.Load(t.Context(), p, sides.Options{Memory: 2 * took}); err != nil {
			t.Errorf("%s takes %d bytes, and with twice as much: %v", filepath.Base(path), took, err)
		}
	}
}

// TestTooLarge: what the machine can't hold is refused before it is read.
func TestTooLarge(t *testing.T) {
	path := file(t, "queue.ndjson", strings.Repeat(`{"path":"/a","data":"eHh4eHh4eHh4"}`+"\n", 50_000)) // which would be refused, too
	var bad *sides.MemoryError
	_, err := sides.OpenSource(t.Context(), place(t, "file:"+path), sides.Options{Memory: 1 << 20})
	if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "file:"+path+" would take about ") {
		t.Errorf("a source: %v", err)
	}
	target(t, file(t, "small.ndjson", busy), sides.Options{Memory: 1 << 20})
	for _, path := range []string{file(t, "small.ndjson", busy), filepath.Join(t.TempDir(), "new.ndjson")} {
		_, err = sides.OpenTarget(t.Context(), place(t, "file:"+path), sides.Options{Memory: 1 << 20, Adds: sides.Memory(10_000_000, 1<<30)})
		if !errors.As(err, &bad) {
			t.Errorf("%s, with what will be added: %v", filepath.Base(path), err)
		}
	}
}
