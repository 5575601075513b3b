package zkdata

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"mrtq/internal/znode"
)

// fields reads the fields of one transaction. Its results are parts of the
// transaction's bytes. After its first error every read returns zero.
type fields struct {
	b   []byte
	pos int
	err error
	// acls are the lists read so far, by their bytes. Most znodes share a few
	// lists.
	acls map[string]*[]znode.ACL
}

func (f *fields) left() int { return len(f.b) - f.pos }

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("in its byte %d: %s", f.pos, fmt.Sprintf(format, args...))
	}
}

func (f *fields) take(n int, field string) []byte {
	if f.err != nil {
		return nil
	}
	if n > f.left() {
		f.fail("%s is %d bytes long, and %d are left", field, n, f.left())
		return nil
	}
	b := f.b[f.pos : f.pos+n : f.pos+n]
	f.pos += n
	return b
}

func (f *fields) int32(field string) int32 {
	b := f.take(4, field)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (f *fields) int64(field string) int64 {
	b := f.take(8, field)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

func (f *fields) bool(field string) bool {
	b := f.take(1, field)
	return b != nil && b[0] != 0
}

// bytes reads a buffer or string; nil is null.
func (f *fields) bytes(field string) []byte {
	n := int(f.int32("length of " + field))
	switch {
	case f.err != nil || n == -1:
		return nil
	case n < 0:
		f.fail("the length of %s is %d", field, n)
		return nil
	}
	return f.take(n, field)
}

// path reads a znode's path. It accepts the root's only if root is set.
func (f *fields) path(root bool) []byte {
	p := f.bytes("path")
	if f.err == nil && !isPath(p) && !(root && string(p) == "/") {
		f.fail("%q is not a znode's path", p)
	}
	return p
}

// isPath reports whether p is a path that a tree can have: absolute, without an
// empty name, not the root. [znode.ValidatePath] checks each name.
func isPath(p []byte) bool {
	return len(p) > 1 && p[0] == '/' && p[len(p)-1] != '/' && !bytes.Contains(p, []byte("//"))
}

// count reads the length of a vector whose elements have at least the given
// size; -1 is null.
func (f *fields) count(least int, field string) int {
	n := int(f.int32("length of " + field))
	if f.err == nil && (n < -1 || n > f.left()/least) {
		f.fail("there are %d %s, and %d bytes are left", n, field, f.left())
	}
	if f.err != nil {
		return -1
	}
	return n
}

// acl reads a list of ACLs; null means the open one
// (ReferenceCountedACLCache.convertAcls).
func (f *fields) acl() *[]znode.ACL {
	start := f.pos
	n := f.count(12, "ACLs")
	if n < 0 {
		return &openACL
	}
	first := f.pos
	for range n {
		f.int32("permissions")
		f.bytes("scheme")
		f.bytes("id")
	}
	if f.err != nil {
		return nil
	}
	if known := f.acls[string(f.b[start:f.pos])]; known != nil {
		return known
	}
	end := f.pos
	list := make([]znode.ACL, n)
	f.pos = first
	for i := range list {
		list[i] = znode.ACL{Perms: f.int32("permissions"), Scheme: string(f.bytes("scheme")), ID: string(f.bytes("id"))}
	}
	if f.acls != nil {
		const most = 4096 // clear it, so that memory stays in proportion to the tree
		if len(f.acls) >= most {
			clear(f.acls)
		}
		f.acls[string(f.b[start:end])] = &list
	}
	return &list
}
