package zkconn

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
)

// A packet costs a server more than the read in it. The server takes the packet from the
// connection, passes it from thread to thread, and answers it. ZooKeeper 3.6 and later
// answer many reads in one packet, a multiRead. So mrtq puts many questions about data and
// children into one packet.
//
// Some servers don't know multiRead. One kind answers the first multiRead with an error, one
// closes the connection, and one doesn't answer for as long as a session lasts. From then on
// such a server gets one question in each packet.

// request is one packet to the server: a question, or several in a multiRead.
type request []question

func (r request) many() bool { return len(r) > 1 }

const (
	opMultiRead = 22

	// mostInRequest is how many questions a request has at most. Larger requests
	// hardly make reading faster, and make other clients wait longer.
	mostInRequest = 64
	// wantedReply is how large a request's answer should be at most, in bytes. The
	// size of the next answers is estimated from those before.
	wantedReply = 512 << 10
	// firstAnswer is the estimated size of one answer before the first one came, in
	// bytes.
	firstAnswer = 16 << 10
	// mostCuts is how many connections in a row may break before a multiRead is
	// answered. After that, the server or a proxy counts as one that does not know
	// multiRead and closes the connection because of it.
	mostCuts = 2
)

// inMultiRead reports whether a multiRead can contain the operation.
func inMultiRead(op int32) bool { return op == opGetData || op == opGetChildren }

// newMultiReads returns what is known in a new session. limit is the longest answer that is
// accepted, in bytes. Requests are sized for half of it. So after an answer that was too
// long, the next requests have at most half as many questions.
func newMultiReads(limit int) *multiReads { return &multiReads{wanted: min(wantedReply, limit/2)} }

// multiReads is what is known about how the server answers several questions together.
type multiReads struct {
	wanted int // how large the answer to a request should be at most, in bytes

	mu      sync.Mutex
	alone   bool // every request has one question
	known   bool // the server has answered a multiRead
	cuts    int  // see mostCuts
	average int  // bytes of the answer to one question; 0: none came yet
}

// most returns how many questions with an operation the next request may have.
func (m *multiReads) most(op int32) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alone || !inMultiRead(op) {
		return 1
	}
	return min(max(m.wanted/cmp.Or(m.average, firstAnswer), 1), mostInRequest)
}

// answered notes the size of an answer to this many questions. The average falls slowly, so
// that large znodes among small ones still count.
func (m *multiReads) answered(questions, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cuts, m.known = 0, m.known || questions > 1
	m.average = max(size/questions+1, m.average-m.average/16)
}

// untried reports whether it is still unknown if the server answers multiReads.
func (m *multiReads) untried() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.known && !m.alone
}

// refused notes that the server answered a multiRead with an error, or not at all.
func (m *multiReads) refused() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alone = true
}

// cut notes that a connection broke before a multiRead was answered.
func (m *multiReads) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cuts++; m.cuts >= mostCuts {
		m.alone = true
	}
}

// errAskAgain says that questions were not answered because they were in one request. Ask
// them again in smaller requests.
var errAskAgain = errors.New("the questions were not answered together")

// append appends the request as a packet.
func (r request) append(to []byte, xid int32) []byte {
	start := len(to)
	to = append(to, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint32(to, uint32(xid))
	if len(r) == 1 {
		to = binary.BigEndian.AppendUint32(to, uint32(r[0].op))
		to = r[0].append(to)
	} else {
		to = binary.BigEndian.AppendUint32(to, opMultiRead)
		for _, q := range r {
			to = appendMultiHeader(to, q.multiOp(), false, -1)
			to = q.append(to)
		}
		to = appendMultiHeader(to, -1, true, -1)
	}
	binary.BigEndian.PutUint32(to[start:], uint32(len(to)-start-4))
	return to
}

// append appends the question's request, without a header.
func (q question) append(to []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(q.path)))
	to = append(to, q.path...)
	if q.op != opGetACL {
		to = append(to, 0) // no watch
	}
	return to
}

// opGetNames is getChildren, which returns no Stat. A multiRead can contain only this one.
const opGetNames = 8

// multiOp returns the question's operation in a multiRead.
func (q question) multiOp() int32 {
	if q.op == opGetChildren {
		return opGetNames
	}
	return q.op
}

// appendMultiHeader appends the header of one part of a multi: the operation, whether this
// is the end, and an error code.
func appendMultiHeader(to []byte, op int32, done bool, code int32) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(op))
	if done {
		to = append(to, 1)
	} else {
		to = append(to, 0)
	}
	return binary.BigEndian.AppendUint32(to, uint32(code))
}

// read reads the answer to the request. body has no packet header. read returns nil if the
// answer doesn't match the request.
func (r request) read(code int32, body []byte) []reply {
	if len(r) == 1 {
		return []reply{readAnswer(r[0].op, code, body)}
	}
	if code == codeThrottled {
		return slices.Repeat([]reply{errorReply(code)}, len(r))
	}
	if code != 0 {
		return nil
	}
	d := decoder{rest: body}
	replies := make([]reply, len(r))
	for i, q := range r {
		switch op, _, code := d.multiHeader(); {
		case op == q.multiOp() && code == 0:
			replies[i] = d.answer(q.op)
		case op == -1:
			replies[i] = errorReply(int32(d.uint32()))
		case op == q.multiOp(): // ClickHouse Keeper puts errors into the header of the part
			replies[i] = errorReply(code)
		default:
			return nil
		}
	}
	if _, done, _ := d.multiHeader(); !done || d.bad {
		return nil
	}
	return replies
}

func (d *decoder) multiHeader() (op int32, done bool, code int32) {
	op = int32(d.uint32())
	end := d.take(1)
	return op, len(end) == 1 && end[0] != 0, int32(d.uint32())
}
