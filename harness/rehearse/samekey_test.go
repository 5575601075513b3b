package rehearse

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// again adds a record with another's content, and so with its jobID. It comes later in the queue.
func again(t *testing.T, tree *znode.Tree, record string, status legacy.Status) (path string) {
	n := *tree.Get(record)
	n.Path = record[:len(record)-4] + "9999"
	n.Data = slices.Clone(n.Data)
	n.Data[0] = byte(status)
	must(t, tree.Put(n))
	return n.Path
}

// Records may have the same jobID. Then what was done is counted together, and the record about which
// somebody must decide otherwise is the one that is named.
func TestSameKey(t *testing.T) {
	for name, c := range map[string]struct {
		status       legacy.Status // of the first record; the second one is consumed
		consumed     string        // what becomes of consumed records
		named, other string        // in what is found; "" if nothing is
	}{
		"both are consumed, and wait":             {legacy.Consumed, "held", "", ""},
		"one is completed, the other waits":       {legacy.Completed, "held", "", ""},
		"one is pending, the other runs again":    {legacy.Pending, "pending", "second", "first"},
		"one is completed, the other runs again":  {legacy.Completed, "pending", "second", "first"},
		"both are consumed, and both of them run": {legacy.Consumed, "pending", "first", "second"},
	} {
		t.Run(name, func(t *testing.T) {
			var first, second string
			copied := queue(t, 30, func(tree *znode.Tree) {
				first = consume(t, tree)
				n := *tree.Get(first)
				n.Data[0] = byte(c.status)
				must(t, tree.Put(n))
				second = again(t, tree, first, legacy.Consumed)
			})
			opt := options(newqueue.Design)
			opt.Plan.Choices.Consumed = c.consumed
			r, err := Run(t.Context(), copied, opt)
			must(t, err)
			want := 0
			if c.named != "" {
				want = 2 // on the second copy, too
			}
			if len(r.Differences) != want || len(r.Problems) > 0 {
				t.Fatalf("%v, %v", r.Differences, r.Problems)
			}
			paths := map[string]string{"first": first, "second": second}
			for _, d := range r.Differences {
				if d.Kind != Twice || d.Path != paths[c.named] || !strings.Contains(d.Message, "decide about it as held") || !strings.Contains(d.Message, "counted together") || !strings.Contains(d.Message, paths[c.other]) {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}
