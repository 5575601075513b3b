package zkconn

import (
	"context"
	"net"
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
