package minizk

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mrtq/harness/minizk/wire"
)

// Entry is one thing that a server did.
type Entry struct {
	N       int64 // 1 for the server's first
	At      time.Time
	Session int64       // 0 for an action of the server itself
	Op      wire.OpCode // createSession and closeSession also for resumed and expired sessions
	Path    string      // a summary for a multi; what happened for a session
	Note    string      // what a fault did
	Err     wire.Code
	Zxid    int64 // the server's zxid afterwards
}

// wireReap marks the removal of a container or TTL node.
const wireReap = wire.OpDeleteContainer

// String is one line. A path that would break the line is quoted, because clients may send
// anything.
func (e Entry) String() string {
	path := e.Path
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		path = quoted
	}
	s := fmt.Sprintf("%6d %s %#x zxid %d %s %s", e.N, e.At.UTC().Format("15:04:05.000"), e.Session, e.Zxid, e.Op, path)
	if e.Err != wire.OK {
		s += ": " + e.Err.String()
	}
	if e.Note != "" {
		s += " [" + e.Note + "]"
	}
	return s
}

// opLog keeps the last entries. Server.mu guards it.
type opLog struct {
	ring []Entry
	n    int64
}

func newOpLog(size int) opLog { return opLog{ring: make([]Entry, 0, size)} }

func (l *opLog) add(e Entry) {
	l.n++
	e.N = l.n
	if len(l.ring) < cap(l.ring) {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[int((l.n-1)%int64(len(l.ring)))] = e
}

func (r *request) entry(note string, code wire.Code) Entry {
	e := Entry{At: r.c.s.clock.now(), Op: r.op, Path: clip(r.path), Note: note, Err: code, Zxid: r.c.s.zxid}
	if r.c.session != nil {
		e.Session = r.c.session.id
	}
	return e
}

// clipAt is how many bytes of a path the log keeps, because a path may be as
// long as a packet.
const clipAt = 300

func clip(path string) string {
	if len(path) <= clipAt {
		return path
	}
	at := clipAt
	for at > clipAt-utf8.UTFMax && !utf8.RuneStart(path[at]) {
		at--
	}
	return strings.Clone(path[:at]) + "…"
}

// Log returns the last operations, oldest first, without pings: the request, its session, and its
// result.
func (s *Server) Log() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	ring := s.log.ring
	if len(ring) < cap(ring) {
		return append([]Entry(nil), ring...)
	}
	at := int(s.log.n % int64(len(ring)))
	return append(append([]Entry(nil), ring[at:]...), ring[:at]...)
}

// WriteLog writes Log, one entry on each line.
func (s *Server) WriteLog(w io.Writer) error {
	for _, e := range s.Log() {
		if _, err := fmt.Fprintln(w, e); err != nil {
			return err
		}
	}
	return nil
}
