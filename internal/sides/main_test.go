package sides_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/shared"
	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// A random test is short, unless make torture asks for more.
func init() { flag.Set("rapid.checks", "25") }

func TestMain(m *testing.M) { shared.Main(m) }

// server is a real ZooKeeper that all tests share. Each test finds it empty.
func server(t *testing.T) *harness.Server {
	t.Helper()
	s := shared.Server(t, false)
	if err := s.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// fataler is the part that [testing.T] and rapid's T share.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func place(t fataler, text string) sides.Place {
	t.Helper()
	p, err := sides.Parse(text)
	must(t, err)
	return p
}

func source(t *testing.T, text string) *sides.Side {
	t.Helper()
	s, err := sides.Open(t.Context(), place(t, text), sides.Options{})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

func target(t *testing.T, path string, opt sides.Options) *sides.WritableSide {
	t.Helper()
	s, err := sides.OpenWritable(t.Context(), place(t, "file:"+path), opt)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

func dumped(t fataler, ctx context.Context, r *zkconn.Reader) string {
	t.Helper()
	tree, err := r.WithACLs().Tree(ctx)
	must(t, err)
	var b bytes.Buffer
	must(t, znode.WriteDump(&b, tree))
	return b.String()
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	must(t, err)
	must(t, z.Close())
	return b.String()
}
