package merritt_test

import (
	"context"
	"iter"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// moves is a tree that changes when a walk gets to the queues of the jobs.
type moves struct {
	before, after *znode.Tree
	walks         int
	seen          int64
}

func (m *moves) Get(ctx context.Context, path string) (znode.Node, error) {
	return layout.InMemory(m.after).Get(ctx, path)
}

func (m *moves) Walk(_ context.Context, root string) iter.Seq2[znode.Node, error] {
	m.walks++
	return func(yield func(znode.Node, error) bool) {
		for i, tree := range []*znode.Tree{m.before, m.after} {
			for n := range tree.All(root) {
				if (n.Path < "/jobs/states") == (i == 0) && !yield(*n, nil) {
					return
				}
			}
		}
		if root == "/jobs" {
			m.before = m.after
		}
	}
}

// LastZxid is 0 if the tree may have changed.
func (m *moves) LastZxid() int64 { return m.seen }

// If a znode moved between two reads, the check looks again and reports nothing. A real
// fault is still there at the second look.
func TestMovedMeanwhile(t *testing.T) {
	l := named(t, "merritt", "design")
	for _, c := range []struct {
		name   string
		moving bool
		broken bool
		looks  int
		want   int
	}{
		{"it moves, one look", true, false, 1, 1},
		{"it moves, two looks", true, false, 2, 0},
		{"it is broken, three looks", false, true, 3, 1},
		{"it moves and is broken, two looks", true, true, 2, 1},
	} {
		f := merrittSample("design").sound(t, l)
		f.remove(jobPath + "/lock")
		if c.broken {
			f.put("/batch-uuids/bid-9", "bid0000000009")
		}
		s := &moves{before: f.tree(t), after: f.tree(t)}
		if c.moving {
			f.remove(entryPath)
			f.put("/jobs/states/held/05-jid0000000000", "")
			f.change(jobPath+"/status", `{"status":"held","retry_count":0}`)
			s.after = f.tree(t)
		}
		r, err := l.Check(t.Context(), s, layout.Options{MaxReads: c.looks})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Count(layout.Error); got < c.want || c.want == 0 && got > 0 {
			t.Errorf("%s: %d errors, want %d: %v", c.name, got, c.want, r.Findings)
		}
	}
}

// While a server's tree does not change, one look is enough.
func TestQuietTree(t *testing.T) {
	l := named(t, "merritt", "design")
	f := merrittSample("design").sound(t, l)
	f.put("/batch-uuids/bid-9", "bid0000000009")
	for seen, looks := range map[int64]int{7: 1, 0: 3} {
		s := &moves{before: f.tree(t), after: f.tree(t), seen: seen}
		r, err := l.Check(t.Context(), s, layout.Options{MaxReads: 3})
		if err != nil {
			t.Fatal(err)
		}
		if r.Count(layout.Error) != 1 || s.walks != looks*len(l.Roots) {
			t.Errorf("seen %d: %d errors after %d walks", seen, r.Count(layout.Error), s.walks)
		}
	}
}
