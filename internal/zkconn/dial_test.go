package zkconn

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// dialing is a session that is not open yet, with one server.
func dialing(cfg Config, dial func(context.Context) (net.Conn, error)) *session {
	cfg.Address.Servers, cfg.Dial = []string{"x:1"}, dial
	return &session{cfg: cfg.withDefaults(), silence: firstSilence, servers: cfg.Address.Servers}
}

// However often servers were silent, a session waits no longer than mostSilence for the next, and
// it begins anew when one has answered.
func TestSilences(t *testing.T) {
	server, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	silent := func(ctx context.Context) (net.Conn, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	mute := func(context.Context) (net.Conn, error) { // accepts, and never answers
		c, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		go other.Read(make([]byte, 1<<10))
		return c, nil
	}
	for name, dial := range map[string]func(context.Context) (net.Conn, error){"silent": silent, "mute": mute} {
		s := dialing(Config{GiveUp: 10 * time.Millisecond}, dial)
		for range 40 { // 2^34 s are more than a Duration
			if c, err := s.connect(t.Context(), "x:1"); err == nil {
				t.Fatalf("%s: %v", name, c)
			}
		}
		s.cfg.GiveUp = time.Minute
		if s.patience() != mostSilence {
			t.Errorf("%s: after many silences it waits for %v, want %v", name, s.patience(), mostSilence)
		}
		s.cfg.Dial = func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Addr())
		}
		c, err := s.connect(t.Context(), "x:1")
		if err != nil {
			t.Errorf("%s: a server that answers: %v", name, err)
			continue
		}
		c.fail(errClosed)
		c.running.Wait()
		if s.patience() != firstSilence {
			t.Errorf("%s: after an answer it waits for %v, want %v", name, s.patience(), firstSilence)
		}
	}
}

// A host that restarts is silent at first, and then refuses for a moment. Config.Refused counts
// from the first refusal.
func TestRefusedAfterSilence(t *testing.T) {
	const limit = 300 * time.Millisecond
	began := time.Now()
	var first time.Time
	s := dialing(Config{GiveUp: time.Minute, Refused: limit}, func(context.Context) (net.Conn, error) {
		if time.Since(began) < 2*limit {
			return nil, errors.New("no route yet")
		}
		if first.IsZero() {
			first = time.Now()
		}
		return nil, syscall.ECONNREFUSED
	})
	if _, err := s.connectFirst(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	if took := time.Since(first); took < limit || took > 20*time.Second {
		t.Errorf("ended %v after the first refusal, want %v", took, limit)
	}
}
