package minizk

import (
	"maps"

	"mrtq/internal/jute"
)

// Counts says how many requests clients have sent since the start or the last ResetCounts,
// successful or not. A multi counts as one request.
type Counts struct {
	// Reads are requests that cannot change the tree. Pings, auth, and opening and
	// closing sessions are neither reads nor writes.
	Reads int64
	// Writes are requests that could have changed the tree. 0 proves that no client wrote
	// anything.
	Writes int64
	// ByOp counts all requests by kind, pings too.
	ByOp map[jute.OpCode]int64
}

func (c *Counts) add(op jute.OpCode) {
	if c.ByOp == nil {
		c.ByOp = map[jute.OpCode]int64{}
	}
	c.ByOp[op]++
	switch op {
	case jute.OpPing, jute.OpAuth, jute.OpSasl, jute.OpCloseSession:
		return
	}
	if op.Changes() {
		c.Writes++
	} else {
		c.Reads++
	}
}

// Counts returns how many requests clients have sent. The caller may change its map.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.ByOp = maps.Clone(c.ByOp)
	return c
}

// ResetCounts sets all counts to 0.
func (s *Server) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = Counts{}
}
