package jute

import "mrtq/internal/znode"

// Request is the record of a request, or one operation of a multi. Op decides which of the other
// fields the record has; the comments say of which operations they are.
type Request struct {
	Op      OpCode
	Path    string
	Data    []byte      // of creates and setData; of auth the secret; of sasl the token. Nil is null.
	ACL     []znode.ACL // of creates and setACL. Nil is a null vector.
	Flags   int32       // of creates, a mode such as ModeEphemeral
	TTL     int64       // of createTTL, in milliseconds
	Version int32       // of delete, check and setData; of setACL the aversion. -1 means any.
	Watch   bool        // of exists, getData, getChildren and getChildren2
	Kind    int32       // of addWatch, such as WatchPersistent; of checkWatches and removeWatches, such as WatcherAny
	Scheme  string      // of auth
	Since   int64       // of setWatches, the newest zxid that the client has seen
	Watches [][]string  // of setWatches, the paths with data, exist and child watches; of setWatches2 also persistent and recursive ones
	Ops     []Request   // of multi and multiRead
}

type field func(*Decoder, *Request)

var (
	pathField    field = func(d *Decoder, r *Request) { r.Path = d.String("path") }
	dataField    field = func(d *Decoder, r *Request) { r.Data = d.Buffer("data") }
	aclField     field = func(d *Decoder, r *Request) { r.ACL = d.ACLs() }
	flagsField   field = func(d *Decoder, r *Request) { r.Flags = d.Int("flags") }
	ttlField     field = func(d *Decoder, r *Request) { r.TTL = d.Long("ttl") }
	versionField field = func(d *Decoder, r *Request) { r.Version = d.Int("version") }
	watchField   field = func(d *Decoder, r *Request) { r.Watch = d.Bool("watch") }
	kindField    field = func(d *Decoder, r *Request) { r.Kind = d.Int("kind") }
	sinceField   field = func(d *Decoder, r *Request) { r.Since = d.Long("relativeZxid") }
	schemeField  field = func(d *Decoder, r *Request) {
		d.Int("type") // the server ignores it
		r.Scheme = d.String("scheme")
	}
	// A single server ignores the members that join and leave, and the number of the configuration.
	membersField field = func(d *Decoder, _ *Request) {
		d.Buffer("joining")
		d.Buffer("leaving")
		d.Buffer("new")
		d.Long("config")
	}
	createFields = []field{pathField, dataField, aclField, flagsField}
	readFields   = []field{pathField, watchField}
	watchFields  = []field{pathField, kindField}
)

func lists(n int) field {
	return func(d *Decoder, r *Request) {
		for range n {
			r.Watches = append(r.Watches, d.Strings("watches"))
		}
	}
}

// fields has the parts of each record, in order. The records of multi and multiRead are lists of
// operations; the records of operations that are not here are empty.
var fields = map[OpCode][]field{
	OpCreate:               createFields,
	OpCreate2:              createFields,
	OpCreateContainer:      createFields,
	OpCreateTTL:            append(createFields, ttlField),
	OpDelete:               {pathField, versionField},
	OpCheck:                {pathField, versionField},
	OpSetData:              {pathField, dataField, versionField},
	OpSetACL:               {pathField, aclField, versionField},
	OpExists:               readFields,
	OpGetData:              readFields,
	OpGetChildren:          readFields,
	OpGetChildren2:         readFields,
	OpGetACL:               {pathField},
	OpGetAllChildrenNumber: {pathField},
	OpGetEphemerals:        {pathField},
	OpSync:                 {pathField},
	OpAddWatch:             watchFields,
	OpCheckWatches:         watchFields,
	OpRemoveWatches:        watchFields,
	OpSetWatches:           {sinceField, lists(3)},
	OpSetWatches2:          {sinceField, lists(5)},
	OpAuth:                 {schemeField, dataField},
	OpSasl:                 {dataField},
	OpReconfig:             {membersField},
}

// Request reads op's record into r. Data aliases the input.
func (d *Decoder) Request(op OpCode, r *Request) {
	*r = Request{Op: op}
	for _, f := range fields[op] {
		f(d, r)
	}
	if op == OpMulti || op == OpMultiRead {
		r.Ops = d.operations()
	}
}

// inMulti are the operations that can be part of a multi. The value is true for reads, which only a
// multiRead does.
var inMulti = map[OpCode]bool{
	OpCreate: false, OpCreate2: false, OpCreateContainer: false, OpCreateTTL: false, OpDelete: false, OpCheck: false, OpSetData: false,
	OpGetData: true, OpGetChildren: true,
}

// operations reads a multi's operations up to the end header. The error is ErrOp if an operation
// cannot be part of a multi, or if reads and changes are mixed: the server refuses both.
func (d *Decoder) operations() []Request {
	var ops []Request
	for {
		off := d.off
		h := d.MultiHeader()
		if d.err != nil || h.Done {
			break
		}
		reads, known := inMulti[h.Op]
		if !known || len(ops) > 0 && reads != inMulti[ops[0].Op] {
			d.fail(off, "type", ErrOp)
			break
		}
		ops = append(ops, Request{})
		d.Request(h.Op, &ops[len(ops)-1])
	}
	if d.err != nil {
		return nil
	}
	return ops
}

// Result is what a change or a read answers, alone or in a multi. Op decides which of the other
// fields it has. It is OpError if an operation of a multi failed or was not done.
type Result struct {
	Op   OpCode
	Err  Code
	Path string     // of creates
	Data []byte     // of getData
	Stat znode.Stat // of all but create, delete and check
}

// AppendResult appends the record of r, without a header.
func AppendResult(b []byte, r *Result) []byte {
	switch r.Op {
	case OpCreate:
		return AppendString(b, r.Path)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		b = AppendString(b, r.Path)
	case OpGetData:
		b = AppendBuffer(b, r.Data)
	case OpDelete, OpCheck:
		return b
	case OpError:
		return AppendInt(b, int32(r.Err))
	}
	return AppendStat(b, &r.Stat)
}

// MultiResults reads the results of a multi up to the end header.
func (d *Decoder) MultiResults() []Result {
	var rs []Result
	for {
		off := d.off
		h := d.MultiHeader()
		if d.err != nil || h.Done {
			break
		}
		r := Result{Op: h.Op, Err: h.Err}
		switch h.Op {
		case OpCreate:
			r.Path = d.String("path")
		case OpCreate2:
			r.Path, r.Stat = d.String("path"), d.Stat()
		case OpDelete, OpCheck:
		case OpSetData:
			r.Stat = d.Stat()
		case OpError:
			r.Err = Code(d.Int("err"))
		default:
			d.fail(off, "type", ErrOp)
		}
		rs = append(rs, r)
	}
	if d.err != nil {
		return nil
	}
	return rs
}

// AppendMultiResult appends r with the header that it has in the answer to a multi. There all creates
// with a Stat are create2's.
func AppendMultiResult(b []byte, r *Result) []byte {
	op := r.Op
	if op == OpCreateContainer || op == OpCreateTTL {
		op = OpCreate2
	}
	return AppendResult(AppendMultiHeader(b, MultiHeader{Op: op, Err: r.Err}), r)
}
