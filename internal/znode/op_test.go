package znode_test

import (
	"testing"

	"mrtq/internal/znode"
)

func TestOpString(t *testing.T) {
	if s := (znode.Op{Kind: 9, Path: "/x"}).String(); s != "OpKind(9) /x" {
		t.Error(s)
	}
}
