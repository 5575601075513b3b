package minizk

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"mrtq/harness/minizk/wire"
)

// session outlives its connections. Server.mu guards it.
type session struct {
	id       int64
	timeout  time.Duration
	deadline time.Time
	conn     *conn // nil between connections
}

type sessionTable struct {
	byID map[int64]*session
	last int64
}

// firstSession looks like the ids of a real server, whose first byte is its own number.
const firstSession int64 = 1 << 56

func (t *sessionTable) init() {
	t.byID = map[int64]*session{}
	t.last = firstSession
}

func (t *sessionTable) add(timeout time.Duration) *session {
	t.last++
	for t.byID[t.last] != nil { // the owner of a loaded node
		t.last++
	}
	ss := &session{id: t.last, timeout: timeout}
	t.byID[ss.id] = ss
	return ss
}

func (ss *session) touch(now time.Time) { ss.deadline = now.Add(ss.timeout) }

func (t *sessionTable) touchAll(now time.Time) {
	for _, ss := range t.byID {
		ss.touch(now)
	}
}

// due lists the sessions whose time is over, the longest overdue first.
func (t *sessionTable) due(now time.Time) []*session {
	var out []*session
	for _, ss := range t.byID {
		if ss.deadline.Before(now) {
			out = append(out, ss)
		}
	}
	slices.SortFunc(out, func(a, b *session) int {
		return cmp.Or(a.deadline.Compare(b.deadline), cmp.Compare(a.id, b.id))
	})
	return out
}

// password is what resumes a session: whoever does not know it cannot take the session over.
func (s *Server) password(id int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.secret[:], uint64(id)))
	return sum[:wire.PasswordLen]
}

// endSession is the transaction that removes a session with its ephemeral nodes. Its connection
// is cut, but for one that asked for the end and still gets an answer. The caller holds mu.
func (s *Server) endSession(ss *session, why string) {
	tx := s.nextTx()
	delete(s.sessions.byID, ss.id)
	s.tree.CloseSession(tx, ss.id)
	if ss.conn != nil && ss.conn != s.current {
		s.tree.Forget(ss.conn)
		ss.conn.out.abort()
	}
	s.log.add(Entry{At: s.clock.now(), Session: ss.id, Op: wire.OpCloseSession, Path: why, Zxid: tx.Zxid})
}

// Session is what the server knows of one.
type Session struct {
	ID         int64
	Timeout    time.Duration
	Connected  bool
	Ephemerals []string // paths, sorted
}

// Sessions lists the living sessions, oldest first.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Session, 0, len(s.sessions.byID))
	for id, ss := range s.sessions.byID {
		out = append(out, Session{ID: id, Timeout: ss.timeout, Connected: ss.conn != nil, Ephemerals: s.tree.EphemeralsOf(id)})
	}
	slices.SortFunc(out, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// ExpireSession ends a session as if its time had run out, and reports whether there was one.
// Its ephemeral nodes are gone when it returns.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ss := s.sessions.byID[id]
	if ss != nil {
		s.endSession(ss, "expired on demand")
	}
	return ss != nil
}

// Disconnect cuts a session's connection and leaves the session, and reports whether there was a
// connection.
func (s *Server) Disconnect(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ss := s.sessions.byID[id]
	if ss == nil || ss.conn == nil {
		return false
	}
	ss.conn.out.abort()
	// At once, so that a reply to a request under way is no longer meant for anyone and the
	// connection's watches cannot fire into nothing before its goroutine has noticed.
	s.tree.Forget(ss.conn)
	ss.conn = nil
	return true
}
