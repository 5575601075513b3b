package minizk

import (
	"strings"
	"testing"

	"mrtq/internal/jute"
)

// TestEveryOperationIsThere: the table has every operation that package jute names, except those
// that only servers send.
func TestEveryOperationIsThere(t *testing.T) {
	notAsked := map[jute.OpCode]bool{jute.OpNotification: true, jute.OpCreateSession: true, jute.OpError: true}
	named := 0
	for op := jute.OpCode(-20); op < 200; op++ {
		_, known := operations[op]
		name := !strings.HasPrefix(op.String(), "op ")
		if name {
			named++
		}
		if known != (name && !notAsked[op]) {
			t.Errorf("%s: in the table %v, want %v", op, known, !known)
		}
	}
	if named != len(operations)+len(notAsked) {
		t.Errorf("%d operations have names, %d are in the table", named, len(operations))
	}
}
