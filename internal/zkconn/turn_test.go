package zkconn

import (
	"encoding/binary"
	"net"
	"testing"
)

// writes is a connection that calls f with every packet as it is written.
type writes struct {
	net.Conn
	f func()
}

func (w writes) Write(b []byte) (int, error) {
	w.f()
	return len(b), nil
}

// The turn to write passes when the packet is written, not when Write returns.
// The answer may come before Write returns. The next multi then has the turn,
// and must not lose it to a third multi, which could overtake it.
func TestTurnPassesBeforeTheAnswerCanCome(t *testing.T) {
	s := &session{turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	first := s.takeTurn()
	var second *ticket
	w := &wire{s: s, wrote: true, Conn: writes{f: func() {
		select {
		case <-first.passed:
		default:
			first.pass() // as the answer does
		}
		s.turn <- struct{}{}
		second = s.takeTurn()
	}}}
	packet := binary.BigEndian.AppendUint32(make([]byte, opcodeOffset), opcodeMulti)
	if _, err := w.Write(packet); err != nil {
		t.Fatal(err)
	}
	select {
	case <-second.passed:
		t.Error("the second multi's turn has passed, although it was not written")
	default:
	}
}
