package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mrtq/internal/zkconn"
)

// probeInterval is how often the harness checks whether a starting server has
// ended.
const probeInterval = 50 * time.Millisecond

// endedError says that a server ended before it was ready.
type endedError struct{ error }

// awaitReady returns when it has opened a session with server i at host and
// read /zookeeper. An open port is not enough, because a container's proxy
// accepts connections before the server does.
func (s *Server) awaitReady(ctx context.Context, i int, host string, client Client) error {
	n := s.nodes[i]
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		for state := ""; state == ""; state = n.Ended(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(probeInterval):
			}
		}
		cancel(endedError{withLog(fmt.Errorf("harness: %s server %d ended: %s", s.backend, i, n.Ended(ctx)), n.LastWords(ctx))})
	}()

	err := withSession(ctx, []string{host}, client, func(w *zkconn.Writer) error {
		_, err := w.Get(ctx, "/zookeeper")
		return err
	})
	if err == nil {
		return nil
	}
	if ended := (endedError{}); errors.As(context.Cause(ctx), &ended) {
		return ended
	}
	return withLog(fmt.Errorf("harness: server at %s: %w", host, err), n.LastWords(context.WithoutCancel(ctx)))
}
