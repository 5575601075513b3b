package migrate

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Verify names the node after any one node of the new tree was deleted,
// changed or added: all nodes, all three.
func TestVerifyNamesEveryTamperedNode(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			src := source(t, corpus(t))
			opt := options(permissive())
			opt.Dialect = d
			target := live(t, d)
			foreign := treeOf(t, target)
			mustMigrate(t, target, src, opt)
			clean := treeOf(t, target)
			mustVerify(t, src, clean)

			// Most of the time goes by waiting for answers: many at once.
			work := make(chan tampering)
			var workers sync.WaitGroup
			for range 8 {
				zk := minizk.RunWith(t, minizk.Options{Now: testNow})
				workers.Go(func() {
					for w := range work {
						if err := w.named(zk, src, clean); err != nil {
							t.Errorf("%s %s: %v", w.what, w.path, err)
						}
					}
				})
			}
			for _, w := range tamperings(clean, foreign) {
				work <- w
			}
			close(work)
			workers.Wait()
		})
	}
}

// tampering is what somebody does by hand to one znode, and what verify should
// name then.
type tampering struct {
	what, path, names string
	ops               []znode.Op
}

func tamperings(clean, foreign *znode.Tree) []tampering {
	var all []tampering
	for _, path := range clean.Paths("/")[1:] {
		added := znode.Join(path, "by-hand")
		all = append(all, tampering{"add below", path, added, []znode.Op{znode.Create(added, none)}})
		if foreign.Get(path) != nil {
			continue
		}
		all = append(all,
			tampering{"change", path, path, []znode.Op{znode.Set(path, []byte("by hand"), -1)}},
			tampering{"set to the same data", path, path, []znode.Op{znode.Set(path, clean.Get(path).Data, -1)}})
		names := path
		if strings.HasPrefix(path, "/access/") && strings.HasPrefix(znode.Name(path), "qid") {
			// Nothing else in the target knew of it: its record is named.
			p, _ := parseProvenance(clean.Get(path).Data)
			names = p.Path
		}
		var ops []znode.Op
		for _, p := range slices.Backward(clean.Paths(path)) {
			ops = append(ops, znode.Delete(p, -1))
		}
		all = append(all, tampering{"delete", path, names, ops})
	}
	return all
}

// named does it to the clean tree and is nil if verify names it.
func (w tampering) named(server *minizk.Server, src *Source, clean *znode.Tree) error {
	if err := server.Load(clean); err != nil {
		return err
	}
	door, err := connect(server) // Load cut the one that was there
	if err != nil {
		return err
	}
	defer door.Close()
	if err := send(door, w.ops); err != nil {
		return err
	}
	tree, err := server.Snapshot()
	if err != nil {
		return err
	}
	v := Verify(src, tree, VerifyOptions{})
	if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == w.names }) {
		return fmt.Errorf("%s is not named in %d differences: %.300v", w.names, len(v.Differences), v.Differences)
	}
	return nil
}
