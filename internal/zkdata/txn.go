package zkdata

import (
	"fmt"

	"mrtq/internal/znode"
)

// opType is the type of a transaction (ZooDefs.OpCode).
type opType int32

const (
	opError           opType = -1
	opCreate          opType = 1
	opDelete          opType = 2
	opSetData         opType = 5
	opSetACL          opType = 7
	opCheck           opType = 13
	opMulti           opType = 14
	opCreate2         opType = 15
	opReconfig        opType = 16
	opCreateContainer opType = 19
	opDeleteContainer opType = 20
	opCreateTTL       opType = 21
	opCreateSession   opType = -10
	opCloseSession    opType = -11
)

var opNames = map[opType]string{
	opError: "error", opCreate: "create", opDelete: "delete", opSetData: "setData", opSetACL: "setACL", opCheck: "check",
	opMulti: "multi", opCreate2: "create2", opReconfig: "reconfig", opCreateContainer: "createContainer",
	opDeleteContainer: "deleteContainer", opCreateTTL: "createTTL", opCreateSession: "createSession", opCloseSession: "closeSession",
}

func (o opType) String() string {
	if name := opNames[o]; name != "" {
		return name
	}
	return fmt.Sprintf("type %d", int32(o))
}

// moment is a transaction's place in history.
type moment struct{ zxid, time int64 }

// transaction is one entry of a log.
type transaction struct {
	moment
	session int64
	typ     opType
	changes []change // the parts of a multi that succeeded; otherwise one change, or none
	digest  *treeDigest
}

// change is what a transaction, or a part of a multi, does to the tree. The
// type decides which fields it uses.
type change struct {
	typ            opType
	path           []byte
	data           []byte
	acl            *[]znode.ACL
	version        int32
	parentCversion int32
	ephemeral      bool
	ttl            int64
	timeout        int32    // of createSession, in milliseconds
	listed         [][]byte // of closeSession: the session's ephemeral znodes
}

// digestLen is the length of a TxnDigest: version and value.
const digestLen = 12

// transaction decodes an entry of a log (SerializeUtils.deserializeTxn): a
// TxnHeader, the fields of its type, and since 3.6 a digest.
func (f *fields) transaction(t *transaction) error {
	*t = transaction{changes: t.changes[:0]}
	t.session = f.int64("session")
	f.int32("cxid")
	t.zxid = f.int64("zxid")
	t.time = f.int64("time")
	t.typ = opType(f.int32("type"))
	if t.typ == opMulti {
		f.multi(t)
	} else {
		t.changes = append(t.changes, f.change(t.typ, false))
	}
	if f.err == nil && f.left() == digestLen {
		t.digest = &treeDigest{zxid: t.zxid, version: f.int32("digest version"), value: uint64(f.int64("digest"))}
	}
	if f.err == nil && f.left() > 0 {
		f.fail("%d bytes are left over", f.left())
	}
	if f.err != nil {
		return fmt.Errorf("transaction %s (%s): %w", zx(t.zxid), t.typ, f.err)
	}
	return nil
}

// change decodes the fields of one type of transaction. A part of a multi has
// fewer possible types, and no digest after it.
func (f *fields) change(typ opType, part bool) change {
	c := change{typ: typ}
	switch typ {
	case opCreate, opCreate2:
		c.path, c.data, c.acl, c.ephemeral = f.path(false), f.bytes("data"), f.acl(), f.bool("ephemeral")
		c.parentCversion = -1
		if typ == opCreate2 || f.left() > 0 { // CreateTxnV0, before 3.4, ends here
			c.parentCversion = f.int32("parentCVersion")
		}
	case opCreateContainer:
		c.path, c.data, c.acl, c.parentCversion = f.path(false), f.bytes("data"), f.acl(), f.int32("parentCVersion")
	case opCreateTTL:
		c.path, c.data, c.acl, c.parentCversion, c.ttl = f.path(false), f.bytes("data"), f.acl(), f.int32("parentCVersion"), f.int64("ttl")
	case opDelete, opDeleteContainer:
		c.path = f.path(false)
	case opSetData:
		c.path, c.data, c.version = f.path(true), f.bytes("data"), f.int32("version")
	case opCheck:
		c.path, c.version = f.bytes("path"), f.int32("version")
	case opError:
		f.int32("error")
	default:
		if part {
			f.fail("%s can't be a part of a multi", typ)
			break
		}
		f.whole(&c)
	}
	return c
}

// whole decodes the types that can't be parts of a multi.
func (f *fields) whole(c *change) {
	switch c.typ {
	case opReconfig:
		c.path, c.data, c.version = f.path(true), f.bytes("data"), f.int32("version")
	case opSetACL:
		c.path, c.acl, c.version = f.path(true), f.acl(), f.int32("version")
	case opCreateSession:
		c.timeout = f.int32("timeout")
	case opCloseSession:
		// Before 3.6, or without closeSessionTxn, there is no list. But there
		// may be a digest, which can't be confused with a list of paths: its
		// version would be the number of paths.
		if left := f.left(); left == 0 || left == digestLen && !f.looksLikePaths() {
			return
		}
		n := f.count(4, "paths")
		for range max(n, 0) {
			c.listed = append(c.listed, f.path(false))
		}
	default:
		f.fail("there is no such transaction in ZooKeeper 3.4 to 3.9")
	}
}

// looksLikePaths reports whether a vector of paths is all that is left.
func (f *fields) looksLikePaths() bool {
	try := *f
	for range max(try.count(4, "paths"), 0) {
		try.path(false)
	}
	return try.err == nil && try.left() == 0
}

// multi decodes the parts of a multi. If one of them failed, none was applied,
// and the transaction changes nothing.
func (f *fields) multi(t *transaction) {
	failed := false
	for range max(f.count(8, "parts"), 0) {
		typ := opType(f.int32("type of a part"))
		part := fields{b: f.bytes("part"), acls: f.acls}
		if f.err != nil {
			return
		}
		t.changes = append(t.changes, part.change(typ, true))
		if part.err == nil && part.left() > 0 {
			part.fail("%d bytes are left over", part.left())
		}
		if part.err != nil {
			f.fail("part %d (%s): %v", len(t.changes), typ, part.err)
			return
		}
		failed = failed || typ == opError
	}
	if failed {
		t.changes = t.changes[:0]
	}
}
