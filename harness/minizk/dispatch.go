package minizk

import (
	"mrtq/harness/minizk/wire"
)

// request is one operation: what was decoded, and the answer.
type request struct {
	payload []byte
	d       wire.Decoder

	c    *conn
	xid  int32
	op   wire.OpCode
	path string // for the log and for faults; a summary for a multi

	// op decides which one of these is filled.
	create  wire.CreateRequest
	version wire.PathVersion
	watch   wire.PathWatch
	set     wire.SetDataRequest
	setACL  wire.SetACLRequest
	auth    wire.AuthRequest
	watches wire.SetWatchesRequest
	pathInt wire.PathInt
	ops     []wire.MultiOp
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
var operations map[wire.OpCode]operation

func init() {
	operations = map[wire.OpCode]operation{
		wire.OpCreate:               {decodeCreate, (*Server).create},
		wire.OpCreate2:              {decodeCreate, (*Server).create},
		wire.OpCreateContainer:      {decodeCreate, (*Server).create},
		wire.OpCreateTTL:            {decodeCreate, (*Server).create},
		wire.OpDelete:               {decodeVersion, (*Server).delete},
		wire.OpDeleteContainer:      {decodeNothing, (*Server).deleteContainer},
		wire.OpSetData:              {decodeSet, (*Server).setData},
		wire.OpSetACL:               {decodeSetACL, (*Server).setACL},
		wire.OpCheck:                {decodeVersion, (*Server).check},
		wire.OpMulti:                {decodeMulti, (*Server).multi},
		wire.OpMultiRead:            {decodeMulti, (*Server).multiRead},
		wire.OpReconfig:             {decodeReconfig, (*Server).reconfig},
		wire.OpExists:               {decodeWatch, (*Server).exists},
		wire.OpGetData:              {decodeWatch, (*Server).getData},
		wire.OpGetChildren:          {decodeWatch, (*Server).getChildren},
		wire.OpGetChildren2:         {decodeWatch, (*Server).getChildren},
		wire.OpGetACL:               {decodePath, (*Server).getACL},
		wire.OpGetAllChildrenNumber: {decodePath, (*Server).getAllChildrenNumber},
		wire.OpGetEphemerals:        {decodePrefix, (*Server).getEphemerals},
		wire.OpSync:                 {decodePrefix, (*Server).sync},
		wire.OpSetWatches:           {decodeSetWatches, (*Server).setWatches},
		wire.OpSetWatches2:          {decodeSetWatches, (*Server).setWatches},
		wire.OpAddWatch:             {decodePathInt, (*Server).addWatch},
		wire.OpCheckWatches:         {decodePathInt, (*Server).checkWatches},
		wire.OpRemoveWatches:        {decodePathInt, (*Server).removeWatches},
		wire.OpPing:                 {decodeNothing, (*Server).ping},
		wire.OpAuth:                 {decodeAuth, (*Server).auth},
		wire.OpSasl:                 {decodeSasl, (*Server).sasl},
		wire.OpWhoAmI:               {decodeNothing, (*Server).whoAmI},
		wire.OpCloseSession:         {decodeNothing, (*Server).closeSession},
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
	if r.d.Err() != nil && (r.op == wire.OpAuth || r.op == wire.OpSasl) {
		return false
	}
	// Leave room for what comes before the record, so that the packet is built
	// in one buffer.
	r.body = append(r.body, make([]byte, wire.LenPrefix+wire.ReplyHeaderLen)...)

	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	action := s.faults.match(r)
	if !s.await(c, action) || !c.alive() {
		return false
	}
	if action.kind == cutBefore {
		s.log.add(r.entry("cut before", wire.ConnectionLoss))
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
		err, r.last, r.zxid = wire.Unimplemented, true, -1
	case action.kind == refuse:
		err = action.code
	case r.d.Err() != nil, r.noPath:
		err = s.malformed(r)
	default:
		s.current = c
		err = op.run(s, r)
		s.current = nil
	}
	code := wire.CodeOf(err)
	s.counts.add(r.op, code)
	switch {
	case action.kind == cutAfter:
		s.log.add(r.entry("cut after", code))
		return false
	case r.op != wire.OpPing && r.op != wire.OpCloseSession:
		s.log.add(r.entry("", code))
	}
	if !r.noReply {
		c.send(code)
	}
	return !r.last
}

// send queues the reply. The caller holds Server.mu.
func (c *conn) send(code wire.Code) {
	r := &c.req
	h := wire.ReplyHeader{Xid: r.xid, Zxid: c.s.zxid, Err: code}
	if r.zxid != 0 {
		h.Zxid = r.zxid
	}
	if r.op == wire.OpPing {
		h.Xid = wire.XidPing
	}
	if r.op == wire.OpAuth || r.op == wire.OpSasl {
		h.Zxid = 0
	}
	// Write the header into the room that was kept for it.
	wire.AppendReplyHeader(r.body[wire.LenPrefix:wire.LenPrefix], h)
	wire.SealFrame(r.body)
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
	if r.op.Changes() && r.op != wire.OpReconfig {
		s.nextTx()
	}
	return wire.MarshallingError
}
