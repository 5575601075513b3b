package ztree

import (
	"mrtq/internal/jute"
)

// Multi does all operations in one transaction, or none, and returns one result for each. If one
// fails, nothing has changed, and all results are error results: the failed operation's has its
// error, those before it have OK, and those after it have RuntimeInconsistency. The tree keeps the
// operations' data.
//
// The error is MarshallingError if Multi comes to an operation that makes no sense in a multi: a
// read, or a create whose flags need a time to live although it has none.
func (t *Tree) Multi(tx Tx, who Caller, ops []jute.MultiOp) ([]jute.MultiResult, error) {
	t.recording = true
	defer func() { t.recording = false }()
	results := make([]jute.MultiResult, len(ops))
	for i := range ops {
		normalize(&ops[i])
		r, err := t.apply(tx, who, &ops[i])
		if err != nil {
			t.rollback()
			if err == jute.MarshallingError {
				return nil, err
			}
			return failed(results, i, jute.CodeOf(err)), nil
		}
		results[i] = r
	}
	t.commit()
	return results, nil
}

// normalize changes each create as the server does when it reads a multi. In a multi the flags
// decide, not the operation, so create2 becomes create.
func normalize(o *jute.MultiOp) {
	m := modes[o.Create.Flags]
	switch {
	case o.Op != jute.OpCreate && o.Op != jute.OpCreate2 && o.Op != jute.OpCreateContainer && o.Op != jute.OpCreateTTL:
	case m.ttl && o.Op == jute.OpCreateTTL:
	case m.container:
		o.Op, o.Create.TTL = jute.OpCreateContainer, -1
	default:
		o.Op, o.Create.TTL = jute.OpCreate, -1
	}
}

func (t *Tree) apply(tx Tx, who Caller, o *jute.MultiOp) (jute.MultiResult, error) {
	r := jute.MultiResult{Op: o.Op}
	switch o.Op {
	case jute.OpDelete:
		return r, t.delete(tx, who, o.Version)
	case jute.OpCheck:
		return r, t.Check(who, o.Version)
	case jute.OpSetData:
		n, err := t.setData(tx, who, o.Set)
		if err == nil {
			r.Stat = t.stat(n)
		}
		return r, err
	case jute.OpGetData, jute.OpGetChildren:
		return r, jute.MarshallingError
	case jute.OpCreate:
		if modes[o.Create.Flags].ttl {
			return r, jute.MarshallingError
		}
	}
	path, n, err := t.create(tx, who, o.Op, o.Create)
	if err != nil {
		return r, err
	}
	r.Path = path
	if o.Op != jute.OpCreate {
		// A result with a Stat is create2's, even for createContainer and createTTL.
		r.Op, r.Stat = jute.OpCreate2, t.stat(n)
	}
	return r, nil
}

func failed(results []jute.MultiResult, at int, code jute.Code) []jute.MultiResult {
	for i := range results {
		results[i] = jute.MultiResult{Op: jute.OpError}
		switch {
		case i == at:
			results[i].Err = code
		case i > at:
			results[i].Err = jute.RuntimeInconsistency
		}
	}
	return results
}

// AppendMultiRead does each read and appends its result to b, without the end header. If a read
// fails, it appends an error result and continues. A read can ask for a watch, but the server
// ignores that. If b becomes longer than limit bytes, AppendMultiRead stops and returns false.
func (t *Tree) AppendMultiRead(b []byte, who Caller, ops []jute.MultiOp, limit int) ([]byte, bool) {
	for i := range ops {
		o := &ops[i].Read
		mark := len(b)
		var err error
		if ops[i].Op == jute.OpGetData {
			r := jute.MultiResult{Op: jute.OpGetData}
			if r.Data, r.Stat, err = t.GetData(who, o.Path, nil); err == nil {
				b = jute.AppendMultiResult(b, &r)
			}
		} else {
			b = jute.AppendMultiHeader(b, jute.MultiHeader{Op: jute.OpGetChildren})
			b, _, err = t.AppendChildren(b, who, o.Path, nil)
		}
		if err != nil {
			b = jute.AppendMultiResult(b[:mark], &jute.MultiResult{Op: jute.OpError, Err: jute.CodeOf(err)})
		}
		if len(b) > limit {
			return nil, false
		}
	}
	return b, true
}
