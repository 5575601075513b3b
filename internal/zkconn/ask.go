package zkconn

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Reads of znodes, child lists and ACLs bypass the client library. For each read the
// library needs a system call, reflection and two goroutine switches, which takes several
// times as long as the server's work. The code here sends reads over the library's
// connection, between the library's packets. It puts many reads in one write. If the server
// supports it, it also puts many in one packet (see [request]). It removes the answers from the
// stream before the library sees them. The library does everything else: connecting, the
// session, credentials, pings, writes.

// question is one read.
type question struct {
	op   int32
	path string // on the server
}

// The operations of questions, with the protocol's numbers.
const (
	opGetData     = 4
	opGetACL      = 6
	opGetChildren = 12 // getChildren2, which also returns the Stat
)

// reply is the answer to a question, or an error.
type reply struct {
	data  []byte
	stat  znode.Stat
	names []string
	acl   []znode.ACL
	err   error // the error that the library would return
}

// batch is some requests that are sent together.
type batch struct {
	requests []request
	answers  [][]reply     // by request
	left     int           // requests without an answer; guarded by asking.mu
	broken   bool          // the connection is broken; set before done is closed
	done     chan struct{} // closed when all requests are answered
}

// askInTurn asks questions when the session's pace allows it. With an error it returns the
// answers that came before.
func (s *session) askInTurn(ctx context.Context, questions []question) (answers []reply, err error) {
	for len(answers) < len(questions) {
		left := questions[len(answers):]
		most, gate := s.multiReads.most(left[0].op), s.reads
		if most > 1 && len(left) > 1 {
			gate = s.manyReads
		}
		var some []request
		var costs []int
		for r := range slices.Chunk(left, most) {
			some, costs = append(some, r), append(costs, len(r))
		}
		err := gate.PassAll(ctx, costs, func(from, to int) error {
			got, err := s.ask(ctx, some[from:to])
			answers = append(answers, got...)
			return err
		})
		if err != nil && !errors.Is(err, errAskAgain) {
			return answers, err
		}
	}
	return answers, nil
}

// ask sends requests until they are answered. It gives up if the session is over or ctx
// ends. If the server can't answer a request as it is, ask returns [errAskAgain] and the
// answers before that request.
func (s *session) ask(ctx context.Context, some []request) (answers []reply, err error) {
	got := make([][]reply, len(some))
	err = s.untilAnswered(ctx, func() error { return s.askOnce(ctx, some, got) })
	for _, a := range got {
		if a == nil {
			break
		}
		answers = append(answers, a...)
	}
	return answers, err
}

