package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"mrtq/internal/znode"
)

const busyFile = `{"path":"/batches","data":""}` + "\n"

// openChanged opens a file target, the only file in its folder, and changes its tree.
func openChanged(t *testing.T) (*fileTarget, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.ndjson")
	if err := os.WriteFile(path, []byte(busyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{stderr: io.Discard}
	f, err := a.openFileTarget(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := f.Multi(t.Context(), []znode.Op{znode.Create("/jobs", []byte{})}); err != nil {
		t.Fatal(err)
	}
	return f, path
}

// wantFile checks a file's content, and that it is the only file in its folder.
func wantFile(t *testing.T, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("the file holds %q, %v; want %q", got, err, content)
	}
	if beside, err := os.ReadDir(filepath.Dir(path)); err != nil || len(beside) != 1 {
		t.Errorf("beside it are %v, %v", beside, err)
	}
}

// If another process writes to the file meanwhile, mrtq does not overwrite it.
func TestFileWrittenByOthers(t *testing.T) {
	f, path := openChanged(t)
	const others = `{"path":"/others","data":"bW9yZQ=="}` + "\n"
	if err := os.WriteFile(path, []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.save(t.Context()); !errors.Is(err, errOverwritten) {
		t.Errorf("want %v, got %v", errOverwritten, err)
	}
	wantFile(t, path, others)
}

// If saving is interrupted, the file does not change.
func TestFileSaveInterrupted(t *testing.T) {
	f, path := openChanged(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := f.save(ctx); !errors.Is(err, context.Canceled) || !errors.As(err, new(*unchangedError)) {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, busyFile)
}
