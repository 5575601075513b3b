package node

import (
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	log := &Tail{}
	for i := range 1000 {
		fmt.Fprintf(log, "line %04d\n", i)
	}
	got := log.String()
	if !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 0999\n") || len(got) > tailSize || len(got) < tailSize-10 {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
}