// askOnce sends the requests that have no answer in got yet, and adds their answers to got.
func (s *session) askOnce(ctx context.Context, some []request, got [][]reply) error {
	w, err := s.asked(ctx)
	if err != nil {
		return err
	}
	var which []int
	var left []request
	for i, a := range got {
		if a == nil {
			which, left = append(which, i), append(left, some[i])
		}
	}
	b := &batch{requests: left, answers: make([][]reply, len(left)), left: len(left), done: make(chan struct{})}
	if !w.asking.add(b) {
		return zk.ErrConnectionClosed
	}
	w.asking.send(w)
	var silent <-chan time.Time
	if s.multiReads.untried() && slices.ContainsFunc(left, request.many) {
		t := time.NewTimer(s.cfg.SessionTimeout)
		defer t.Stop()
		silent = t.C
	}
	for waits := true; waits; {
		select {
		case <-b.done:
			waits = false
		case <-silent:
			if s.multiReads.untried() {
				s.multiReads.refused()
				w.Close()
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.over:
			return s.fatal
		}
	}
	if b.broken {
		if slices.ContainsFunc(left, func(r request) bool { return len(r) > s.multiReads.most(r[0].op) }) {
			return errAskAgain
		}
		return zk.ErrConnectionClosed
	}
	for i, a := range b.answers {
		switch {
		case a == nil:
			err = errAskAgain
		case throttled(a[0].err):
			err = cmp.Or(err, a[0].err)
		default:
			got[which[i]] = a
		}
	}
	return err
}

// asked returns the connection for questions. The library has had an answer on it, so
// the server has the session's credentials.
func (s *session) asked(ctx context.Context) (*wire, error) {
	for {
		s.mu.Lock()
		w, fatal := s.wire, s.fatal
		ready := w.asking.ready || s.connected && len(s.cfg.Auth) == 0
		s.mu.Unlock()
		if fatal != nil {
			return nil, fatal
		}
		if ready {
			return w, nil
		}
		if _, err := s.attempt(ctx, func() error {
			_, _, err := s.conn.Exists("/")
			return err
		}); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if s.wire == w {
			w.asking.ready = true
		}
		s.mu.Unlock()
	}
}

// asking are the questions under way on one connection.
type asking struct {
	ready bool // see [session.asked]; guarded by session.mu

	mu     sync.Mutex
	closed bool
	xid    int32 // of the last question, see firstXid
	under  map[int32]place
	out    []byte // requests that are not written yet
	spare  []byte // a buffer for the next requests
	busy   bool   // a goroutine is writing
}

// place is where the answer to a request is stored.
type place struct {
	b *batch
	i int // the index of the request in the batch
}

// Requests with questions use the xids below firstXid, downwards. After the smallest they start
// again. The library's xids are not negative, and ZooKeeper's own are just below 0.
const firstXid = -1000

// add queues a batch. It returns false if the connection is closed.
func (a *asking) add(b *batch) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	if a.under == nil {
		a.under, a.xid = map[int32]place{}, firstXid
	}
	for i, r := range b.requests {
		if a.xid--; a.xid == math.MinInt32 {
			a.xid = firstXid - 1
		}
		a.under[a.xid] = place{b, i}
		a.out = r.append(a.out, a.xid)
	}
	return true
}

// send writes the queued requests. If another goroutine is writing, that one writes them.
func (a *asking) send(w *wire) {
	a.mu.Lock()
	if a.busy {
		a.mu.Unlock()
		return
	}
	a.busy = true
	a.mu.Unlock()
	runtime.Gosched() // so that callers which got answers at the same moment can add their next questions
	for {
		a.mu.Lock()
		out := a.out
		if len(out) == 0 || a.closed {
			a.busy = false
			a.mu.Unlock()
			return
		}
		a.out, a.spare = a.spare[:0], nil
		a.mu.Unlock()
		if err := w.write(out); err != nil {
			w.Close()
		}
		a.mu.Lock()
		a.spare = out
		a.mu.Unlock()
	}
}

// close fails all requests under way.
func (a *asking) close(m *multiReads) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, p := range a.under {
		if p.b.requests[p.i].many() {
			m.cut() // before a caller asks again
			break
		}
	}
	for xid, p := range a.under {
		delete(a.under, xid)
		if !p.b.broken {
			p.b.broken = true
			close(p.b.done)
		}
	}
}

// answered stores the answer to a request. packet includes the header. answered returns
// false if it answers no request.
func (a *asking) answered(packet []byte, m *multiReads) bool {
	xid, code := int32(binary.BigEndian.Uint32(packet)), int32(binary.BigEndian.Uint32(packet[4+8:]))
	a.mu.Lock()
	p, asked := a.under[xid]
	a.mu.Unlock()
	if !asked {
		return false
	}
	asks := p.b.requests[p.i]
	answer := asks.read(code, packet[responseHeaderSize:])
	if answer == nil {
		m.refused()
	} else {
		m.answered(len(asks), len(packet))
	}
	a.store(xid, answer)
	return true
}

// tooLong reports whether to skip an answer that is longer than the limit. It skips the
// answer to several questions, and notes that their request has no answer, because the
// answers may be short enough one by one.
func (a *asking) tooLong(xid int32, size int, m *multiReads) bool {
	a.mu.Lock()
	p, asked := a.under[xid]
	a.mu.Unlock()
	if !asked || !p.b.requests[p.i].many() {
		return false
	}
	m.answered(len(p.b.requests[p.i]), size)
	a.store(xid, nil)
	return true
}

