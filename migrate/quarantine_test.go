package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mrtq/legacy"
)

// renamed writes beside a file and renames into place, as the command does.
func renamed(path string, f func(io.Writer) error) error {
	var b bytes.Buffer
	if err := f(&b); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "tmp.*")
	if err != nil {
		return err
	}
	if _, err := tmp.Write(b.Bytes()); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// undecodable returns the n-th record of a writer.
func undecodable(writer, n int) Record {
	return Record{
		Path: fmt.Sprintf("/ingest/mrtQ-05%05d%05d", writer, n),
		Data: fmt.Appendf(nil, "bytes of %d from %d", n, writer),
		Err:  &legacy.Error{Kind: legacy.TruncatedHeader, Msg: "bad"},
	}
}

// Several writers that know nothing of each other write at once to one file, which is not
// there at first. No bytes are lost.
func TestWriteQuarantineAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.ndjson")
	const writers, times, each = 16, 5, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range times {
				var records []Record
				for n := range each {
					records = append(records, undecodable(w, i*each+n))
				}
				if err := WriteQuarantine(path, records, renamed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	kept, err := ReadQuarantine(path)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for w := range writers {
		for n := range times * each {
			if !isKept(kept, undecodable(w, n)) {
				lost++
			}
		}
	}
	if lost > 0 || len(kept) != writers*times*each {
		t.Errorf("%d of %d records' bytes are lost", lost, writers*times*each)
	}
}

// If a file is replaced while a writer waits for it, the writer adds to the new file. If it is
// removed, the writer recreates it.
func TestWriteQuarantineToReplacedFile(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"replaced": func(path string) error {
			return renamed(path, func(w io.Writer) error {
				_, err := io.WriteString(w, `{"path":"/theirs","data":""}`+"\n")
				return err
			})
		},
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "q.ndjson")
			if err := WriteQuarantine(path, []Record{undecodable(1, 1)}, renamed); err != nil {
				t.Fatal(err)
			}
			// Replace the file under the lock while the writer waits for the lock.
			waiting := make(chan error, 1)
			err := WriteQuarantine(path, []Record{undecodable(1, 2)}, func(path string, _ func(io.Writer) error) error {
				go func() { waiting <- WriteQuarantine(path, []Record{undecodable(1, 3)}, renamed) }()
				return replace(path)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-waiting; err != nil {
				t.Fatal(err)
			}
			kept, err := ReadQuarantine(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, theirs := kept["/theirs"]; !isKept(kept, undecodable(1, 3)) || theirs != (name == "replaced") {
				t.Errorf("the file holds %d records: %v", len(kept), kept)
			}
		})
	}
}

// A quarantine file into which something else wrote is refused. The error says where.
func TestReadQuarantineRefusesOtherLines(t *testing.T) {
	const first = `{"path":"/a","data":"AA=="}` + "\n" // 28 bytes
	const want = `want one {"path":…,"data":…} a line: `
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":       {"Dear reader\n", "line 1 (at byte 0): " + want + "this is not JSON: found 'D', want a value"},
		"cut short":     {`{"path":"/ingest/mrtQ-1","da`, "line 1 (at byte 0): " + want + "the JSON ends too early"},
		"no path":       {first + `{"data":"AA=="}` + "\n", "line 2 (at byte 28): " + want + "no path"},
		"another kind":  {first + "\n \t" + `{"path":5}`, "line 3 (at byte 31): " + want + "path: found a number, want a string"},
		"a list":        {first + "[]", "line 2 (at byte 28): " + want + "found a list, want an object"},
		"bad base64":    {first + `{"path":"/b","data":"!"}`, "line 2 (at byte 28): " + want + "the text is not base64 (see its byte 0)"},
		"a word behind": {first + "done", "line 2 (at byte 28): " + want + "this is not JSON: found 'd', want a value"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "q.ndjson")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadQuarantine(path)
			if !errors.Is(err, ErrQuarantineLine) || err.Error() != "quarantine file "+path+": "+c.want {
				t.Errorf("\ngot  %v\nwant %s", err, c.want)
			}
		})
	}
}
