package openfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody writes to a pipe without a reader, and a missing file isn't created.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(path); !errors.Is(err, ErrNobodyReads) {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := Write(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
