package legacy

import "strings"

// Most records are plain: they are spelled as the services' own encoders spell
// them, and use nothing else that the formats allow. A plain reader reads such
// a payload in one pass. It gives up at anything else, including faults. Then
// the format's decode reads the payload, and it alone says what is wrong with a
// record. Both read a plain payload as the same (FuzzPlain). The strings that a
// plain reader returns are parts of one copy of the payload.

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
	// The root element decides the format. A plain reader of XML checks it
	// before anything else.
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

// take skips next if the text continues with it.
func (s *scanner) take(next string) bool {
	if !strings.HasPrefix(s.text[s.pos:], next) {
		return false
	}
	s.pos += len(next)
	return true
}

// blank skips white space.
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

// entry is one property, in the order of the payload.
type entry struct {
	key   string
	value any
}

// usualEntries is room for the properties of all but the strangest record.
const usualEntries = 32

// newPayload makes a map of its final size. If a key is repeated, its last
// value counts.
func newPayload(entries []entry) Payload {
	p := make(Payload, len(entries))
	for _, e := range entries {
		p[e.key] = e.value
	}
	return p
}
