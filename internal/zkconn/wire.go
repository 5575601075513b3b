package zkconn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// wire is one TCP or TLS connection under the client library. It is needed
// because the library does not do what this package promises:
//
//   - It has no call that sends a multi and returns before the answer. So the wire
//     reports when a multi is written (see [Writer.Start]).
//   - It allocates as much memory as a packet's length says, and panics on a packet
//     shorter than its header. So the wire checks the lengths first.
//   - It waits more than a minute for the answer to its first packet.
//   - It only logs why a handshake failed.
//   - After a reconnection it asks for its watches again, and names the newest
//     transaction that it has seen. One goroutine reads that number while another
//     one sets it. That is a data race, and a watch can miss a change. So the wire
//     keeps the number, and the library's stays 0 (see [wire.keepTransaction]).
//
// The wire also carries reads that bypass the library; see [asking].
//
// The library reads and writes from one goroutine each.
type wire struct {
	net.Conn
	s         *session
	in        *bufio.Reader // the library reads each length by itself
	address   string        // as dialed
	handshake *time.Timer

	wrote   bool       // the first packet, the connect request, was written
	seen    int64      // the newest transaction before this connection
	writing sync.Mutex // held while a packet, or several, are written
	asking  asking

	frame  frame
	opened atomic.Bool // the first frame, the connect response, has come
	// The library's last limit for a read, and when it was set.
	patience time.Duration
	since    time.Time
}

const (
	// A request packet begins with length, xid and opcode, 4 bytes each, big-endian.
	opcodeOffset     = 4 + 4
	opcodeMulti      = 14
	opcodeSetWatches = 101

	// A connect response has protocol, timeout, session, password (16 bytes) and
	// perhaps a flag, which makes 36 or 37 bytes. Every other answer begins with a
	// header of xid, zxid and error.
	minConnectResponse, maxConnectResponse = 36, 64
	responseHeaderSize                     = 4 + 8 + 4

	// Two requests name the newest transaction that the client has seen: a connect
	// request after length and protocol, 4 bytes each, and a request to set watches
	// again after length, xid and opcode.
	connectSeenOffset = 4 + 4
	watchesSeenOffset = 4 + 4 + 4

	// An answer has length and xid, 4 bytes each, before the server's newest
	// transaction.
	zxidOffset = 4 + 4

	// readAhead is enough for the answers to all requests of a pipeline.
	readAhead = 128 << 10
)

func newWire(conn net.Conn, s *session, address string) *wire {
	w := &wire{Conn: conn, s: s, address: address, in: bufio.NewReaderSize(conn, readAhead)}
	w.handshake = time.AfterFunc(s.patience(), func() {
		s.silent()
		w.unanswered(errors.New("no answer to the handshake"))
		w.Close()
	})
	return w
}

// Close closes the connection. It also ends the wait for a handshake and for answers.
func (w *wire) Close() error {
	w.handshake.Stop()
	err := w.Conn.Close()
	w.asking.close(w.s.multiReads)
	return err
}

// Write writes one packet. If that fails, it closes the connection and returns no error.
// With an error, the library would answer the request twice, and that deadlocks it while it
// resends credentials.
func (w *wire) Write(b []byte) (int, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	size := len(b)
	switch {
	case !w.wrote:
		w.seen = w.s.seen.Load()
		b = withSeen(b, connectSeenOffset, w.seen)
	case len(b) < opcodeOffset+4:
	case binary.BigEndian.Uint32(b[opcodeOffset:]) == opcodeMulti:
		// Call it before the write. After the write, the answer may have come, and
		// the next multi may already have the turn. The next packet can't overtake
		// this one, because it waits for this call of Write.
		w.s.multiWritten()
	case binary.BigEndian.Uint32(b[opcodeOffset:]) == opcodeSetWatches:
		// The watches must not miss what changed before the first answers on this
		// connection, which may have come already.
		b = withSeen(b, watchesSeenOffset, w.seen)
	}
	if _, err := w.Conn.Write(b); err != nil {
		w.failed(err)
		w.Close()
	}
	w.wrote = true
	return size, nil
}

// withSeen returns the request with the newest transaction that was seen, in place of the
// library's 0. A server whose data are older then refuses to connect, and watches that are
// set again fire because of later changes.
func withSeen(request []byte, offset int, seen int64) []byte {
	if len(request) < offset+8 {
		return request
	}
	request = bytes.Clone(request)
	binary.BigEndian.PutUint64(request[offset:], uint64(seen))
	return request
}

// write writes packets that are not from the library.
func (w *wire) write(b []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.Conn.Write(b)
	return err
}

// SetReadDeadline remembers how long the library waits.
func (w *wire) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		w.since = time.Now()
		w.patience = t.Sub(w.since)
	}
	return w.Conn.SetReadDeadline(t)
}

