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
// answer many reads in one packet, a multiRead. So one packet has many questions about data
// and children.
//
// Some servers don't know multiRead. One kind answers the first multiRead with an error, one
// closes the connection, and one doesn't answer for as long as a session lasts. From then on
// such a server gets one question in each packet.

// letter is one packet: a question, or several in a multiRead.
type letter []question

func (l letter) many() bool { return len(l) > 1 }

const (
	opMultiRead = 22

	// mostInLetter is how many questions a letter has at most. Larger letters
	// hardly make reading faster, and make other clients wait longer.
	mostInLetter = 64
	// wantedReply is how large a letter's answer should be at most, in bytes. The
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

// newLetters returns the letters of a new session. limit is the longest answer that is
// accepted, in bytes. Letters are sized for half of it. So after an answer that was too
// long, the next letters have at most half as many questions.
func newLetters(limit int) *letters { return &letters{wanted: min(wantedReply, limit/2)} }

// letters is what is known about how the server answers several questions together.
type letters struct {
	wanted int // how large the answer to a letter should be at most, in bytes

	mu      sync.Mutex
	alone   bool // every letter has one question
	known   bool // the server has answered a multiRead
	cuts    int  // see mostCuts
	average int  // bytes of the answer to one question; 0: none came yet
}

// most returns how many questions with an operation the next letter may have.
func (l *letters) most(op int32) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alone || !inMultiRead(op) {
		return 1
	}
	return min(max(l.wanted/cmp.Or(l.average, firstAnswer), 1), mostInLetter)
}

// answered notes the size of an answer to this many questions. The average falls slowly, so
// that large znodes among small ones still count.
func (l *letters) answered(questions, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts, l.known = 0, l.known || questions > 1
	l.average = max(size/questions+1, l.average-l.average/16)
}

// untried reports whether it is still unknown if the server answers multiReads.
func (l *letters) untried() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.known && !l.alone
}

// refused notes that the server answered a multiRead with an error, or not at all.
func (l *letters) refused() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone = true
}

// cut notes that a connection broke before a multiRead was answered.
func (l *letters) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cuts++; l.cuts >= mostCuts {
		l.alone = true
	}
}

// errAskAgain says that questions were not answered because they were in one letter. Ask
// them again in smaller letters.
var errAskAgain = errors.New("the questions were not answered together")

// append appends the letter as a packet.
func (l letter) append(to []byte, xid int32) []byte {
	start := len(to)
	to = append(to, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint32(to, uint32(xid))
	if len(l) == 1 {
		to = binary.BigEndian.AppendUint32(to, uint32(l[0].op))
		to = l[0].append(to)
	} else {
		to = binary.BigEndian.AppendUint32(to, opMultiRead)
		for _, q := range l {
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

// read reads the answer to the letter. body has no packet header. read returns nil if the
// answer doesn't match the letter.
func (l letter) read(code int32, body []byte) []reply {
	if len(l) == 1 {
		return []reply{readAnswer(l[0].op, code, body)}
	}
	if code == codeThrottled {
		return slices.Repeat([]reply{errorReply(code)}, len(l))
	}
	if code != 0 {
		return nil
	}
	d := decoder{rest: body}
	replies := make([]reply, len(l))
	for i, q := range l {
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
