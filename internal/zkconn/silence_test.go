package zkconn_test

import (
	"testing"
	"time"

	"mrtq/internal/zkconn"
)

// The silence of a server lasts from the first request that it does not answer, over attempts to
// connect again, until it answers. While nobody asks, there is none.
func TestPulse(t *testing.T) {
	silence := &zkconn.SilenceTimer{}
	w, p := setup(t, zkconn.Config{Silence: silence, SessionTimeout: 4 * time.Second, GiveUpAfter: time.Minute})
	read := func() error {
		_, _, err := w.Exists(t.Context(), "/")
		return err
	}
	if err := read(); err != nil || silence.Elapsed() != 0 {
		t.Fatalf("%v, silent for %v", err, silence.Elapsed())
	}
	p.stall(true)
	if silence.Elapsed() != 0 {
		t.Errorf("nobody asks, and it counts as silent for %v", silence.Elapsed())
	}
	connections := p.connections()
	answered := make(chan error, 1)
	go func() { answered <- read() }()
	began, longest := time.Now(), time.Duration(0)
	for p.connections() == connections || longest < 3*time.Second {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("after 30 s it counts as silent for %v, at most %v; connections: %d", silence.Elapsed(), longest, p.connections())
		}
		longest = max(longest, silence.Elapsed())
		time.Sleep(10 * time.Millisecond)
	}
	p.stall(false)
	if err := <-answered; err != nil || silence.Elapsed() != 0 {
		t.Errorf("%v, silent for %v after an answer", err, silence.Elapsed())
	}
}
