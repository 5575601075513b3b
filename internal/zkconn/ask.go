package zkconn

import (
	"context"
	"errors"
	"sync"

	"mrtq/internal/jute"
	"mrtq/internal/part"
	"mrtq/internal/znode"
)

// A packet costs a server more than the read in it. The server takes the packet from the
// connection, passes it from thread to thread, and answers it. ZooKeeper 3.6 and later
// answer many reads of data and children in one packet, a multiRead.
//
// Some servers don't know multiRead. One kind answers the first multiRead with an error, one
// closes the connection, and one doesn't answer. From then on
// such a server gets one read in each packet.

const (
	// window is how many znodes are read at once, by all calls of a session: four full
	// packets, or that many packets of one small read. With 64, it took half as long again
	// to read 180,000 znodes from a server on a JVM, with 512 and 1024 as long as with 256.
	// It was similar with the embedded server.
	window = 4 * int64(mostInPacket)
	// mostInPacket is how many reads a packet has at most. With 16, the same took twice as
	// long. Larger packets hardly make it faster, and make other clients wait longer.
	mostInPacket part.Size = 64
	// mostCuts is how many connections in a row may break before a multiRead is
	// answered. After that, the server or a proxy counts as one that does not know
	// multiRead and closes the connection because of it.
	mostCuts = 2
)

// multiReadState is what a session knows about how the server answers multiReads. The zero
// value means that nothing is known.
type multiReadState struct {
	mu    sync.Mutex
	alone bool // every packet has one read
	known bool // the server has answered a multiRead
	cuts  int  // see mostCuts
}

func (m *multiReadState) most(op jute.OpCode) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alone || op != jute.OpGetData && op != jute.OpGetChildren {
		return 1
	}
	return mostInPacket.N()
}

func (m *multiReadState) answered(reads int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cuts, m.known = 0, m.known || reads > 1
}

func (m *multiReadState) untried() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.known && !m.alone
}

func (m *multiReadState) refused() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alone = true
}

// cut notes that a connection broke before a multiRead was answered, perhaps because the server was silent.
func (m *multiReadState) cut(silent bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cuts++; m.cuts >= mostCuts || silent && !m.known {
		m.alone = true
	}
}

// errSmaller says that reads were not answered because they were in one packet. They can
// be repeated in smaller packets.
var errSmaller = errors.New("the reads were not answered together")

type readRequest struct {
	op    jute.OpCode
	paths []string
	// answer gets the record about paths[i], or the server's error. It may get it again, from
	// another packet. Its error ends the question.
	answer func(i int, record *jute.Decoder, err error) error
}

func (r *Reader) ask(ctx context.Context, q readRequest) error {
	for _, path := range q.paths {
		if err := znode.ValidatePath(path); err != nil {
			return err
		}
	}
	return r.askSome(ctx, q, 0, len(q.paths), mostInPacket.N())
}

// askSome asks about the paths from one index to before another. No packet has more reads
// than most. The session's first packet of many is sent alone, because nothing is known
// about the server and the znodes yet.
func (r *Reader) askSome(ctx context.Context, q readRequest, from, to, most int) error {
	var calls []*call
	sent := from
	for trying := false; sent < to && !trying; {
		c := r.readCall(q.op, q.paths[sent:min(sent+min(r.s.many.most(q.op), most), to)])
		if err := r.s.sendRead(ctx, c); err != nil {
			return &pathError{op: says[q.op], path: q.paths[sent], err: err}
		}
		calls = append(calls, c)
		sent += c.reads
		trying = c.reads > 1 && r.s.many.untried()
	}
	for _, c := range calls {
		next := from + c.reads
		err := r.s.untilAnswered(ctx, func() error {
			if c == nil { // not the first attempt
				if next-from > r.s.many.most(q.op) {
					return errSmaller
				}
				c = r.readCall(q.op, q.paths[from:next])
				if err := r.s.sendRead(ctx, c); err != nil {
					return err
				}
			}
			answered := c
			c = nil
			return r.s.readAnswers(ctx, q, from, answered)
		})
		switch {
		case errors.Is(err, errSmaller):
			err = r.askSome(ctx, q, from, next, max((next-from)/2, 1))
		case err != nil && !errors.As(err, new(*pathError)):
			err = &pathError{op: says[q.op], path: q.paths[from], err: err}
		}
		if err != nil {
			return err
		}
		from = next
	}
	if sent < to {
		return r.askSome(ctx, q, sent, to, most)
	}
	return nil
}

