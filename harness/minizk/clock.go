package minizk

import (
	"time"

	"mrtq/internal/jute"
)

// clock is a clock that the test moves, or the machine's. Server.mu guards it.
type clock struct {
	real bool
	at   time.Time // what a manual clock shows
}

func (c *clock) now() time.Time {
	if c.real {
		return time.Now()
	}
	return c.at
}

// Advance moves a manual clock forward by d. Before it returns, it expires the sessions that have
// been silent for longer than their timeout, in the order of their deadlines. It also removes the
// container and TTL nodes that are due, as often as Options.ContainerInterval says.
//
// The session of a connected client expires too, because the client pings by another clock. To keep
// the session, advance in steps no longer than its timeout, and let the client send something between
// them. A stopped server's clock moves, but
// nothing expires before Restart. With Options.RealTime Advance panics, because that is a mistake
// in the test.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock.real {
		panic("minizk: Advance on a server with Options.RealTime")
	}
	s.clock.at = s.clock.at.Add(d)
	s.tick()
}

// handshakePatience is how long a connection may have no session. A real server's property
// zookeeper.nio.sessionlessCnxnTimeout has the same default.
const handshakePatience = 10 * time.Second

// tick does everything that is due. The caller holds mu.
func (s *Server) tick() {
	if !s.running {
		return // stopped: Restart starts all timeouts again
	}
	now := s.clock.now()
	for _, ss := range s.sessions.due(now) {
		s.endSession(ss, "expired")
	}
	for ; !now.Before(s.nextReap); s.nextReap = s.nextReap.Add(s.opt.ContainerInterval) {
		if s.reap(now) == 0 {
			// The other rounds until now would find nothing either.
			s.nextReap = now.Add(-now.Sub(s.nextReap) % s.opt.ContainerInterval)
		}
	}
	for c := range s.open {
		if c.session == nil && now.Sub(c.since) > handshakePatience {
			c.out.abort()
		}
	}
}

// reap removes the container and TTL nodes that are due, and returns how many. If a container
// loses its last child in this round, the next round removes it. The caller holds mu.
func (s *Server) reap(now time.Time) int {
	due := s.db.Due(now.UnixMilli())
	for _, path := range due {
		tx := s.nextTx()
		s.db.Reap(tx, path)
		s.log.add(Entry{At: now, Op: jute.OpDeleteContainer, Path: path, Zxid: tx.Zxid})
	}
	return len(due)
}

// realGrain is how often a server with a real clock looks for what is due. A session may expire
// this much late.
const realGrain = 50 * time.Millisecond

func (s *Server) passTime() {
	t := time.NewTicker(realGrain)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-t.C:
			s.mu.Lock()
			s.tick()
			s.mu.Unlock()
		}
	}
}
