// Package bench measures mrtq's commands: the figures of docs/figures.md.
//
//	speed_test.go   how long each takes, beside what its server can do
//	follow_test.go  how soon follow moves a record, and what other clients notice
//	memory_test.go  how much memory each needs
package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

var mrtq string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mrtq-bench-")
	if err != nil {
		panic(err)
	}
	mrtq = filepath.Join(dir, "mrtq")
	if said, err := exec.Command("go", "build", "-o", mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
		panic("build mrtq: " + string(said))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// prepare returns a process of mrtq in a folder, without the user's settings. If it fails, said has what it printed.
func prepare(ctx context.Context, dir string, args ...string) (cmd *exec.Cmd, said *bytes.Buffer) {
	cmd, said = exec.CommandContext(ctx, mrtq, args...), &bytes.Buffer{}
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MRTQ_") })
	cmd.Stdout, cmd.Stderr = io.Discard, said
	return cmd, said
}

func writeQueue(t *testing.T, path string, opt legacyqueue.Options) *znode.Tree {
	t.Helper()
	tree, err := legacyqueue.Make(opt)
	must(t, err)
	file, err := os.Create(path)
	must(t, err)
	must(t, errors.Join(znode.WriteDump(file, tree), file.Close()))
	return tree
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
