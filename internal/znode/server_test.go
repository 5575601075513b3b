package znode_test

import (
	"errors"
	"fmt"
	"testing"

	"mrtq/internal/znode"
)

// The server refuses children of an ephemeral node.
func TestEphemeralParentAsServer(t *testing.T) {
	w := open(t)
	path := value(w.CreateEphemeral(t.Context(), "/eph-", nil, nil))(t)
	if err := w.Multi(t.Context(), []znode.Op{znode.Create(path+"/x", nil)}); !errors.Is(err, znode.ErrEphemeralParent) {
		t.Errorf("below an ephemeral node: %v", err)
	}
}

// docs/migration.md, "One job, one transaction": any create advances the counter, 8
// explicit ones make the next sequential child number 8, and deletes don't move it.
func TestNextSequenceAsServer(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	step := func(what string, want int32, ops ...znode.Op) {
		t.Helper()
		if len(ops) > 0 {
			if err := w.Multi(ctx, ops); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		n := value(w.Get(ctx, "/seq"))(t)
		if next, left := n.Stat.NextSequence(); next != want || left != 1<<31-int64(want) {
			t.Errorf("%s: the forecast is %d (%d left), want %d", what, next, left, want)
		}
	}
	step("new", 0, znode.Create("/seq", nil))
	var creates []znode.Op
	for i := range 8 {
		creates = append(creates, znode.Create(fmt.Sprintf("/seq/c%d", i), nil))
	}
	step("8 explicit creates", 8, creates...)
	step("deletes", 8, znode.Delete("/seq/c0", -1), znode.Delete("/seq/c7", -1))
	sequential := func(want string) {
		t.Helper()
		path := value(w.CreateEphemeral(ctx, "/seq/s-", nil, nil))(t)
		if path != want {
			t.Errorf("the server made %s, want %s", path, want)
		}
	}
	sequential("/seq/s-0000000008")
	step("a sequential create", 9)
	step("grandchildren", 9, znode.Create("/seq/c1/x", nil), znode.Delete("/seq/c1/x", -1))
	step("data", 9, znode.Set("/seq", []byte("x"), -1))
	step("create and delete at once", 10, znode.Create("/seq/y", nil), znode.Delete("/seq/y", -1))
	sequential("/seq/s-0000000010")
	if err := w.Multi(ctx, []znode.Op{znode.Create("/seq/z", nil), znode.Check("/nowhere", -1)}); err == nil {
		t.Error("a check of a missing znode succeeded")
	}
	step("a create that failed", 11)
}
