package side_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/minizk"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func connect(t *testing.T, addr string) *zkconn.Writer {
	t.Helper()
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{addr}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// load creates a tree's znodes on a server.
func load(t *testing.T, w *zkconn.Writer, tree *znode.Tree) {
	t.Helper()
	var ops []znode.Op
	for n := range tree.All("/") {
		if n.Path != "/" {
			ops = append(ops, znode.Create(n.Path, n.Data))
		}
	}
	for chunk := range slices.Chunk(ops, 200) {
		if err := w.Multi(t.Context(), chunk); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSession: a side of a server reads the same as the tree that was loaded into
// it. [harness.TestBackend] chooses a real server or the embedded one.
func TestSession(t *testing.T) {
	s := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	w := connect(t, s.Address())
	load(t, w, drawTree(t, rand.New(rand.NewPCG(3, 3)), 300))
	if err := w.SetACL(t.Context(), "/a-b/wide", []znode.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "ip", ID: "127.0.0.1"}}); err != nil {
		t.Fatal(err)
	}
	tree, err := w.Tree(t.Context(), zkconn.TreeOptions{ACL: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, side.Session(&w.Reader, side.AllACLs), tree, everything)
	same(t, side.Session(&w.Reader, nil), tree, func(n znode.Node) string {
		n.ACL = nil
		return everything(n)
	})
	one := side.Session(&w.Reader, func(path string) bool { return path == "/a" })
	for path, want := range map[string]bool{"/a": true, "/a-b": false} {
		if n, err := one.Get(t.Context(), path); err != nil || (n.ACL != nil) != want {
			t.Errorf("%s comes with the ACL %v, %v", path, n.ACL, err)
		}
	}
	ends(t, side.Session(&w.Reader, nil))
}

// embedded is a server that lets a test count and change its requests.
func embedded(t *testing.T, opt minizk.Options) (*minizk.Server, *zkconn.Writer) {
	t.Helper()
	s, err := minizk.Start(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, connect(t, s.Addr())
}

func queue(t *testing.T, w *zkconn.Writer, records int) (roots []string) {
	t.Helper()
	tree := znode.NewTree()
	for i := range records {
		path := fmt.Sprintf("/q/n%05d", i)
		roots = append(roots, path)
		if err := tree.Put(znode.Node{Path: path, Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	load(t, w, tree)
	return roots
}

func read(s side.Side, ctx context.Context, roots iter.Seq[string]) (paths []string, err error) {
	for sub, serr := range s.Subtrees(ctx, roots) {
		if serr != nil {
			return paths, serr
		}
		for _, n := range sub.Nodes {
			paths = append(paths, n.Path+" "+n.Unreadable)
		}
	}
	return paths, nil
}

// TestLeavesAreReadOnce: the Stat of a leaf says that it has no children, and many
// leaves are read in one request.
func TestLeavesAreReadOnce(t *testing.T) {
	s, w := embedded(t, minizk.Options{})
	roots := queue(t, w, 500)
	s.ResetCounts()
	if _, err := read(side.Session(&w.Reader, nil), t.Context(), slices.Values(roots)); err != nil {
		t.Fatal(err)
	}
	if reads := s.Counts().Reads; reads > int64(len(roots)/16) {
		t.Errorf("%d leaves took %d requests", len(roots), reads)
	}
}

// TestSlowConsumer: while the caller is busy, only a limited amount is read
// ahead.
func TestSlowConsumer(t *testing.T) {
	_, w := embedded(t, minizk.Options{})
	roots := queue(t, w, 2000)
	var pulled atomic.Int64
	counted := func(yield func(string) bool) {
		for _, root := range roots {
			pulled.Add(1)
			if !yield(root) {
				return
			}
		}
	}
	const ahead = 128
	seen := int64(0)
	for _, err := range side.Session(&w.Reader, nil).Subtrees(t.Context(), counted) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if p := pulled.Load(); p > seen+ahead {
			t.Fatalf("%d roots were pulled when the caller had seen %d", p, seen)
		}
		if seen > 1000 {
			break
		}
	}
}

func TestVanishedAndUnreadable(t *testing.T) {
	_, w := embedded(t, minizk.Options{})
	roots := queue(t, w, 20)
	ctx := t.Context()
	if err := w.Multi(ctx, []znode.Op{znode.Delete(roots[3], -1)}); err != nil {
		t.Fatal(err)
	}
	if err := w.SetACL(ctx, roots[5], []znode.ACL{{Perms: 31, Scheme: "digest", ID: "owner:x"}}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, root := range roots {
		switch i {
		case 3:
		case 5:
			want = append(want, root+" no permission")
		default:
			want = append(want, root+" ")
		}
	}
	got, err := read(side.Session(w.MarkUnreadable(), nil), ctx, slices.Values(roots))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("with marks, it reads %q, %v; want %q", got, err, want)
	}
	got, err = read(side.Session(&w.Reader, nil), ctx, slices.Values(roots))
	if !errors.Is(err, zkconn.ErrNoAuth) || !strings.Contains(fmt.Sprint(err), roots[5]) || len(got) != 4 {
		t.Errorf("without marks, it ends after %q with %v", got, err)
	}
	walked := 0
	for n, err := range side.Session(w.MarkUnreadable(), nil).Walk(ctx, "/q") {
		if err != nil {
			t.Fatal(err)
		}
		if n.Unreadable != "" {
			walked++
		}
	}
	if walked != 1 {
		t.Errorf("a walk marks %d znodes", walked)
	}
}

// TestInterruptedInTheMiddle: requests under way end at once, too.
func TestInterruptedInTheMiddle(t *testing.T) {
	_, w := embedded(t, minizk.Options{})
	roots := queue(t, w, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	var last error
	started := time.Now()
	for _, err := range side.Session(&w.Reader, nil).Subtrees(ctx, slices.Values(roots)) {
		last = err
		if seen++; seen == 10 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) || seen > 10+128 || time.Since(started) > 5*time.Second {
		t.Errorf("it ended after %d subtrees and %v with %v", seen, time.Since(started), last)
	}
}
