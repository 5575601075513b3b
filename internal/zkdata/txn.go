package zkdata

import (
	"bytes"
	"errors"
	"fmt"

	"mrtq/internal/jute"
	"mrtq/internal/ztree"
)

// transaction is one entry of a log (SerializeUtils.deserializeTxn): a TxnHeader, the record of its
// type, and since 3.6 a digest.
type transaction struct {
	jute.TxnHeader
	changes []ztree.Change // the parts of a multi that succeeded; otherwise one change
	digest  *treeDigest
}

// treeDigest is the digest of the tree after a transaction, as a server since 3.6 computes it. Digests
// of other versions are not kept.
type treeDigest struct {
	zxid  int64
	value uint64
}

const (
	// digestVersion is the version of the digests that servers since 3.6 compute.
	digestVersion = 2
	// digestLen is the length of a TxnDigest: version and value.
	digestLen = 12
)

// openACL is what a null ACL means (ReferenceCountedACLCache.convertAcls).
var openACL = []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", Name: "anyone"}}}

// record decodes a transaction, or a part of one. Besides what a jute.Decoder checks, it checks what
// a server's transactions have in them.
type record struct {
	jute.Decoder
	length int
	err    error
}

func newRecord(b []byte) *record {
	r := &record{length: len(b)}
	r.Reset(b)
	return r
}

// fail records the first error, at the current byte.
func (r *record) fail(format string, args ...any) {
	if r.problem() == nil {
		r.err = fmt.Errorf("in its byte %d: %s", r.length-r.Len(), fmt.Sprintf(format, args...))
	}
}

// problem returns the first error.
func (r *record) problem() error {
	if r.err != nil {
		return r.err
	}
	var bad *jute.DecodeError
	if errors.As(r.Err(), &bad) {
		return fmt.Errorf("in its byte %d: %s %w", bad.Off, bad.Field, bad.Err)
	}
	return nil
}

// end checks that nothing follows.
func (r *record) end() error {
	if r.Len() > 0 {
		r.fail("%d bytes are left over", r.Len())
	}
	return r.problem()
}

// path reads a znode's path. It accepts the root's only if root is set.
func (r *record) path(root bool) string {
	p := r.String("path")
	if !isPath(p) && !(root && p == "/") {
		r.fail("%q is not a znode's path", p)
	}
	return p
}

// data reads a copy of a znode's data.
func (r *record) data() []byte { return bytes.Clone(r.Buffer("data")) }

func (r *record) acl() []jute.ACL {
	if acls := r.ACLs(); acls != nil {
		return acls
	}
	return openACL
}

// parseTransaction decodes an entry of a log into t.
func parseTransaction(entry []byte, t *transaction) error {
	r := newRecord(entry)
	*t = transaction{TxnHeader: r.TxnHeader(), changes: t.changes[:0]}
	if t.Op == jute.OpMulti {
		r.multi(t)
	} else {
		t.changes = append(t.changes, r.change(t.Op, false))
	}
	if r.problem() == nil && r.Len() == digestLen {
		if version, value := r.Int("digest version"), r.Long("digest"); version == digestVersion {
			t.digest = &treeDigest{t.Zxid, uint64(value)}
		}
	}
	if err := r.end(); err != nil {
		return fmt.Errorf("transaction %s (%s): %w", zx(t.Zxid), t.Op, err)
	}
	return nil
}

// change decodes the record of one type of transaction. A part of a multi has fewer possible types,
// and no digest after it.
func (r *record) change(op jute.OpCode, part bool) ztree.Change {
	c := ztree.Change{Op: op}
	switch op {
	case jute.OpCreate, jute.OpCreate2:
		c.Path, c.Data, c.ACL, c.Ephemeral = r.path(false), r.data(), r.acl(), r.Bool("ephemeral")
		c.ParentCversion = -1
		if op == jute.OpCreate2 || r.Len() > 0 { // CreateTxnV0, before 3.4, ends here
			c.ParentCversion = r.Int("parentCVersion")
		}
	case jute.OpCreateContainer:
		c.Path, c.Data, c.ACL, c.ParentCversion = r.path(false), r.data(), r.acl(), r.Int("parentCVersion")
	case jute.OpCreateTTL:
		c.Path, c.Data, c.ACL, c.ParentCversion, c.TTL = r.path(false), r.data(), r.acl(), r.Int("parentCVersion"), r.Long("ttl")
	case jute.OpDelete, jute.OpDeleteContainer:
		c.Path = r.path(false)
	case jute.OpSetData:
		c.Path, c.Data, c.Version = r.path(true), r.data(), r.Int("version")
	case jute.OpCheck:
		r.String("path")
		r.Int("version")
	case jute.OpError:
		r.Int("error")
	default:
		if part {
			r.fail("%s can't be a part of a multi", op)
			break
		}
		r.whole(&c)
	}
	return c
}

// whole decodes the types that can't be parts of a multi.
func (r *record) whole(c *ztree.Change) {
	switch c.Op {
	case jute.OpReconfig:
		c.Path, c.Data, c.Version = r.path(true), r.data(), r.Int("version")
	case jute.OpSetACL:
		c.Path, c.ACL, c.Version = r.path(true), r.acl(), r.Int("version")
	case jute.OpCreateSession:
		r.Int("timeout")
	case jute.OpCloseSession:
		// Before 3.6, or without closeSessionTxn, there is no list. But there may be a digest,
		// which can't be confused with a list of paths: its version would be the number of paths.
		if r.Len() == 0 || r.Len() == digestLen && !r.looksLikePaths() {
			return
		}
		c.Paths = r.paths()
	default:
		r.fail("there is no such transaction in ZooKeeper 3.4 to 3.9")
	}
}

func (r *record) paths() []string {
	var paths []string
	for range max(r.Count("paths", 4), 0) {
		paths = append(paths, r.path(false))
	}
	return paths
}

// looksLikePaths reports whether a vector of paths is all that is left.
func (r *record) looksLikePaths() bool {
	try := *r
	try.paths()
	return try.end() == nil
}

// multi decodes the parts of a multi. If one of them failed, none was applied, and the transaction
// changes nothing.
func (r *record) multi(t *transaction) {
	failed := false
	for range max(r.Count("parts", 8), 0) {
		op := jute.OpCode(r.Int("type of a part"))
		part := newRecord(r.Buffer("part"))
		if r.problem() != nil {
			return
		}
		t.changes = append(t.changes, part.change(op, true))
		if err := part.end(); err != nil {
			r.fail("part %d (%s): %v", len(t.changes), op, err)
			return
		}
		failed = failed || op == jute.OpError
	}
	if failed {
		t.changes = t.changes[:0]
	}
}
