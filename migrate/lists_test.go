package migrate

import (
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A plan's lists of children are those that the server has after the plan was carried out:
// in a new target, and in one where jobs are rewritten, added and left alone.
func TestListsAsPlanned(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			target := serve(t, znode.NewTree())
			opt := options(permissive())
			opt.Dialect = d
			for stage, legacy := range []*znode.Tree{earlierCorpus(t, false), earlierCorpus(t, true), corpus(t)} {
				src := source(t, legacy)
				p := makePlan(t, src, treeOf(t, target), opt)
				lists := p.childLists(0)
				mustMigrate(t, target, src, opt)
				tree := treeOf(t, target)
				seen := 0
				for path, planned := range lists {
					var is listLength
					for _, name := range tree.Children(path) {
						is.add(name)
					}
					if tree.Get(path) == nil {
						if planned.children != 0 && src.Tree.Get(path) == nil {
							t.Errorf("%s: %+v was planned, and it is not there", path, planned)
						}
						continue
					}
					seen++
					if is != planned {
						t.Errorf("stage %d: %s has %+v, planned were %+v", stage, path, is, planned)
					}
				}
				if seen < 6 {
					t.Errorf("only %d lists of the target were planned", seen)
				}
			}
		})
	}
}

// Each limit that an answer exceeds is named, with what helps.
func TestTooLong(t *testing.T) {
	for bytes, want := range map[int][]string{
		DefaultPacket:     nil,
		DefaultPacket + 1: {"3.6 or later takes 1048575", "-Djute.maxbuffer=2097152"},
		5 << 20:           {"3.6 or later takes 1048575", "-Djute.maxbuffer=10485760", "older Java client takes 4194304"},
		65 << 20:          {"older Java client takes 4194304", "mrtq takes 67108864"},
	} {
		got := tooLong(bytes)
		if (got == "") != (want == nil) {
			t.Errorf("%d bytes: %q", bytes, got)
		}
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%d bytes: %q does not say %q", bytes, got, part)
			}
		}
	}
}
