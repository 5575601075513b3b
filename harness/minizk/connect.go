package minizk

import (
	"crypto/subtle"
	"time"

	"mrtq/internal/jute"
)

// handshake reads the connect request and answers it. It returns false if the connection must end:
// the bytes are not a connect request, the client has seen a later zxid (so it was connected to
// another server), or the session does not exist.
func (c *conn) handshake() bool {
	if !c.next() {
		return false
	}
	d := jute.NewDecoder(c.req.payload)
	req := d.ConnectRequest()
	if d.Err() != nil {
		return false
	}
	resp, ok := c.s.connect(c, req)
	if resp == nil {
		return false
	}
	b := jute.AppendConnectResponse(make([]byte, jute.LenPrefix), *resp)
	jute.SealFrame(b)
	c.out.add(b)
	return c.out.flush() == nil && ok
}

// connect opens or resumes a session for c. ok is false if the session is refused. With
// a nil response, the client gets no answer at all.
func (s *Server) connect(c *conn, req jute.ConnectRequest) (resp *jute.ConnectResponse, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.LastZxidSeen > s.zxid {
		return nil, false
	}
	timeout := min(max(time.Duration(req.TimeoutMillis)*time.Millisecond, s.opt.MinTimeout), s.opt.MaxTimeout)
	now := s.clock.now()
	e := Entry{At: now, Op: jute.OpCreateSession, Path: "opened"}
	var ss *session
	name := "null" // a resumed session has sent nothing yet
	if req.SessionID == 0 {
		s.nextTx()
		ss, name = s.sessions.add(timeout), "SESS"
	} else {
		e.Path = "resumed"
		ss = s.sessions.byID[req.SessionID]
		if ss != nil && ss.conn != nil {
			// A newer connection ends the older one, even if its password is wrong.
			ss.conn.out.abort()
			s.disconnected(ss.conn) // now, not when its goroutine comes to it
		}
		if ss == nil || subtle.ConstantTimeCompare(req.Password, s.password(ss.id)) != 1 {
			s.log.add(Entry{At: now, Session: req.SessionID, Op: jute.OpCreateSession, Path: "refused", Zxid: s.zxid, Err: jute.SessionExpired})
			return &jute.ConnectResponse{Password: make([]byte, jute.PasswordLen), HasReadOnly: req.HasReadOnly}, false
		}
		ss.timeout = timeout
	}
	ss.touch(now)
	ss.conn, c.session = c, ss
	c.last = lastOp{name: name, zxid: s.zxid, at: now}
	e.Session, e.Zxid = ss.id, s.zxid
	s.log.add(e)
	return &jute.ConnectResponse{
		TimeoutMillis: int32(timeout.Milliseconds()), SessionID: ss.id,
		Password: s.password(ss.id), HasReadOnly: req.HasReadOnly,
	}, true
}
