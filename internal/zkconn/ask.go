package zkconn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// Reads of znodes, child lists and ACLs bypass the client library. For each
// read the library needs a system call, reflection and two goroutine switches,
// which takes several times as long as the server's work. Here reads go over
// the library's connection, between its own packets, many in one write. Their
// answers are taken out of the stream before the library sees them. The library
// does everything else: connecting, the session, credentials, pings, writes.

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
	err   error // as the library's
}

// batch is a number of questions that are sent together.
type batch struct {
	answers []reply
	left    int           // guarded by asking.mu
	broken  bool          // the connection is broken; set before done is closed
	done    chan struct{} // closed when all questions are answered
}

// ask repeats questions until they are answered. It gives up only if the
// session is over or ctx ends.
func (s *session) ask(ctx context.Context, questions []question) ([]reply, error) {
	var answers []reply
	err := s.untilAnswered(ctx, func() error {
		w, err := s.asked(ctx)
		if err != nil {
			return err
		}
		b := &batch{answers: make([]reply, len(questions)), left: len(questions), done: make(chan struct{})}
		if !w.asking.add(questions, b) {
			return zk.ErrConnectionClosed
		}
		w.asking.send(w)
		select {
		case <-b.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.over:
			return s.fatal
		}
		if b.broken {
			return zk.ErrConnectionClosed
		}
		answers = b.answers
		return nil
	})
	return answers, err
}

// asked is the connection to ask on. The library has had an answer on it, so
// the server has the session's credentials, if there are any.
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
	out    []byte // requests still to be written
	spare  []byte // room for the next
	busy   bool   // a goroutine is writing
}

// place is where to store an answer.
type place struct {
	b  *batch
	i  int
	op int32
}

// The xids of questions go down from firstXid, and start again at the end. The
// library's xids are not negative, and ZooKeeper's own are just below 0.
const firstXid = -1000

// requestHead is the size of a request's header: length, xid, opcode.
const requestHead = 4 + 4 + 4

// add queues questions. It returns false if the connection is closed.
func (a *asking) add(questions []question, b *batch) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	if a.under == nil {
		a.under, a.xid = map[int32]place{}, firstXid
	}
	for i, q := range questions {
		if a.xid--; a.xid == math.MinInt32 {
			a.xid = firstXid
		}
		a.under[a.xid] = place{b, i, q.op}
		a.out = binary.BigEndian.AppendUint32(a.out, uint32(requestHead-4+4+len(q.path)+watchFlag(q.op)))
		a.out = binary.BigEndian.AppendUint32(a.out, uint32(a.xid))
		a.out = binary.BigEndian.AppendUint32(a.out, uint32(q.op))
		a.out = binary.BigEndian.AppendUint32(a.out, uint32(len(q.path)))
		a.out = append(a.out, q.path...)
		if watchFlag(q.op) > 0 {
			a.out = append(a.out, 0)
		}
	}
	return true
}

// watchFlag is the size of the watch flag, which not all requests have.
func watchFlag(op int32) int {
	if op == opGetACL {
		return 0
	}
	return 1
}

// send writes the queued questions. If another goroutine is writing, that one
// writes them.
func (a *asking) send(w *wire) {
	a.mu.Lock()
	if a.busy {
		a.mu.Unlock()
		return
	}
	a.busy = true
	a.mu.Unlock()
	runtime.Gosched() // callers that got answers at the same moment may ask again, in the same write
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

// close fails all questions under way.
func (a *asking) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for xid, p := range a.under {
		delete(a.under, xid)
		if !p.b.broken {
			p.b.broken = true
			close(p.b.done)
		}
	}
}

// answered takes the answer to a question, including the header. It returns
// false if there is no such question.
func (a *asking) answered(packet []byte) bool {
	xid, code := int32(binary.BigEndian.Uint32(packet)), int32(binary.BigEndian.Uint32(packet[4+8:]))
	a.mu.Lock()
	p, asked := a.under[xid]
	a.mu.Unlock()
	if !asked {
		return false
	}
	p.b.answers[p.i] = readAnswer(p.op, code, packet[responseHeaderSize:])
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, open := a.under[xid]; !open {
		return true // closed meanwhile
	}
	delete(a.under, xid)
	if p.b.left--; p.b.left == 0 {
		close(p.b.done)
	}
	return true
}

// errAnswer says that an answer doesn't fit its question.
var errAnswer = errors.New("the server's answer cannot be read")

// The errors that a server answers reads with, by code; see [session.askLibrary]
// for others.
var answerErrors = map[int32]error{0: nil, -101: zk.ErrNoNode, -102: zk.ErrNoAuth}

// otherError is an error that only the library knows.
type otherError int32

func (e otherError) Error() string { return fmt.Sprintf("the server answered with error %d", int32(e)) }

func readAnswer(op, code int32, body []byte) (a reply) {
	if code != 0 {
		known := false
		if a.err, known = answerErrors[code]; !known {
			a.err = otherError(code)
		}
		return a
	}
	d := decoder{rest: body}
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

// count reads the length of a list whose entries have at least the given size.
func (d *decoder) count() int {
	n := int32(d.uint32())
	if int(n) > len(d.rest) {
		d.bad = true
		return 0
	}
	return int(max(n, 0)) // -1 is null
}

// texts returns strings that share one copy.
func (d *decoder) texts() []string {
	all := string(d.rest)
	texts := make([]string, 0, d.count())
	for range cap(texts) {
		n := int(int32(d.uint32()))
		at := len(all) - len(d.rest)
		if d.take(max(n, 0)); d.bad {
			return nil
		}
		texts = append(texts, all[at:at+max(n, 0)])
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
