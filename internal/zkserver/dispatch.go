package zkserver

import (
	"mrtq/internal/jute"
)

// request is one operation: what was decoded, and the answer.
type request struct {
	payload []byte
	d       jute.Decoder

	c    *conn
	xid  int32
	op   jute.OpCode
	path string // for the log and for faults; a summary for a multi

	// op decides which one of these is filled.
	create  jute.CreateRequest
	version jute.PathVersion
	watch   jute.PathWatch
	set     jute.SetDataRequest
	setACL  jute.SetACLRequest
	auth    jute.AuthRequest
	watches jute.SetWatchesRequest
	pathInt jute.PathInt
	ops     []jute.MultiOp
	prefix  *string

	noPath bool // the path is null, but the server can do nothing without one

	body        []byte // the reply's record, appended by run
	last        bool   // the connection ends after this request
	noReply     bool   // send no reply
	stopReading bool   // the server reads nothing more from this connection
	zxid        int64  // for the reply's header, if not the server's
}

// operation says how to read and do one kind of request. The caller of run holds
// Server.mu.
type operation struct {
	decode func(*request)
	run    func(*Server, *request) error
}

// operations has every operation that a client can send. TestEveryOperationIsThere checks that
// the table is complete.
var operations map[jute.OpCode]operation

func init() {
	operations = map[jute.OpCode]operation{
		jute.OpCreate:               {decodeCreate, (*Server).create},
		jute.OpCreate2:              {decodeCreate, (*Server).create},
		jute.OpCreateContainer:      {decodeCreate, (*Server).create},
		jute.OpCreateTTL:            {decodeCreate, (*Server).create},
		jute.OpDelete:               {decodeVersion, (*Server).delete},
		jute.OpDeleteContainer:      {decodeNothing, (*Server).deleteContainer},
		jute.OpSetData:              {decodeSet, (*Server).setData},
		jute.OpSetACL:               {decodeSetACL, (*Server).setACL},
		jute.OpCheck:                {decodeVersion, (*Server).check},
		jute.OpMulti:                {decodeMulti, (*Server).multi},
		jute.OpMultiRead:            {decodeMulti, (*Server).multiRead},
		jute.OpReconfig:             {decodeReconfig, (*Server).reconfig},
		jute.OpExists:               {decodeWatch, (*Server).exists},
		jute.OpGetData:              {decodeWatch, (*Server).getData},
		jute.OpGetChildren:          {decodeWatch, (*Server).getChildren},
		jute.OpGetChildren2:         {decodeWatch, (*Server).getChildren},
		jute.OpGetACL:               {decodePath, (*Server).getACL},
		jute.OpGetAllChildrenNumber: {decodePath, (*Server).getAllChildrenNumber},
		jute.OpGetEphemerals:        {decodePrefix, (*Server).getEphemerals},
		jute.OpSync:                 {decodePrefix, (*Server).sync},
		jute.OpSetWatches:           {decodeSetWatches, (*Server).setWatches},
		jute.OpSetWatches2:          {decodeSetWatches, (*Server).setWatches},
		jute.OpAddWatch:             {decodePathInt, (*Server).addWatch},
		jute.OpCheckWatches:         {decodePathInt, (*Server).checkWatches},
		jute.OpRemoveWatches:        {decodePathInt, (*Server).removeWatches},
		jute.OpPing:                 {decodeNothing, (*Server).ping},
		jute.OpAuth:                 {decodeAuth, (*Server).auth},
		jute.OpSasl:                 {decodeSasl, (*Server).sasl},
		jute.OpWhoAmI:               {decodeNothing, (*Server).whoAmI},
		jute.OpCloseSession:         {decodeNothing, (*Server).closeSession},
	}
}

// handle does the request in c.req.payload and queues its reply. It returns false if the
// connection must end after the queue is sent.
func (c *conn) handle() bool {
	r := &c.req
	*r = request{payload: r.payload, c: c, body: c.reply[:0]}
	r.d.Reset(r.payload)
	h := r.d.RequestHeader()
	if r.d.Err() != nil {
		return false
	}
	r.xid, r.op = h.Xid, h.Op
	op, known := operations[r.op]
	if known {
		op.decode(r)
	}
	if r.d.Err() != nil && (r.op == jute.OpAuth || r.op == jute.OpSasl) {
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
	case r.d.Err() != nil, r.noPath:
		err = s.malformed(r)
	default:
		s.current = c
		err = op.run(s, r)
		s.current = nil
	}
	code := jute.CodeOf(err)
	s.counts.add(r.op, code)
	switch {
	case action.kind == cutAfter:
		s.log.add(r.entry("cut after", code))
		return false
	case r.op != jute.OpPing && r.op != jute.OpCloseSession:
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
	if r.op == jute.OpPing {
		h.Xid = jute.XidPing
	}
	if r.op == jute.OpAuth || r.op == jute.OpSasl {
		h.Zxid = 0
	}
	// Write the header into the room that was kept for it.
	jute.AppendReplyHeader(r.body[jute.LenPrefix:jute.LenPrefix], h)
	jute.SealFrame(r.body)
	if cap(r.body) > keepBuffer {
		c.out.give(r.body)
		return
	}
	c.out.add(r.body)
	c.reply = r.body
}

// malformed answers a request whose record could not be read. Every change but reconfig has then
// used up a zxid, because the server takes the zxid before it reads the record.
func (s *Server) malformed(r *request) error {
	if r.op.Changes() && r.op != jute.OpReconfig {
		s.nextTx()
	}
	return jute.MarshallingError
}
