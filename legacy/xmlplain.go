package legacy

import "unicode/utf8"

// Most XML records are plain: they are spelled as the services' own encoders spell
// them, and use nothing else that XML allows. A plain reader reads such a payload in
// one pass. It gives up at anything else, including faults. Then the format's decode
// reads the payload, and it alone says what is wrong with a record. Both read a
// plain payload as the same (FuzzPlain). The strings that a plain reader returns are
// parts of one copy of the payload.
//
// Why two: with the library alone, mrtq inspect takes 2.6 to 3.3 times as long for
// 20,000 records of these formats, and mrtq migrate from file to file 1.7 to 2.0
// times. The other formats have one reader.

// decodePlainXML reads a payload that is plain. The root element decides the format,
// and each reader checks it before anything else.
func decodePlainXML(payload []byte) (Format, Payload, bool) {
	if payload[0] != '<' {
		return "", nil, false
	}
	text := string(payload)
	if p, ok := plainBeans(text); ok {
		return BeansXML, p, true
	}
	p, ok := plainPropertiesXML(text)
	return PropertiesXML, p, ok
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

// xmlDeclaration skips the declaration that the JDK writes, if there is one.
func (s *scanner) xmlDeclaration() bool {
	if s.take(`<?xml version="1.0" encoding="UTF-8"`) {
		s.take(` standalone="no"`)
		if !s.take("?>") {
			return false
		}
	}
	s.blank()
	return true
}

// xmlText reads character data up to a tag, or the value of an attribute up to
// its quote, and stops before that. It gives up at what XML has special rules
// for: carriage returns, white space in an attribute, CDATA sections and
// comments (the caller finds that these are not its tag), and characters that
// are allowed only as a reference.
func (s *scanner) xmlText(end byte) (string, bool) {
	begin := s.pos
	for i := begin; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == end:
			s.pos = i
			return s.text[begin:i], true
		case c == '&':
			s.pos = i
			return s.xmlReferences(s.text[begin:i], end)
		case !xmlPlain(s.text, i, end):
			return "", false
		}
	}
	return "", false
}

// xmlReferences reads the rest of a text, from its first reference on.
func (s *scanner) xmlReferences(head string, end byte) (string, bool) {
	out := append(make([]byte, 0, 2*len(head)+32), head...)
	for !s.atEnd() {
		switch c := s.text[s.pos]; {
		case c == end:
			return joinSurrogates(string(out)), true
		case c == '&':
			r, ok := s.xmlReference()
			switch {
			case !ok:
				return "", false
			case r > 0xffff:
				out = utf8.AppendRune(out, r)
			default:
				out = appendUnit(out, uint16(r))
			}
		case !xmlPlain(s.text, s.pos, end):
			return "", false
		default:
			out = append(out, c)
			s.pos++
		}
	}
	return "", false
}

// xmlPlain reports whether the byte may be in a text that ends before end.
func xmlPlain(text string, i int, end byte) bool {
	switch c := text[i]; {
	case c < ' ':
		return end == '<' && (c == '\n' || c == '\t')
	case c == '<' || c == '>':
		return false
	case c == 0xef: // U+FFFE and U+FFFF are EF BF BE and EF BF BF
		return text[i+1] != 0xbf || text[i+2] < 0xbe
	}
	return true
}

// xmlReference reads a reference to a character, by number or by name. As Java
// does, it takes the numbers of characters that XML forbids.
func (s *scanner) xmlReference() (rune, bool) {
	switch {
	case s.take("&amp;"):
		return '&', true
	case s.take("&lt;"):
		return '<', true
	case s.take("&gt;"):
		return '>', true
	case s.take("&quot;"):
		return '"', true
	case s.take("&apos;"):
		return '\'', true
	case !s.take("&#"):
		return 0, false
	}
	base := rune(10)
	if s.take("x") {
		base = 16
	}
	r := rune(0)
	for begin := s.pos; !s.atEnd() && s.pos-begin < 8; s.pos++ {
		if s.text[s.pos] == ';' {
			s.pos++
			return r, s.pos-1 > begin && r <= utf8.MaxRune
		}
		digit, ok := hexDigit(s.text[s.pos])
		if !ok || rune(digit) >= base || r > utf8.MaxRune {
			return 0, false
		}
		r = r*base + rune(digit)
	}
	return 0, false
}
