package main

import (
	"strings"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/harness/minizk"
	"mrtq/internal/znode"
)

// A chroot that vanishes while it is read is no empty one.
func TestChrootVanishes(t *testing.T) {
	t.Parallel()
	s := newStage(t, []string{"restore SOURCE --in FILE"})
	gate := make(chan struct{})
	listing := s.Inject(minizk.Fault{On: func(op minizk.Op) bool {
		return strings.HasPrefix(op.Path, "/old") && op.Code != minizk.OpExists || op.Code == minizk.OpMultiRead
	}, Do: minizk.Hold(gate)})
	var code int
	var said string
	done := make(chan struct{})
	go func() { defer close(done); code, said = s.run("dump SOURCE") }()
	for listing.Fired() == 0 {
		time.Sleep(time.Millisecond)
	}
	must(t, s.Load(&znode.Tree{}))
	close(gate)
	<-done
	if code != exit.Environment || !strings.Contains(said, "the chroot /old was removed while it was read") {
		t.Errorf("%d: %s", code, said)
	}
}
