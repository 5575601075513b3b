package sides_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

const busy = `{"path":"/batches","data":""}` + "\n"

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

// TestCommit: the file changes with Commit, and not before. It has the same lines as a dump of its
// server would have.
func TestCommit(t *testing.T) {
	path := file(t, "tree.ndjson", kinds)
	tree := target(t, path, sides.Options{})
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/d", []byte("new")), znode.Delete("/a/empty", 0)}))
	mine, err := tree.CreateEphemeral(t.Context(), "/a/mine-", nil, nil)
	must(t, err)
	wantFile(t, path, kinds)
	before := dumped(t, t.Context(), &tree.Reader)
	must(t, tree.Commit(t.Context()))
	text, err := os.ReadFile(path)
	must(t, err)
	after := string(text)
	wantFile(t, path, after)
	if !strings.Contains(before, mine) || strings.Contains(after, mine) || !strings.Contains(after, `"/d"`) || strings.Contains(after, `"/a/empty"`) || !strings.Contains(after, `"ephemeralOwner":4711`) {
		t.Errorf("got\n%s", after)
	}
	again := target(t, path, sides.Options{})
	if got := dumped(t, t.Context(), &again.Reader); got != after {
		t.Errorf("read again as\n%s\nwant\n%s", got, after)
	}
	must(t, again.Commit(t.Context()))
	wantFile(t, path, after)
}

// TestCommitNew: a file that is not there is made, packed if its name says so.
func TestCommitNew(t *testing.T) {
	for _, name := range []string{"new.ndjson", "new.ndjson.gz"} {
		path := filepath.Join(t.TempDir(), name)
		tree := target(t, path, sides.Options{})
		must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/jobs", nil)}))
		must(t, tree.Commit(t.Context()))
		if _, ok, err := source(t, "file:"+path).Exists(t.Context(), "/jobs"); err != nil || !ok {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
}

// TestNotCommitted: without Commit, or if that is interrupted, the file does not change.
func TestNotCommitted(t *testing.T) {
	path := file(t, "tree.ndjson", busy)
	tree := target(t, path, sides.Options{})
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/jobs", nil)}))
	tree.Close()
	tree.Close()
	wantFile(t, path, busy)

	tree = target(t, path, sides.Options{})
	for i := range 3000 {
		must(t, tree.Multi(t.Context(), []znode.Op{znode.Create(fmt.Sprint("/n", i), nil)}))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := tree.Commit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	wantFile(t, path, busy)
	none := filepath.Join(t.TempDir(), "none.ndjson")
	target(t, none, sides.Options{}).Close()
	if _, err := os.Stat(none); err == nil {
		t.Error("a file was made without Commit")
	}
}

// TestOverwritten: a file that another process changed, made or removed meanwhile is not overwritten.
func TestOverwritten(t *testing.T) {
	const others = `{"path":"/others","data":"bW9yZQ=="}` + "\n"
	open := func(path string) *sides.WritableSide {
		tree := target(t, path, sides.Options{})
		must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/jobs", nil)}))
		return tree
	}
	refused := func(tree *sides.WritableSide) {
		t.Helper()
		if err := tree.Commit(t.Context()); !errors.Is(err, sides.ErrOverwritten) {
			t.Errorf("got %v", err)
		}
	}
	path := file(t, "tree.ndjson", busy)
	tree := open(path)
	must(t, os.WriteFile(path, []byte(others), 0o600))
	refused(tree)
	wantFile(t, path, others)

	made := filepath.Join(t.TempDir(), "made.ndjson")
	tree = open(made)
	must(t, os.WriteFile(made, []byte(others), 0o600))
	refused(tree)
	wantFile(t, made, others)

	removed := file(t, "removed.ndjson", busy)
	tree = open(removed)
	must(t, os.Remove(removed))
	refused(tree)
}

// TestElection: what is below the election's path is removed when a target is opened. Other
// ephemerals stay, and nothing of them ever ends.
func TestElection(t *testing.T) {
	owned := func(path string) string {
		return `{"path":"` + path + `","data":"","stat":{"czxid":9,"mzxid":9,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":4712,"dataLength":0,"numChildren":0,"pzxid":9}}` + "\n"
	}
	path := file(t, "tree.ndjson", owned("/lock")+owned("/migration/election/n-0000000003")+owned("/migration/election/n-0000000004"))
	tree := target(t, path, sides.Options{Election: "/migration/election"})
	stat, ok, err := tree.Exists(t.Context(), "/migration/election")
	if err != nil || !ok || stat.NumChildren != 0 || stat.Cversion != 4 {
		t.Errorf("%+v, %t, %v", stat, ok, err)
	}
	if stat, ok, err := tree.Exists(t.Context(), "/lock"); err != nil || !ok || stat.EphemeralOwner != 4712 {
		t.Errorf("%+v, %t, %v", stat, ok, err)
	}
	target(t, file(t, "tree.ndjson", busy), sides.Options{Election: "/migration/election"}) // which it lacks
}

// TestPacket: a transaction that is too large for the server's jute.maxbuffer gets the same answer as
// from a server: the connection is lost, and then there is another one.
func TestPacket(t *testing.T) {
	const packet = 5000
	tree := target(t, file(t, "tree.ndjson", busy), sides.Options{MaxBuffer: packet})
	room := packet + 4 - znode.MultiSize([]znode.Op{znode.Create("/big", nil)}, 0) // the length's 4 bytes don't count
	if err := tree.Multi(t.Context(), []znode.Op{znode.Create("/big", make([]byte, room+1))}); !errors.Is(err, zkconn.ErrUnknownOutcome) {
		t.Errorf("a byte too large: %v", err)
	}
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Create("/big", make([]byte, room))}))
}

func TestNoTarget(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := sides.OpenWritable(t.Context(), place(t, "file:"+pipe), sides.Options{}); !errors.Is(err, sides.ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
}
