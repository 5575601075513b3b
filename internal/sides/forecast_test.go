package sides_test

import (
	"errors"
	"os"
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

// TestForecast: the forecast of a dump is near what loading it takes.
func TestForecast(t *testing.T) {
	const records = 30_000
	tree, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1})
	must(t, err)
	var text strings.Builder
	must(t, znode.WriteDump(&text, tree))
	znodes := int64(tree.Len())
	tree = nil
	for _, path := range []string{file(t, "queue.ndjson", text.String()), file(t, "queue.ndjson.gz", zipped(t, text.String()))} {
		before := heap()
		loaded, err := sides.Load(t.Context(), place(t, "file:"+path), sides.Options{})
		must(t, err)
		took := heap() - before
		runtime.KeepAlive(loaded)
		f := sides.ForecastOf(place(t, "file:"+path))
		near := func(what string, got, want int64) {
			if got < want*7/10 || got > want*14/10 {
				t.Errorf("%s: %d %s, forecast %d", filepath.Base(path), want, what, got)
			}
		}
		near("znodes", f.Znodes, znodes)
		near("bytes of memory", f.Memory, took)
		near("bytes unpacked", f.Unpacked, int64(text.Len()))
		if info, err := os.Stat(path); err != nil || info.Size() != f.File {
			t.Errorf("%d bytes in the file, %v", f.File, err)
		}
	}
	for _, packing := range []string{"plain", "gz", "snappy"} {
		if f := sides.ForecastOf(place(t, "snapshot:"+golden(packing))); f.File == 0 || f.Unpacked < f.File || f.Znodes < 20 || f.Memory < f.Znodes*100 {
			t.Errorf("%s: %+v", packing, f)
		}
	}
	if f := sides.ForecastOf(place(t, "snapshot:none")); f != (sides.Forecast{}) {
		t.Errorf("no directory: %+v", f)
	}
}

// TestTooLarge: what the machine can't hold is refused before it is read.
func TestTooLarge(t *testing.T) {
	path := file(t, "queue.ndjson", strings.Repeat(`{"path":"/a","data":"eHh4eHh4eHh4"}`+"\n", 50_000)) // which would be refused, too
	var bad *sides.MemoryError
	_, err := sides.OpenSource(t.Context(), place(t, "file:"+path), sides.Options{Memory: 5 << 20})
	if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "file:"+path+" would take about ") {
		t.Errorf("a source: %v", err)
	}
	if bad != nil && (bad.Free != 5<<20 || bad.Forecast.Znodes < 40_000 || bad.Forecast.Memory < 5<<20) {
		t.Errorf("%+v", bad)
	}
	target(t, file(t, "small.ndjson", busy), sides.Options{Memory: 1 << 20})
	for _, path := range []string{file(t, "small.ndjson", busy), filepath.Join(t.TempDir(), "new.ndjson")} {
		_, err = sides.OpenTarget(t.Context(), place(t, "file:"+path), sides.Options{Memory: 1 << 20, Adds: sides.Of(10_000_000, 1<<30)})
		if !errors.As(err, &bad) {
			t.Errorf("%s, with what will be added: %v", filepath.Base(path), err)
		}
	}
}
