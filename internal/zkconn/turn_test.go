package zkconn

import (
	"encoding/binary"
	"net"
	"testing"
)

// writes is a connection on which f sees every packet as it is written.
type writes struct {
	net.Conn
	f func()
}

func (w writes) Write(b []byte) (int, error) {
	w.f()
	return len(b), nil
}

// The turn to write passes with the packet and not after it: the answer may come
// before Write returns, and the multi that then has the turn must not lose it to
// a third, which could overtake.
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
		t.Error("the second multi's turn has passed, and it was not written")
	default:
	}
}
