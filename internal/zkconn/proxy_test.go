package zkconn_test

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"mrtq/internal/jute"
)

type proxy struct {
	listener net.Listener
	target   string
	wg       sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	accepted int
	refusing bool          // connections are closed as soon as they are accepted
	stalled  chan struct{} // until it is closed, no packet passes; nil: not stalled
	rule     func(packet) action
	seen     []packet // requests
	// change, if not nil, returns what the client gets instead of an answer. It is
	// never called concurrently.
	change func(request, answer packet) (body []byte)
}

type packet struct {
	answer bool
	body   []byte
}

func (p packet) opcode() int {
	if p.answer || len(p.body) < 8 || len(p.body) == 45 && p.xid() == 0 {
		return -1
	}
	return int(int32(binary.BigEndian.Uint32(p.body[4:])))
}

func (p packet) xid() int32 { return int32(binary.BigEndian.Uint32(p.body)) }

type action int

const (
	pass action = iota
	cutBefore
	cutWithin
	cutAfter
	swallow // without closing the connection
)

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	p := &proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.stall(false)
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.accepted++
		refusing := p.refusing
		p.mu.Unlock()
		if refusing {
			client.Close()
			continue
		}
		up, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[up] = true, true
		p.mu.Unlock()
		p.wg.Go(func() { p.pump(client, up, false) })
		p.wg.Go(func() { p.pump(up, client, true) })
	}
}

func (p *proxy) pump(from, to net.Conn, answer bool) {
	defer p.drop(from, to)
	for {
		var length [4]byte
		if _, err := io.ReadFull(from, length[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		p.mu.Lock()
		pkt, stalled, rule := packet{answer, body}, p.stalled, p.rule
		if !answer {
			p.seen = append(p.seen, pkt)
		}
		f := pass
		if rule != nil {
			f = rule(pkt)
		}
		if answer && p.change != nil {
			body = p.change(p.requestOf(pkt), pkt)
			binary.BigEndian.PutUint32(length[:], uint32(len(body)))
		}
		p.mu.Unlock()
		if stalled != nil {
			<-stalled
		}
		whole := append(length[:], body...)
		switch f {
		case cutBefore:
			return
		case cutWithin:
			to.Write(whole[:len(whole)/2])
			return
		case swallow:
			continue
		}
		if _, err := to.Write(whole); err != nil || f == cutAfter {
			return
		}
	}
}

func (p *proxy) requestOf(answer packet) packet {
	for _, request := range slices.Backward(p.seen) {
		if request.xid() == answer.xid() {
			return request
		}
	}
	return packet{}
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// refuse makes the proxy close every connection, current and new, as a server
// without a quorum does.
func (p *proxy) refuse(on bool) {
	p.mu.Lock()
	p.refusing = on
	p.mu.Unlock()
	if on {
		p.cut()
	}
}

func (p *proxy) stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
	if on {
		p.stalled = make(chan struct{})
	}
}

// decide sets the rule for packets. rule is never called concurrently.
func (p *proxy) decide(rule func(packet) action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

func (p *proxy) changeAnswers(change func(request, answer packet) []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

func always(f action, match func(packet) bool) func(packet) action {
	return func(p packet) action {
		if match(p) {
			return f
		}
		return pass
	}
}

func of(op jute.OpCode) func(packet) bool {
	return func(p packet) bool { return p.opcode() == int(op) }
}

var isMulti, isMultiRead = of(jute.OpMulti), of(jute.OpMultiRead)

func (p *proxy) requests() []packet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]packet(nil), p.seen...)
}

// connect is what a connect request says: the newest transaction that the session has
// seen, and the session, 0 for a new one.
type connect struct{ seen, session int64 }

func (p *proxy) connects() (all []connect) {
	for _, r := range p.requests() {
		if r.opcode() == -1 {
			all = append(all, connect{int64(binary.BigEndian.Uint64(r.body[4:])), int64(binary.BigEndian.Uint64(r.body[16:]))})
		}
	}
	return all
}

func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}