// takeAnswers removes the answers to questions from the stream, until a packet comes that
// is for the library. It leaves errors to the next read.
func (w *wire) takeAnswers() {
	for w.opened.Load() && w.frame.between() {
		head, err := w.in.Peek(4 + responseHeaderSize)
		if err != nil {
			return
		}
		if xid := int32(binary.BigEndian.Uint32(head[4:])); xid >= firstXid {
			if _, err := w.begins([4]byte(head)); err == nil && xid >= 0 { // neither an event nor a ping
				w.keepTransaction(head)
			}
			return
		}
		if size := binary.BigEndian.Uint32(head); size > uint32(w.s.cfg.MaxResponse) && w.asking.tooLong(int32(binary.BigEndian.Uint32(head[4:])), int(size), w.s.multiReads) {
			if _, err := io.CopyN(io.Discard, w.in, 4+int64(size)); err != nil {
				w.Close()
				return
			}
			continue
		}
		size, err := w.begins([4]byte(head))
		if err != nil {
			return
		}
		zxid := int64(binary.BigEndian.Uint64(head[zxidOffset:]))
		var packet []byte
		buffered := 4+size <= w.in.Size()
		if buffered {
			packet, err = w.in.Peek(4 + size)
		} else {
			packet = make([]byte, 4+size)
			_, err = io.ReadFull(w.in, packet)
		}
		if err != nil {
			w.Close()
			return
		}
		w.s.saw(zxid)
		w.asking.answered(packet[4:], w.s.multiReads)
		if buffered {
			w.in.Discard(len(packet))
		}
		// The library would set a new deadline for each packet.
		if now := time.Now(); now.Sub(w.since) > w.patience/4 {
			w.SetReadDeadline(now.Add(w.patience))
		}
	}
}

// keepTransaction remembers the transaction that an answer names. It replaces the
// transaction with 0, which the library does not remember. head is part of the buffer
// that the library reads afterwards.
func (w *wire) keepTransaction(head []byte) {
	zxid := head[zxidOffset:]
	w.s.saw(int64(binary.BigEndian.Uint64(zxid)))
	binary.BigEndian.PutUint64(zxid, 0)
}

// saw remembers the newest transaction. Only the goroutine that reads the
// connection calls it.
func (s *session) saw(zxid int64) {
	if zxid > s.seen.Load() {
		s.seen.Store(zxid)
	}
}

func (w *wire) Read(p []byte) (int, error) {
	w.takeAnswers()
	n, err := w.in.Read(p)
	if ferr := w.frame.follow(p[:n], w.begins, w.ends); ferr != nil {
		w.failed(ferr)
		w.Close()
		return 0, ferr
	}
	if err != nil {
		w.failed(err)
	}
	return n, err
}

// failed records why there is no session yet. Once there has been a session, the
// cause says no more to a user than the next attempt does.
func (w *wire) failed(err error) {
	if !w.opened.Load() && !errors.Is(err, net.ErrClosed) { // this side closed it and knows why
		w.unanswered(err)
	}
}

// unanswered is called if the answer to a handshake is not ZooKeeper's. Perhaps
// the port expects TLS, or expects no TLS.
func (w *wire) unanswered(err error) {
	var protocol *protocolError
	if !errors.As(err, &protocol) { // a protocolError already says what the port speaks
		w.s.suspect(w.address)
	}
	w.s.noteFailure(w.address, &handshakeError{err})
}

// begins checks the length at the beginning of a packet.
func (w *wire) begins(length [4]byte) (size int, err error) {
	n := binary.BigEndian.Uint32(length[:])
	switch limit := w.s.cfg.MaxResponse; {
	case !w.opened.Load() && (n < minConnectResponse || n > maxConnectResponse):
		return 0, &protocolError{length}
	case w.opened.Load() && n < responseHeaderSize:
		return 0, &protocolError{length}
	case w.opened.Load() && int(n) > limit:
		err := &ResponseTooLargeError{Size: int(n), Limit: limit}
		w.s.end(err)
		return 0, err
	}
	return int(n), nil
}

// ends is called when a packet has been read as a whole.
func (w *wire) ends() {
	w.opened.Store(true)
}

// protocolError says that an answer isn't ZooKeeper's.
type protocolError struct{ begins [4]byte }

func (e *protocolError) Error() string {
	switch b := e.begins[:]; {
	case e.tls():
		return "the server there speaks TLS"
	case strings.HasPrefix(string(b), "HTTP"):
		return "the server there speaks HTTP"
	default:
		return fmt.Sprintf("the server there does not speak ZooKeeper's protocol (its answer begins with %q)", b)
	}
}

// tls reports whether the answer is a TLS record: an alert or a handshake.
func (e *protocolError) tls() bool {
	return beginsTLS(e.begins[:])
}

// handshakeError says that a connection was accepted but gave no session.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string {
	return "connected, but got no session: " + plainCause(e.err).Error()
}
func (e *handshakeError) Unwrap() error { return e.err }

// frame follows a stream of packets: a length of 4 bytes, big-endian, and that
// many bytes.
type frame struct {
	length [4]byte
	got    int // the bytes of the length read so far
	left   int // how many bytes of the packet are still to come
}

// between reports whether the stream is at the end of a packet.
func (f *frame) between() bool { return f.got == 0 && f.left == 0 }

// follow calls begins with the length of every packet, and ends at the end of every packet.
// begins returns the packet's size, or an error that ends the stream.
func (f *frame) follow(b []byte, begins func([4]byte) (int, error), ends func()) error {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left -= n
			b = b[n:]
		} else {
			n := copy(f.length[f.got:], b)
			f.got += n
			b = b[n:]
			if f.got < len(f.length) {
				return nil
			}
			f.got = 0
			var err error
			if f.left, err = begins(f.length); err != nil {
				return err
			}
		}
		if f.left == 0 {
			ends()
		}
	}
	return nil
}
