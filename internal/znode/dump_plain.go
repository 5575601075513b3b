package znode

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"
)

// Nearly every line of a dump is spelled as [DumpWriter] spells it: the keys in
// its order, no blanks, nothing escaped, no ACL. Such a line is read here
// without reflection. encoding/json reads all others, and reports all errors.

// parsePlainLine reads such a line; ok is false for any other.
func parsePlainLine(text []byte) (n Node, ok bool) {
	p := plainLine{rest: bytes.TrimSuffix(text, []byte("\n"))}
	p.want(`{"path":`)
	path := p.path()
	p.want(`,"data":`)
	if !p.has("null") {
		packed := p.text()
		if p.bad || bytes.ContainsAny(packed, "\r\n") { // which the decoder would ignore
			return Node{}, false
		}
		data, err := base64.StdEncoding.Strict().AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(packed))), packed)
		if err != nil {
			return Node{}, false
		}
		n.Data = data
	}
	if p.has(`,"stat":{`) {
		p.stat(&n.Stat)
	}
	p.want("}")
	if p.bad || len(p.rest) > 0 {
		return Node{}, false
	}
	n.Path = string(path)
	return n, true
}

// plainLine splits a line into its parts, as long as it is spelled as expected.
type plainLine struct {
	rest []byte
	bad  bool
}

func (p *plainLine) has(s string) bool {
	if p.bad || len(p.rest) < len(s) || string(p.rest[:len(s)]) != s {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *plainLine) want(s string) {
	if !p.has(s) {
		p.bad = true
	}
}

// text is a string that ends at the next quote. Its caller must check that
// nothing in it is escaped.
func (p *plainLine) text() []byte {
	p.want(`"`)
	end := bytes.IndexByte(p.rest, '"')
	if p.bad || end < 0 {
		p.bad = true
		return nil
	}
	s := p.rest[:end]
	p.rest = p.rest[end+1:]
	return s
}

// path is a text that has no escapes and needs none.
func (p *plainLine) path() []byte {
	path := p.text()
	for _, c := range path {
		p.bad = p.bad || c < ' ' || c == '\\'
	}
	p.bad = p.bad || len(path) == 0 || !utf8.Valid(path)
	return path
}

func (p *plainLine) stat(s *Stat) {
	s.Czxid = p.number(`"czxid":`, math.MaxInt64)
	s.Mzxid = p.number(`,"mzxid":`, math.MaxInt64)
	s.Ctime = p.number(`,"ctime":`, math.MaxInt64)
	s.Mtime = p.number(`,"mtime":`, math.MaxInt64)
	s.Version = int32(p.number(`,"version":`, math.MaxInt32))
	s.Cversion = int32(p.number(`,"cversion":`, math.MaxInt32))
	s.Aversion = int32(p.number(`,"aversion":`, math.MaxInt32))
	s.EphemeralOwner = p.number(`,"ephemeralOwner":`, math.MaxInt64)
	s.DataLength = int32(p.number(`,"dataLength":`, math.MaxInt32))
	s.NumChildren = int32(p.number(`,"numChildren":`, math.MaxInt32))
	s.Pzxid = p.number(`,"pzxid":`, math.MaxInt64)
	p.want("}")
}

// number is a whole number of up to limit after a key, spelled as encoding/json spells it.
func (p *plainLine) number(key string, limit int64) int64 {
	p.want(key)
	end := bytes.IndexAny(p.rest, ",}")
	if p.bad || end < 0 {
		p.bad = true
		return 0
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	n, err := strconv.ParseInt(string(text), 10, 64)
	digits := bytes.TrimPrefix(text, []byte("-"))
	p.bad = err != nil || text[0] == '+' || len(digits) > 1 && digits[0] == '0' || n > limit || n < -limit
	return n
}

// appendPlainLine is the reverse of parsePlainLine: it appends a node's line, if that
// is a plain one. Nearly all lines of a large tree are.
func appendPlainLine(b []byte, n *Node, stat bool) (line []byte, ok bool) {
	if !needsNoEscape(n.Path) || !IsOpenACL(n.ACL) || n.Unreadable != "" {
		return b, false
	}
	b = append(b, `{"path":"`...)
	b = append(b, n.Path...)
	if n.Data == nil {
		b = append(b, `","data":null`...)
	} else {
		b = append(b, `","data":"`...)
		b = base64.StdEncoding.AppendEncode(b, n.Data)
		b = append(b, '"')
	}
	if stat {
		b = append(b, `,"stat":`...)
		for _, f := range []struct {
			key   string
			value int64
		}{
			{`{"czxid":`, n.Stat.Czxid}, {`,"mzxid":`, n.Stat.Mzxid}, {`,"ctime":`, n.Stat.Ctime}, {`,"mtime":`, n.Stat.Mtime},
			{`,"version":`, int64(n.Stat.Version)}, {`,"cversion":`, int64(n.Stat.Cversion)}, {`,"aversion":`, int64(n.Stat.Aversion)},
			{`,"ephemeralOwner":`, n.Stat.EphemeralOwner}, {`,"dataLength":`, int64(n.Stat.DataLength)},
			{`,"numChildren":`, int64(n.Stat.NumChildren)}, {`,"pzxid":`, n.Stat.Pzxid},
		} {
			b = append(b, f.key...)
			b = strconv.AppendInt(b, f.value, 10)
		}
		b = append(b, '}')
	}
	return append(b, '}', '\n'), true
}

// needsNoEscape reports whether JSON writes a path unchanged, as it does nearly all paths.
func needsNoEscape(path string) bool {
	for i := range len(path) {
		if c := path[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
