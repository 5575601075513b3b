package jute

// MultiOp is one operation of a multi or multiRead. Op decides which of the other fields is used.
type MultiOp struct {
	Op      OpCode
	Create  CreateRequest  // create, create2, createContainer, createTTL
	Version PathVersion    // delete, check
	Set     SetDataRequest // setData
	Read    PathWatch      // getData, getChildren
}

// Path returns the path that the operation names.
func (o *MultiOp) Path() string {
	switch o.Op {
	case OpDelete, OpCheck:
		return o.Version.Path
	case OpSetData:
		return o.Set.Path
	case OpGetData, OpGetChildren:
		return o.Read.Path
	}
	return o.Create.Path
}

// NullPath reports whether the path is null. Then Path is "".
func (o *MultiOp) NullPath() bool {
	return o.Create.NullPath || o.Version.NullPath || o.Set.NullPath || o.Read.NullPath
}

func (o *MultiOp) reads() bool { return o.Op == OpGetData || o.Op == OpGetChildren }

// MultiOps reads the operations up to the end header. The error is ErrOp if an operation cannot be
// part of a multi, or if reads and changes are mixed: the server refuses both.
func (d *Decoder) MultiOps() []MultiOp {
	var ops []MultiOp
	for d.err == nil {
		off := d.off
		h := d.MultiHeader()
		if d.err != nil || h.Done {
			break
		}
		o := MultiOp{Op: h.Op}
		switch h.Op {
		case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
			o.Create = d.CreateRequest(h.Op)
		case OpDelete, OpCheck:
			o.Version = d.PathVersion()
		case OpSetData:
			o.Set = d.SetDataRequest()
		case OpGetData, OpGetChildren:
			o.Read = d.PathWatch()
		default:
			d.fail(off, "type", ErrOp)
		}
		if d.err == nil && len(ops) > 0 && o.reads() != ops[0].reads() {
			d.fail(off, "type", ErrOp)
		}
		ops = append(ops, o)
	}
	if d.err != nil {
		return nil
	}
	return ops
}

// AppendMultiOps appends the operations and the end header.
func AppendMultiOps(b []byte, ops []MultiOp) []byte {
	for i := range ops {
		o := &ops[i]
		b = AppendMultiHeader(b, MultiHeader{Op: o.Op, Err: -1})
		switch o.Op {
		case OpDelete, OpCheck:
			b = AppendPathVersion(b, o.Version)
		case OpSetData:
			b = AppendSetDataRequest(b, o.Set)
		case OpGetData, OpGetChildren:
			b = AppendPathWatch(b, o.Read)
		default:
			b = AppendCreateRequest(b, o.Op, o.Create)
		}
	}
	return AppendMultiEnd(b)
}

// MultiResult is one result in the reply to a multi or multiRead. Op decides which of the other
// fields are used. It is OpError if the operation failed or was not done.
type MultiResult struct {
	Op       OpCode
	Err      Code
	Path     string   // create, create2
	Stat     Stat     // create2, setData, getData
	Data     []byte   // getData
	Children []string // getChildren
}

// MultiResults reads the results up to the end header.
func (d *Decoder) MultiResults() []MultiResult {
	var rs []MultiResult
	for d.err == nil {
		off := d.off
		h := d.MultiHeader()
		if d.err != nil || h.Done {
			break
		}
		r := MultiResult{Op: h.Op, Err: h.Err}
		switch h.Op {
		case OpCreate:
			r.Path = d.String("path")
		case OpCreate2:
			r.Path, r.Stat = d.String("path"), d.Stat()
		case OpDelete, OpCheck:
		case OpSetData:
			r.Stat = d.Stat()
		case OpGetData:
			r.Data, r.Stat = d.Buffer("data"), d.Stat()
		case OpGetChildren:
			r.Children = d.Strings("children")
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

// AppendMultiResults appends the results and the end header.
func AppendMultiResults(b []byte, rs []MultiResult) []byte {
	for i := range rs {
		b = AppendMultiResult(b, &rs[i])
	}
	return AppendMultiEnd(b)
}

// AppendMultiResult appends one result with its header.
func AppendMultiResult(b []byte, r *MultiResult) []byte {
	b = AppendMultiHeader(b, MultiHeader{Op: r.Op, Err: r.Err})
	switch r.Op {
	case OpCreate:
		b = AppendString(b, r.Path)
	case OpCreate2:
		b = AppendStat(AppendString(b, r.Path), &r.Stat)
	case OpSetData:
		b = AppendStat(b, &r.Stat)
	case OpGetData:
		b = AppendStat(AppendBuffer(b, r.Data), &r.Stat)
	case OpGetChildren:
		b = AppendStrings(b, r.Children)
	case OpError:
		b = AppendInt(b, int32(r.Err))
	}
	return b
}
