package minizk

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"time"

	"mrtq/internal/jute"
)

// session outlives its connections. Server.mu guards it.
type session struct {
	id       int64
	timeout  time.Duration
	deadline time.Time
	conn     *conn // nil without a connection
}

type sessionTable struct {
	byID map[int64]*session
	last int64
}

// firstSession returns the first session id. As on a real server, ids begin with the server's
// number and the time (SessionTrackerImpl.initializeNextSessionId). So if a server has ended and
// another runs at its address, an old client cannot resume another client's session.
func firstSession(started time.Time) int64 {
	const server = 1
	return server<<56 | int64(uint64(started.UnixMilli())<<24>>8)
}

// lastStart is the latest time, in milliseconds since 1970, that any server's session ids begin with.
var lastStart atomic.Int64

// newStart is a time with which no other server's session ids of this process begin: a client that still knows the server
// before would disturb another client, if both had one id.
func newStart() time.Time {
	for {
		last := lastStart.Load()
		now := max(time.Now().UnixMilli(), last+1)
		if lastStart.CompareAndSwap(last, now) {
			return time.UnixMilli(now)
		}
	}
}

func (t *sessionTable) add(timeout time.Duration) *session {
	t.last++
	for t.byID[t.last] != nil { // a loaded node belongs to a session with this id
		t.last++
	}
	ss := &session{id: t.last, timeout: timeout}
	t.byID[ss.id] = ss
	return ss
}

func (ss *session) touch(now time.Time) { ss.deadline = now.Add(ss.timeout) }

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

func (s *Server) password(id int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.secret[:], uint64(id)))
	return sum[:jute.PasswordLen]
}

// endSession removes a session and its ephemeral nodes in one transaction, and cuts the session's
// connection. If the client has asked for this, the connection is not cut, because the client
// still gets a reply. The caller holds mu.
func (s *Server) endSession(ss *session, why string) {
	tx := s.nextTx()
	delete(s.sessions.byID, ss.id)
	s.db.CloseSession(tx, ss.id)
	if ss.conn != nil && ss.conn != s.current {
		s.db.Forget(ss.conn)
		ss.conn.out.abort()
	}
	s.log.add(Entry{At: s.clock.now(), Session: ss.id, Op: jute.OpCloseSession, Path: why, Zxid: tx.Zxid})
}

// Session is what Sessions says about one session.
type Session struct {
	ID         int64
	Timeout    time.Duration // the timeout that the client has got
	Connected  bool          // whether a client is connected at this moment
	Ephemerals []string      // the paths of its ephemeral nodes, sorted
}

// Sessions returns the sessions that have not ended, oldest first.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Session, 0, len(s.sessions.byID))
	for id, ss := range s.sessions.byID {
		out = append(out, Session{ID: id, Timeout: ss.timeout, Connected: ss.conn != nil, Ephemerals: s.db.EphemeralsOf(id)})
	}
	slices.SortFunc(out, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// ExpireSession ends a session as if its timeout had passed, and reports whether the session
// existed. When ExpireSession returns, the session's ephemeral nodes are removed. The id 0 panics: a client says it until it has a
// session, so the test must wait for that.
func (s *Server) ExpireSession(id int64) bool {
	if id == 0 {
		panic("minizk: ExpireSession(0): the client has no session yet; wait until it is connected")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ss := s.sessions.byID[id]
	if ss != nil {
		s.endSession(ss, "expired on demand")
	}
	return ss != nil
}