// store stores the answer to a request. nil means that the server can't answer the request
// as it is.
func (a *asking) store(xid int32, answer []reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, open := a.under[xid]
	if !open {
		return // the connection was closed meanwhile
	}
	p.b.answers[p.i] = answer
	delete(a.under, xid)
	if p.b.left--; p.b.left == 0 {
		close(p.b.done)
	}
}

// errAnswer says that an answer doesn't match its question.
var errAnswer = errors.New("the server's answer cannot be read")

// answerErrors are the errors that a server answers reads with, by code. See [otherError]
// for all others.
var answerErrors = map[int32]error{0: nil, -101: zk.ErrNoNode, -102: zk.ErrNoAuth, codeThrottled: errThrottledOp}

// codeThrottled is ZooKeeper's THROTTLEDOP. Servers from 3.6 on can answer with it.
const codeThrottled = -127

// errThrottledOp is the library's error for codeThrottled.
var errThrottledOp = fmt.Errorf("unknown error: %d", codeThrottled)

// otherError is an error that only the library can convert. So the question is asked again
// through the library; see [Reader.askAll].
type otherError int32

func (e otherError) Error() string { return fmt.Sprintf("the server answered with error %d", int32(e)) }

// errorReply returns a reply with the error that has this code.
func errorReply(code int32) reply {
	err, known := answerErrors[code]
	if !known {
		err = otherError(code)
	}
	return reply{err: err}
}

func readAnswer(op, code int32, body []byte) reply {
	if code != 0 {
		return errorReply(code)
	}
	d := decoder{rest: body}
	return d.answer(op)
}

// answer reads the answer to a question.
func (d *decoder) answer(op int32) (a reply) {
	switch op {
	case opGetData:
		a.data = d.bytes()
		a.stat = d.stat()
	case opGetChildren:
		a.names = d.texts()
	case opGetACL:
		for range d.count() {
			a.acl = append(a.acl, znode.ACL{Perms: int32(d.uint32()), Scheme: string(d.bytes()), ID: string(d.bytes())})
		}
	}
	if d.bad {
		return reply{err: errAnswer}
	}
	return a
}

// decoder reads ZooKeeper's encoding: big-endian numbers, and a length before
// each string, buffer and list.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// bytes returns a copy, nil for null.
func (d *decoder) bytes() []byte {
	n := int32(d.uint32())
	if n == -1 || d.bad {
		return nil
	}
	return append([]byte{}, d.take(int(n))...)
}

// count reads the length of a list. Each entry has at least one byte.
func (d *decoder) count() int {
	n := int32(d.uint32())
	if int(n) > len(d.rest) {
		d.bad = true
		return 0
	}
	return int(max(n, 0)) // -1 is null
}

// texts returns a list of strings. They share one copy of the data.
func (d *decoder) texts() []string {
	list := *d
	n := d.count()
	for range n {
		d.take(int(max(int32(d.uint32()), 0)))
	}
	if d.bad {
		return nil
	}
	list.rest = list.rest[:len(list.rest)-len(d.rest)]
	all := string(list.rest)
	texts := make([]string, list.count())
	for i := range texts {
		size := int(max(int32(list.uint32()), 0))
		at := len(all) - len(list.rest)
		list.take(size)
		texts[i] = all[at : at+size]
	}
	return texts
}

func (d *decoder) stat() (s znode.Stat) {
	s.Czxid, s.Mzxid, s.Ctime, s.Mtime = d.int64(), d.int64(), d.int64(), d.int64()
	s.Version, s.Cversion, s.Aversion = int32(d.uint32()), int32(d.uint32()), int32(d.uint32())
	s.EphemeralOwner = d.int64()
	s.DataLength, s.NumChildren = int32(d.uint32()), int32(d.uint32())
	s.Pzxid = d.int64()
	return s
}
