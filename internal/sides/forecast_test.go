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

// TestForecastOfData: the newest snapshot counts, and the logs that are read after it.
func TestForecastOfData(t *testing.T) {
	const large, small = 8 << 20, 1 << 10
	for name, tc := range map[string]struct {
		files    map[string]int64 // their sizes
		tooLarge bool
	}{
		"a young server":          {map[string]int64{"snapshot.0": small, "log.1": large}, true},
		"no snapshot":             {map[string]int64{"log.1": small, "log.5": large}, true},
		"a large snapshot":        {map[string]int64{"snapshot.0": small, "log.1": small, "snapshot.4": large}, true},
		"logs before the newest":  {map[string]int64{"snapshot.0": large, "log.1": large, "snapshot.4": small, "log.4": small}, false},
		"a log that goes beyond":  {map[string]int64{"snapshot.0": small, "log.1": large, "snapshot.4": small, "log.5": small}, true},
		"logs in a folder beside": {map[string]int64{"snapshot.0": small, "logs/log.1": large}, true},
	} {
		dir := t.TempDir()
		at := "snapshot:" + dir
		for path, size := range tc.files {
			if filepath.Dir(path) != "." {
				at = "snapshot:" + dir + "," + filepath.Join(dir, filepath.Dir(path))
			}
			path = filepath.Join(dir, path)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, nil, 0o644))
			must(t, os.Truncate(path, size))
		}
		// Zeros are no snapshot. But that is found out only when there is enough memory.
		_, err := sides.Open(t.Context(), place(t, at), sides.Options{Memory: 1 << 20})
		if errors.As(err, new(*sides.MemoryError)) != tc.tooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTooLarge: what the machine can't hold is refused before it is read.
func TestTooLarge(t *testing.T) {
	path := file(t, "queue.ndjson", strings.Repeat(`{"path":"/a","data":"eHh4eHh4eHh4"}`+"\n", 50_000)) // which would be refused, too
	var bad *sides.MemoryError
	_, err := sides.Open(t.Context(), place(t, "file:"+path), sides.Options{Memory: 1 << 20})
	if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), "file:"+path+" would take about ") {
		t.Errorf("a source: %v", err)
	}
	target(t, file(t, "small.ndjson", busy), sides.Options{Memory: 1 << 20})
	for _, path := range []string{file(t, "small.ndjson", busy), filepath.Join(t.TempDir(), "new.ndjson")} {
		_, err = sides.OpenWritable(t.Context(), place(t, "file:"+path), sides.Options{Memory: 1 << 20, Adds: sides.Memory(10_000_000, 1<<30)})
		if !errors.As(err, &bad) {
			t.Errorf("%s, with what will be added: %v", filepath.Base(path), err)
		}
	}
}