func (r *Reader) readCall(op jute.OpCode, paths []string) *call {
	const header = 9 + 4 + 1 // of a part, with the length of the path and the watch
	size := header
	for _, path := range paths {
		size += header + len(r.at.Chroot) + len(path)
	}
	if len(paths) == 1 {
		return newCall(r.appendRead(newPacket(op, size), op, paths[0]), 1)
	}
	b := newPacket(jute.OpMultiRead, size)
	for _, path := range paths {
		b = r.appendRead(jute.AppendMultiHeader(b, jute.MultiHeader{Op: op, Err: -1}), op, path)
	}
	return newCall(jute.AppendMultiEnd(b), len(paths))
}

// appendRead appends the record of a read. None sets a watch.
func (r *Reader) appendRead(b []byte, op jute.OpCode, path string) []byte {
	b = r.at.appendAbs(b, path)
	if op == jute.OpGetACL || op == jute.OpSync {
		return b
	}
	return jute.AppendBool(b, false)
}

// sendRead sends a request that reads some znodes, when the window and the limit allow it.
func (s *session) sendRead(ctx context.Context, c *call) error {
	if err := pace(ctx, s.cfg.Limiter, c.reads); err != nil {
		return err
	}
	end := s.begin()
	err := s.window.Acquire(ctx, int64(c.reads))
	end(err != nil) // otherwise an answer is waited for next
	if err != nil {
		return context.Cause(ctx)
	}
	if err := s.send(ctx, c); err != nil {
		s.window.Release(int64(c.reads))
		return err
	}
	return nil
}

// done gives a call back to the caller that waits for it, and its part of the window to
// the next one.
func (s *session) done(c *call) {
	s.window.Release(int64(c.reads))
	close(c.done)
}

// readAnswers waits for the answer to a packet, whose first path has the index from, and
// gives it to the question. The error is [errSmaller] if the server can't answer the packet
// as it is, and temporary if it may answer it the next time.
func (s *session) readAnswers(ctx context.Context, q readRequest, from int, c *call) error {
	err := s.wait(ctx, c)
	switch {
	case errors.As(err, new(*ResponseTooLargeError)) && c.reads > 1:
		return errSmaller
	case err != nil:
		return err
	case temporary(codeError(c.code)):
		return codeError(c.code)
	}
	s.many.answered(c.reads)
	if c.reads == 1 {
		return q.readOne(from, c)
	}
	matches, err := q.readMany(from, c)
	if !matches {
		s.many.refused()
		return errSmaller
	}
	return err
}

func (q readRequest) readOne(i int, c *call) error {
	d := jute.NewDecoder(c.body)
	if err := q.take(i, d, c.code); err != nil {
		return err
	}
	if c.code == jute.OK && d.Err() != nil {
		return errAnswer
	}
	return nil
}

func (q readRequest) readMany(from int, c *call) (matches bool, err error) {
	if c.code != jute.OK {
		return false, nil
	}
	d := jute.NewDecoder(c.body)
	for i := from; i < from+c.reads; i++ {
		h := d.MultiHeader()
		switch {
		case h.Op == jute.OpError:
			h.Err = jute.Code(d.Int("err"))
		case h.Op != q.op: // ClickHouse Keeper has q.op there with an error, too
			return false, nil
		}
		if err := q.take(i, d, h.Err); err != nil && d.Err() == nil {
			return true, err
		}
	}
	return d.MultiHeader().Done && d.Err() == nil, nil
}

func (q readRequest) take(i int, record *jute.Decoder, code jute.Code) error {
	if err := q.answer(i, record, codeError(code)); err != nil {
		return &pathError{op: says[q.op], path: q.paths[i], err: err}
	}
	return nil
}

var says = map[jute.OpCode]string{
	jute.OpGetData: "get", jute.OpGetChildren: "list", jute.OpGetChildren2: "list", jute.OpGetACL: "get the ACL of",
	jute.OpExists: "exists", jute.OpSync: "sync",
}
