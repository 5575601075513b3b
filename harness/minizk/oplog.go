package minizk

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"mrtq/internal/jute"
)

// Entry is one entry of a server's log: a request with its result, or an action of the server
// itself, such as the expiry of a session.
type Entry struct {
	N       int64       // its number; a server's first entry has 1
	At      time.Time   // by the server's clock
	Session int64       // 0 if the server removed a container or TTL node
	Op      jute.OpCode // createSession if a session was opened, resumed or refused; closeSession if it was closed or expired; deleteContainer if the server removed a container or TTL node
	Path    string      // for a multi, a summary; for a session, "opened", "expired" and the like
	Note    string      // what a fault did; "" without one
	Err     jute.Code   // jute.OK if it succeeded; for a multi that was refused, the first operation's that has one
	Zxid    int64       // the server's zxid afterwards
}

// String returns the entry as one line, without a line end. It quotes a path that would break the
// line, because clients may send anything.
func (e Entry) String() string {
	path := e.Path
	if quoted := strconv.Quote(path); quoted != `"`+path+`"` {
		path = quoted
	}
	s := fmt.Sprintf("%6d %s %#x zxid %d %s %s", e.N, e.At.UTC().Format("15:04:05.000"), e.Session, e.Zxid, e.Op, path)
	if e.Err != jute.OK {
		s += ": " + e.Err.String()
	}
	if e.Note != "" {
		s += " [" + e.Note + "]"
	}
	return s
}

const logSize = 1000

// opLog keeps the last entries: at least logSize of them. Server.mu guards it.
type opLog struct {
	list []Entry
	n    int64
}

func (l *opLog) add(e Entry) {
	l.n++
	e.N = l.n
	if len(l.list) >= 2*logSize {
		l.list = append(l.list[:0], l.list[logSize:]...)
	}
	l.list = append(l.list, e)
}

func (r *request) entry(note string, code jute.Code) Entry {
	return Entry{At: r.c.s.clock.now(), Session: r.c.session.id, Op: r.Op, Path: clip(r.subject()), Note: note, Err: cmp.Or(code, r.refused), Zxid: r.c.s.zxid}
}

const summaryOps = 8

// subject is what the log has as a request's path. It never has the secret of an auth.
func (r *request) subject() string {
	if r.Op == jute.OpAuth {
		return r.Scheme
	}
	if len(r.Ops) == 0 {
		return r.Path
	}
	var parts []string
	for i := range min(len(r.Ops), summaryOps) {
		parts = append(parts, fmt.Sprintf("%s %s", r.Ops[i].Op, r.Ops[i].Path))
	}
	if len(r.Ops) > summaryOps {
		parts = append(parts, fmt.Sprintf("… %d in all", len(r.Ops)))
	}
	return strings.Join(parts, ", ")
}

// clip cuts a path, because it may be as long as a packet.
func clip(path string) string {
	if len(path) <= 300 {
		return path
	}
	return strings.ToValidUTF8(path[:300], "") + "…"
}

// Log returns the last entries of the log, oldest first, at most a thousand. Pings are not in it.
func (s *Server) Log() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.log.list
	return slices.Clone(list[max(0, len(list)-logSize):])
}

// WriteLog writes what Log returns to w, one entry on each line. The error is w's.
func (s *Server) WriteLog(w io.Writer) error {
	for _, e := range s.Log() {
		if _, err := fmt.Fprintln(w, e); err != nil {
			return err
		}
	}
	return nil
}
