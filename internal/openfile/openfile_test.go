package openfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPipeWithoutOtherEnd(t *testing.T) {
	path := fifo(t)
	if b, err := ReadAll(path); !errors.Is(err, ErrNobodyWrites) {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := Write(path); !errors.Is(err, ErrNobodyReads) {
		t.Errorf("write: %v", err)
	}
}

// If a pipe has a writer, Read waits for its data without limit.
func TestPipeWithBothEnds(t *testing.T) {
	path := fifo(t)
	in, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := Write(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20 // more than a pipe holds
	go func() {
		out.Write(make([]byte, size))
		out.Close()
	}()
	if b, err := io.ReadAll(in); len(b) != size || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// An empty file is not a pipe, and a missing one isn't created.
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
