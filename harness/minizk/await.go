package minizk

import (
	"context"
	"fmt"

	"mrtq/internal/jute"
)

// AwaitWatch waits until a client has a watch on exactly this path, of any kind. A test needs it if another goroutine sets the
// watch. The error says that ctx has ended, or is [ErrClosed].
func (s *Server) AwaitWatch(ctx context.Context, path string) error {
	for {
		s.mu.Lock()
		if s.db.CheckWatch(&jute.Request{Path: path, Kind: jute.WatcherAny}) == nil {
			s.mu.Unlock()
			return nil
		}
		if s.watched == nil {
			s.watched = make(chan struct{})
		}
		next := s.watched
		s.mu.Unlock()
		select {
		case <-next:
		case <-s.quit:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("minizk: no client watches %s: %w", path, context.Cause(ctx))
		}
	}
}
