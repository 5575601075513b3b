package ztree

import (
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Do does one request that changes the tree, or a check. The error says why nothing was done. The
// database keeps r's data and ACL.
func (db *Database) Do(tx Tx, who Caller, r *jute.Request) (jute.Result, error) {
	res, err := db.apply(tx, who, r)
	if err == nil {
		db.commit()
	}
	return res, err
}

// Multi does all operations in one transaction, or none, and returns one result for each. If one
// fails, nothing has changed, and all results are error results: the failed operation's has its
// error, those before it have OK, and those after it have RuntimeInconsistency. The database keeps the
// operations' data.
//
// The error is MarshallingError if Multi comes to an operation that makes no sense in a multi: a
// read, or a create whose flags need a time to live although it has none.
func (db *Database) Multi(tx Tx, who Caller, ops []jute.Request) ([]jute.Result, error) {
	db.recording = true
	defer func() { db.recording = false }()
	results := make([]jute.Result, len(ops))
	for i := range ops {
		err := normalize(&ops[i])
		if err == nil {
			results[i], err = db.apply(tx, who, &ops[i])
		}
		if err != nil {
			db.rollback()
			if err == jute.MarshallingError {
				return nil, err
			}
			return failed(results, i, jute.CodeOf(err)), nil
		}
	}
	db.commit()
	return results, nil
}

// normalize changes each create as the server does when it reads a multi. In a multi the flags
// decide, not the operation, so create2 becomes create.
func normalize(r *jute.Request) error {
	m := modes[r.Flags]
	switch {
	case r.Op != jute.OpCreate && r.Op != jute.OpCreate2 && r.Op != jute.OpCreateContainer && r.Op != jute.OpCreateTTL:
	case m.ttl && r.Op == jute.OpCreateTTL:
	case m.ttl:
		return jute.MarshallingError
	case m.container:
		r.Op = jute.OpCreateContainer
	default:
		r.Op = jute.OpCreate
	}
	return nil
}

func (db *Database) apply(tx Tx, who Caller, r *jute.Request) (jute.Result, error) {
	res := jute.Result{Op: r.Op}
	var n *znode.Node
	var err error
	switch r.Op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		n, err = db.create(tx, who, r)
	case jute.OpDelete:
		err = db.delete(tx, who, r)
	case jute.OpSetData:
		n, err = db.setData(tx, who, r)
	case jute.OpSetACL:
		n, err = db.setACL(who, r)
	case jute.OpCheck:
		err = db.check(who, r)
	default:
		err = jute.MarshallingError
	}
	if n != nil {
		res.Path, res.Stat = n.Path, n.Stat
	}
	return res, err
}

func failed(results []jute.Result, at int, code jute.Code) []jute.Result {
	for i := range results {
		results[i] = jute.Result{Op: jute.OpError}
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
// ignores that.
func (db *Database) AppendMultiRead(b []byte, who Caller, ops []jute.Request) []byte {
	for i := range ops {
		r, mark := jute.Result{Op: ops[i].Op}, len(b)
		var err error
		if r.Op == jute.OpGetData {
			if r.Data, r.Stat, err = db.GetData(who, ops[i].Path, nil); err == nil {
				b = jute.AppendMultiResult(b, &r)
			}
		} else {
			b = jute.AppendMultiHeader(b, jute.MultiHeader{Op: r.Op})
			b, _, err = db.AppendChildren(b, who, ops[i].Path, nil)
		}
		if err != nil {
			b = jute.AppendMultiResult(b[:mark], &jute.Result{Op: jute.OpError, Err: jute.CodeOf(err)})
		}
	}
	return b
}
