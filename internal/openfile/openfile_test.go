package openfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe waits for its writer, and has all that was written. Nobody writes to a pipe without
// a reader.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path); !errors.Is(err, ErrNobodyReads) {
		t.Errorf("write: %v", err)
	}
	const size = 1 << 20 // more than a pipe holds
	go func() {
		out, err := Write(path)
		for errors.Is(err, ErrNobodyReads) { // the reader is about to open it
			out, err = Write(path)
		}
		if err != nil {
			t.Error(err)
			return
		}
		out.Write(make([]byte, size))
		out.Close()
	}()
	if b, err := ReadAll(path); len(b) != size || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// An empty file can be read, and a missing one isn't created.
func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Write(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("write: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadAll(path); len(b) != 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
