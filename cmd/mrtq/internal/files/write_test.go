package files

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// If a write fails half-way, the file does not change, and no temporary file is left.
func TestWriteFileFails(t *testing.T) {
	lost := errors.New("the source is lost")
	for _, name := range []string{"new.ndjson", "old.ndjson", "new.ndjson.gz", "old.ndjson.gz"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if strings.HasPrefix(name, "old") {
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := Write(path, func(w io.Writer) error {
			if _, err := w.Write(bytes.Repeat([]byte("new"), 1<<16)); err != nil {
				return err
			}
			return lost
		})
		if !errors.Is(err, lost) {
			t.Errorf("%s: %v, want %v", name, err, lost)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(name, "old") && (len(files) != 1 || string(content) != "old") ||
			strings.HasPrefix(name, "new") && (len(files) != 0 || !os.IsNotExist(err)) {
			t.Errorf("%s: %d files, %q, %v", name, len(files), content, err)
		}
	}
}

// What is added to a file follows what is there, packed or not.
func TestAdd(t *testing.T) {
	for _, name := range []string{"plain.ndjson", "packed.ndjson.gz"} {
		path := filepath.Join(t.TempDir(), name)
		for _, text := range []string{"first\n", "second\n", ""} {
			err := Add(path, func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Read(path); err != nil || string(got) != "first\nsecond\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content[:len(content)-2], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); IsGzip(path) == (err == nil) {
			t.Errorf("%s, cut: %q, %v", name, got, err)
		}
	}
}
