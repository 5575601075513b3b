package offline

import (
	"encoding/binary"
	"errors"

	"mrtq/internal/znode"
)

// entry is what a layer has for a path: the whole znode, or the fact that it was
// removed.
type entry struct {
	path string
	gone bool
	state
}

// state is a znode without its path.
type state struct {
	data []byte
	stat znode.Stat
	acl  []znode.ACL // nil if it is open
}

func (e *entry) node() znode.Node {
	return znode.Node{Path: e.path, Data: e.data, Stat: e.stat, ACL: e.acl}
}

// An entry in a run is written as the length of its path, the path, the length of the
// body, and the body. The body is a byte of flags, and if the znode exists, its Stat,
// its ACL and its data.
const (
	flagGone = 1 << iota
	flagNull // null data
	flagACL
)

func appendEntry(b []byte, e *entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.path)))
	b = append(b, e.path...)
	var space [256]byte
	body := appendBody(space[:0], e)
	b = binary.AppendUvarint(b, uint64(len(body)+len(e.data)))
	return append(append(b, body...), e.data...)
}

// appendBody appends all but the data, which comes last.
func appendBody(b []byte, e *entry) []byte {
	if e.gone {
		return append(b, flagGone)
	}
	flags := byte(0)
	if e.data == nil {
		flags |= flagNull
	}
	if e.acl != nil {
		flags |= flagACL
	}
	b = append(b, flags)
	s := e.stat
	for _, v := range []int64{s.Czxid, s.Mzxid, s.Pzxid, s.Ctime, s.Mtime, s.EphemeralOwner,
		int64(s.Version), int64(s.Cversion), int64(s.Aversion), int64(s.NumChildren)} {
		b = binary.AppendVarint(b, v)
	}
	if e.acl != nil {
		b = binary.AppendUvarint(b, uint64(len(e.acl)))
		for _, a := range e.acl {
			b = binary.AppendVarint(b, int64(a.Perms))
			b = appendText(b, a.Scheme)
			b = appendText(b, a.ID)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// errDamaged says that a temporary file has other content than was written.
var errDamaged = errors.New("a temporary file does not hold what was written to it")

// nextEntry splits b into the path and the body of its first entry, and the rest.
func nextEntry(b []byte) (path, body, rest []byte, err error) {
	path, b, err = takeBytes(b)
	if err == nil {
		body, b, err = takeBytes(b)
	}
	return path, body, b, err
}

func takeBytes(b []byte) (taken, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, errDamaged
	}
	return b[size : size+int(n)], b[size+int(n):], nil
}

// parseBody parses a body with its data. The result shares no memory with b.
func parseBody(b []byte) (s state, gone bool, err error) {
	p := parser{rest: b}
	flags := p.byte()
	if flags&flagGone != 0 {
		return state{}, true, p.err
	}
	st := &s.stat
	st.Czxid, st.Mzxid, st.Pzxid, st.Ctime, st.Mtime, st.EphemeralOwner = p.int(), p.int(), p.int(), p.int(), p.int(), p.int()
	st.Version, st.Cversion, st.Aversion, st.NumChildren = int32(p.int()), int32(p.int()), int32(p.int()), int32(p.int())
	if flags&flagACL != 0 {
		n := p.length()
		for range n {
			s.acl = append(s.acl, znode.ACL{Perms: int32(p.int()), Scheme: p.text(), ID: p.text()})
		}
	}
	st.DataLength = int32(len(p.rest))
	if flags&flagNull == 0 {
		s.data = append(make([]byte, 0, len(p.rest)), p.rest...)
	}
	return s, false, p.err
}

// parser reads values until the first error.
type parser struct {
	rest []byte
	err  error
}

func (p *parser) byte() byte {
	if len(p.rest) == 0 {
		p.err = errDamaged
		return 0
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	return b
}

func (p *parser) int() int64 {
	v, n := binary.Varint(p.rest)
	if n <= 0 {
		p.err = errDamaged
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

// length reads a number of items. Each item has at least one byte.
func (p *parser) length() int {
	v, n := binary.Uvarint(p.rest)
	if n <= 0 || v > uint64(len(p.rest)) {
		p.err = errDamaged
		return 0
	}
	p.rest = p.rest[n:]
	return int(v)
}

func (p *parser) text() string {
	n := p.length()
	if n > len(p.rest) {
		p.err = errDamaged
		return ""
	}
	s := string(p.rest[:n])
	p.rest = p.rest[n:]
	return s
}
