package main

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"mrtq/internal/jute"
)

// request is a request that changes something, with the bytes of its record.
type request struct {
	op   jute.OpCode
	body []byte
}

// recorder stands between clients and a server. It passes on everything, keeps the
// clients' changes in their order, and measures how long a run's multis took.
type recorder struct {
	listener net.Listener
	server   string

	mu       sync.Mutex
	requests []request
	first    time.Time // when the first multi of a run was sent
	last     time.Time // when the last multi was answered
	conns    []net.Conn
	passing  sync.WaitGroup
}

// record starts a recorder for a server, on a port of its own.
func record(server string) (*recorder, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &recorder{listener: l, server: server}
	r.passing.Go(r.accept)
	return r, nil
}

func (r *recorder) address() string { return r.listener.Addr().String() }

// close ends all connections. It returns the changes, and the time from the first multi
// of a run to the last answer.
func (r *recorder) close() (requests []request, sending time.Duration, err error) {
	err = r.listener.Close()
	r.mu.Lock()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.passing.Wait()
	if r.first.IsZero() || r.last.IsZero() {
		err = errors.Join(err, errors.New("no multi of a run was recorded"))
	}
	return r.requests, r.last.Sub(r.first), err
}

func (r *recorder) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return // it was closed
		}
		server, err := net.Dial("tcp", r.server)
		if err != nil {
			client.Close() // the client reports it
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		p := &passage{recorder: r, waiting: map[int32]request{}}
		r.passing.Go(func() { pass(client, server, p.asked) })
		r.passing.Go(func() { pass(server, client, p.answered) })
	}
}

// pass copies frames until either side ends. It calls look for each of them except the
// first, which opens the session.
func pass(from, to net.Conn, look func(payload []byte)) {
	defer from.Close()
	defer to.Close()
	r, w := bufio.NewReaderSize(from, 64<<10), bufio.NewWriterSize(to, 64<<10)
	var buf []byte
	for n := 0; ; n++ {
		payload, err := jute.ReadFrame(r, buf, 1<<28)
		if err != nil {
			return
		}
		buf = payload
		if n > 0 {
			look(payload)
		}
		if err := send(w, payload, r.Buffered() == 0); err != nil {
			return
		}
	}
}

func send(w *bufio.Writer, payload []byte, flush bool) error {
	if _, err := w.Write(jute.AppendInt(nil, int32(len(payload)))); err != nil {
		return err
	}
	if _, err := w.Write(payload); err != nil || !flush {
		return err
	}
	return w.Flush()
}

// passage is one connection.
type passage struct {
	recorder *recorder
	waiting  map[int32]request // the changes that have no answer yet, by xid
}

// runs is the folder of the migration's runs. Before a run exists, migrate only sends
// what the election needs, and then reads the source.
const runs = "/migration/runs/"

// requestHeaderLen is the width of a [jute.RequestHeader], in bytes.
const requestHeaderLen = 8

func (p *passage) asked(payload []byte) {
	d := jute.NewDecoder(payload)
	h := d.RequestHeader()
	if d.Err() != nil || !h.Op.Changes() || h.Op == jute.OpCloseSession {
		return
	}
	p.recorder.mu.Lock()
	defer p.recorder.mu.Unlock()
	p.waiting[h.Xid] = request{h.Op, slices.Clone(payload[requestHeaderLen:])}
	if h.Op == jute.OpMulti && p.recorder.first.IsZero() && bytes.Contains(payload, []byte(runs)) {
		p.recorder.first = time.Now()
	}
}

// answered keeps a change that has succeeded. The server answers each connection in
// order. Changes of two connections are kept in the order of their answers.
func (p *passage) answered(payload []byte) {
	d := jute.NewDecoder(payload)
	h := d.ReplyHeader()
	p.recorder.mu.Lock()
	defer p.recorder.mu.Unlock()
	req, ok := p.waiting[h.Xid]
	if d.Err() != nil || !ok {
		return
	}
	delete(p.waiting, h.Xid)
	if h.Err == jute.OK {
		p.recorder.requests = append(p.recorder.requests, req)
	}
	if req.op == jute.OpMulti {
		p.recorder.last = time.Now()
	}
}
