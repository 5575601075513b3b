package zkdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mrtq/internal/jute"
)

// goldenFiles are the files that Apache's server wrote, by a pattern of their
// names.
func goldenFiles(f *testing.F, pattern string) [][]byte {
	f.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*", versionFolder, pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no %s (%v)", pattern, err)
	}
	var all [][]byte
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// bounded fails if parsing took more memory than its input justifies.
func bounded(t *testing.T, input int, parse func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	parse()
	runtime.ReadMemStats(&after)
	// A byte can unpack to a thousand bytes, and each can become a node of some
	// hundred bytes.
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+input*4096); used > most {
		t.Errorf("%d bytes of input took %d bytes of memory, want at most %d", input, used, most)
	}
}

// FuzzSnapshot: reading any snapshot ends with a tree or an *Error, and takes no
// more memory than its size justifies.
func FuzzSnapshot(f *testing.F) {
	for ext, pattern := range map[string]string{"": "snapshot.??", "gz": "snapshot.??.gz"} {
		for _, data := range goldenFiles(f, pattern) {
			f.Add(ext, data)
		}
	}
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		bounded(t, len(data), func() {
			r, err := unpacked("snapshot.1."+ext, bytes.NewReader(data))
			if err != nil {
				if !damaged(err) {
					t.Errorf("%v does not report damage", err)
				}
				return
			}
			snap, err := parseSnapshot(context.Background(), dataFile{"snapshot.1", 1}, newStream("snapshot.1", r), func(int) {})
			if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("%v has no kind", err)
				}
				return
			}
			look(begin(snap, func(string) {}))
		})
	})
}

// FuzzSealed is FuzzSnapshot with a correct checksum. Otherwise the checksum
// would hide all other faults.
func FuzzSealed(f *testing.F) {
	for _, data := range goldenFiles(f, "snapshot.??") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sealed := binary.BigEndian.AppendUint64(bytes.Clone(data), uint64(adler32.Checksum(data)))
		sealed = append(sealed, 0, 0, 0, 1, '/')
		bounded(t, len(data), func() {
			snap, err := parseSnapshot(context.Background(), dataFile{"snapshot.1", 1}, newStream("snapshot.1", bytes.NewReader(sealed)), func(int) {})
			if err != nil {
				return
			}
			look(begin(snap, func(string) {}))
		})
	})
}

// FuzzLog replays a log of arbitrary transactions with correct checksums and
// consecutive zxids.
func FuzzLog(f *testing.F) {
	for _, data := range goldenFiles(f, "log.??") {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "log.1")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openLog(dataFile{path, 1})
		if err != nil {
			return
		}
		defer l.close()
		bounded(t, len(data), func() {
			h := begin(nil, func(string) {})
			var txn transaction
			for zxid := int64(1); ; zxid++ {
				entry, at, err := l.next()
				if err == io.EOF {
					break
				}
				if err != nil {
					if !errors.Is(err, ErrCorrupt) {
						t.Errorf("%v has no kind", err)
					}
					break
				}
				binary.BigEndian.PutUint64(entry[zxidAt:], uint64(zxid))
				if parseTransaction(entry, &txn) != nil || h.take(l, at, &txn) != nil {
					continue
				}
			}
			look(h)
		})
	})
}

// FuzzTransaction decodes and applies one transaction of arbitrary bytes.
func FuzzTransaction(f *testing.F) {
	for _, data := range goldenFiles(f, "log.??") {
		for off := logHeader; off+entryHead < len(data); {
			n := int(binary.BigEndian.Uint32(data[off+8:]))
			if n == 0 {
				break
			}
			f.Add(data[off+entryHead+jute.TxnHeaderLen-4 : off+entryHead+n])
			off += entryHead + n + 1
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entry := binary.BigEndian.AppendUint64(make([]byte, zxidAt), 1)
		entry = append(append(entry, make([]byte, 8)...), data...)
		h := begin(nil, func(string) {})
		bounded(t, len(data), func() {
			var txn transaction
			if parseTransaction(entry, &txn) != nil {
				return
			}
			_ = h.take(&logFile{dataFile: dataFile{"log.1", 1}}, logHeader, &txn)
			look(h)
		})
	})
}

// look reads all of a tree. Package ztree tests that its counts are right.
func look(h *history) {
	for range h.tree.Nodes("/") {
	}
	_, _ = h.data(Place{}) // names that no znode can have are an error
}
