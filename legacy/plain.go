package legacy

import "strings"

// Most records are written plainly: as the services' own encoders write them,
// with nothing of what the formats allow besides. A plain reader reads such a
// payload in one pass and takes nothing else. It gives up at whatever it
// doesn't know, faults included, and then the format's decode has the say: that
// alone tells what is wrong with a record. What a plain reader reads, decode
// reads as the same (FuzzPlain). The strings that it returns are parts of one
// copy of the payload.

// decodePlain reads a payload that is plain in its format.
func decodePlain(payload []byte) (Format, Payload, bool) {
	if payload[0] != '<' {
		format := DetectFormat(payload)
		if c := codecOf(format); c != nil {
			p, ok := c.plain(string(payload))
			return format, p, ok
		}
		return "", nil, false
	}
	// The root element, which tells the format, is the first that a plain reader
	// of XML looks at.
	text := string(payload)
	for _, format := range [...]Format{BeansXML, PropertiesXML} {
		if p, ok := codecOf(format).plain(text); ok {
			return format, p, true
		}
	}
	return "", nil, false
}

// scanner walks through a plain payload.
type scanner struct {
	text string
	pos  int
}

func (s *scanner) atEnd() bool { return s.pos == len(s.text) }

// take goes past what is next, if it is that.
func (s *scanner) take(next string) bool {
	if !strings.HasPrefix(s.text[s.pos:], next) {
		return false
	}
	s.pos += len(next)
	return true
}

// blank goes past white space.
func (s *scanner) blank() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// hex reads four hexadecimal digits.
func (s *scanner) hex() (unit uint16, ok bool) {
	if len(s.text)-s.pos < 4 {
		return 0, false
	}
	for range 4 {
		digit, ok := hexDigit(s.text[s.pos])
		if !ok {
			return 0, false
		}
		unit = unit<<4 | uint16(digit)
		s.pos++
	}
	return unit, true
}

func hexDigit(c byte) (digit byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// entry is one property, where it stands in the payload.
type entry struct {
	key   string
	value any
}

// usualEntries is room for the properties of all but the strangest record.
const usualEntries = 32

// newPayload makes a map of its final size. Of a key that is repeated it has the
// last value.
func newPayload(entries []entry) Payload {
	p := make(Payload, len(entries))
	for _, e := range entries {
		p[e.key] = e.value
	}
	return p
}
