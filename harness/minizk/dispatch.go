package minizk

import (
	"mrtq/internal/jute"
)

type request struct {
	jute.Request
	payload []byte
	d       jute.Decoder
	c       *conn
	xid     int32

	body    []byte    // the reply's record, appended by run
	last    bool      // the connection ends after this request
	noReply bool      // send no reply
	zxid    int64     // for the reply's header, if not the server's
	refused jute.Code // why a multi was refused; the reply's header does not say it
}

// operations says how to do each kind of request that a client can send. The caller holds Server.mu.
var operations map[jute.OpCode]func(*Server, *request) error

func init() {
	operations = map[jute.OpCode]func(*Server, *request) error{
		jute.OpCreate:               (*Server).change,
		jute.OpCreate2:              (*Server).change,
		jute.OpCreateContainer:      (*Server).change,
		jute.OpCreateTTL:            (*Server).change,
		jute.OpDelete:               (*Server).change,
		jute.OpDeleteContainer:      (*Server).deleteContainer,
		jute.OpSetData:              (*Server).change,
		jute.OpSetACL:               (*Server).change,
		jute.OpCheck:                (*Server).change,
		jute.OpMulti:                (*Server).multi,
		jute.OpMultiRead:            (*Server).multiRead,
		jute.OpReconfig:             (*Server).reconfig,
		jute.OpExists:               (*Server).exists,
		jute.OpGetData:              (*Server).getData,
		jute.OpGetChildren:          (*Server).getChildren,
		jute.OpGetChildren2:         (*Server).getChildren,
		jute.OpGetACL:               (*Server).getACL,
		jute.OpGetAllChildrenNumber: (*Server).getAllChildrenNumber,
		jute.OpGetEphemerals:        (*Server).getEphemerals,
		jute.OpSync:                 (*Server).sync,
		jute.OpSetWatches:           (*Server).setWatches,
		jute.OpSetWatches2:          (*Server).setWatches,
		jute.OpAddWatch:             (*Server).addWatch,
		jute.OpCheckWatches:         (*Server).checkWatches,
		jute.OpRemoveWatches:        (*Server).removeWatches,
		jute.OpPing:                 (*Server).ping,
		jute.OpAuth:                 (*Server).auth,
		jute.OpSasl:                 (*Server).sasl,
		jute.OpWhoAmI:               (*Server).whoAmI,
		jute.OpCloseSession:         (*Server).closeSession,
	}
}

// handle does the request in c.req.payload and queues its reply. It returns false if the
// connection must end after the queue is sent.
func (c *conn) handle() bool {
	r := &c.req
	*r = request{payload: r.payload, d: *jute.NewDecoder(r.payload), c: c, body: c.reply[:0]}
	h := r.d.RequestHeader()
	if r.d.Err() != nil {
		return false
	}
	r.xid = h.Xid
	r.d.Request(h.Op, &r.Request)
	run, known := operations[r.Op]
	if r.d.Err() != nil && (r.Op == jute.OpAuth || r.Op == jute.OpSasl) {
		return false
	}
	// Leave room for what comes before the record, so that the packet is built
	// in one buffer.
	r.body = append(r.body, make([]byte, jute.LenPrefix+jute.ReplyHeaderLen)...)

	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	action := s.faults.match(r)
	if !s.await(c, action) || !c.alive() {
		return false
	}
	if action.kind == cutBefore {
		s.log.add(r.entry("cut before", jute.ConnectionLoss))
		return false
	}
	if action.kind == cutAfter {
		c.out.silence()
	}
	c.received++
	c.session.touch(s.clock.now())
	var err error
	switch {
	case !known:
		err, r.last, r.zxid = jute.Unimplemented, true, -1
	case action.kind == refuse:
		err = action.code
	case r.d.Err() != nil:
		err = s.malformed(r)
	default:
		s.current = c
		err = run(s, r)
		s.current = nil
		if s.watched != nil {
			close(s.watched)
			s.watched = nil
		}
	}
	code := jute.CodeOf(err)
	s.counts.add(r.Op)
	c.setLast(code)
	switch {
	case action.kind == cutAfter:
		s.log.add(r.entry("cut after", code))
		return false
	case action.kind == swallow:
		s.log.add(r.entry("unanswered", code))
		r.noReply = true
	case r.Op != jute.OpPing && r.Op != jute.OpCloseSession:
		s.log.add(r.entry("", code))
	}
	if !r.noReply {
		c.send(code)
	}
	return !r.last
}

// send queues the reply. The caller holds Server.mu.
func (c *conn) send(code jute.Code) {
	r := &c.req
	h := jute.ReplyHeader{Xid: r.xid, Zxid: c.s.zxid, Err: code}
	if r.zxid != 0 {
		h.Zxid = r.zxid
	}
	if r.Op == jute.OpPing {
		h.Xid = jute.XidPing
	}
	if r.Op == jute.OpAuth || r.Op == jute.OpSasl {
		h.Zxid = 0
	}
	// Write the header into the room that was kept for it.
	jute.AppendReplyHeader(r.body[jute.LenPrefix:jute.LenPrefix], h)
	jute.SealFrame(r.body)
	c.out.add(r.body)
	if cap(r.body) <= keepBuffer {
		c.reply = r.body
	}
}

// malformed answers a request whose record could not be read. Every change but reconfig has then
// used up a zxid, because the server takes the zxid before it reads the record.
func (s *Server) malformed(r *request) error {
	if r.Op.Changes() && r.Op != jute.OpReconfig {
		s.nextTx()
	}
	return jute.MarshallingError
}
