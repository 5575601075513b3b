package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mrtq/internal/zkconn"
)

// probeInterval is how often the harness checks whether a starting server has
// ended.
const probeInterval = 50 * time.Millisecond

// awaitReady returns when it has opened a session with server i at host and
// read /zookeeper. An open port is not enough, because a container's proxy
// accepts connections before the server does.
func (s *Server) awaitReady(ctx context.Context, i int, host string, client Client) error {
	n := s.nodes[i]
	trying, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { // stops trying when the server has ended
		defer close(watched)
		defer stop()
		for n.Ended(trying) == "" {
			select {
			case <-trying.Done():
				return
			case <-time.After(probeInterval):
			}
		}
	}()
	err := withSession(trying, []string{host}, client, func(w *zkconn.Writer) error {
		_, err := w.Get(trying, "/zookeeper")
		return err
	})
	stop()
	<-watched
	if err == nil {
		return nil
	}
	err = fmt.Errorf("harness: server at %s: %w", host, err)
	if how := n.Ended(ctx); how != "" {
		err = fmt.Errorf("harness: %s server %d ended: %s", s.backend, i, how)
	}
	if log := n.LastWords(context.WithoutCancel(ctx)); log != "" {
		err = fmt.Errorf("%w; the end of its log:\n\t%s", err, strings.ReplaceAll(strings.TrimRight(log, "\n"), "\n", "\n\t"))
	}
	return err
}
