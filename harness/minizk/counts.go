package minizk

import (
	"maps"

	"mrtq/harness/minizk/wire"
)

// Counts are requests since the start or the last ResetCounts, successful or not. A multi is one.
type Counts struct {
	// Reads are requests that cannot change the tree; pings, auth and the opening and
	// closing of sessions are neither reads nor writes.
	Reads int64
	// Writes are requests that could have changed the tree, so that 0 proves a client
	// harmless.
	Writes int64
	// Failed are those of either that were answered with an error.
	Failed int64
	// ByOp counts everything, pings too.
	ByOp map[wire.OpCode]int64
}

// counts is guarded by Server.mu.
type counts struct{ Counts }

func (c *counts) add(op wire.OpCode, code wire.Code) {
	if c.ByOp == nil {
		c.ByOp = map[wire.OpCode]int64{}
	}
	c.ByOp[op]++
	switch op {
	case wire.OpPing, wire.OpAuth, wire.OpSasl, wire.OpCloseSession:
		return
	}
	if op.Changes() {
		c.Writes++
	} else {
		c.Reads++
	}
	if code != wire.OK {
		c.Failed++
	}
}

// Counts returns what clients have asked for.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts.Counts
	c.ByOp = maps.Clone(c.ByOp)
	return c
}

// ResetCounts starts counting anew.
func (s *Server) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts = counts{}
}
