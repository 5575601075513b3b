package legacy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// characters reads text up to a tag, or the value of an attribute up to its quote, and
// stops before that.
func (d *document) characters(end byte) (string, *Error) {
	begin, done := d.pos, d.pos // what is before done is in out, unless it stands for itself
	var out []byte
	for !d.atEnd() && d.text[d.pos] != end {
		at, c := d.pos, d.text[d.pos]
		switch {
		case c == '&':
			r, ok := d.reference()
			if !ok {
				return "", d.bad(at, "invalid character entity %.40q: want a character's number, amp, lt, gt, quot or apos", d.text[at:])
			}
			out, done = appendCharacter(append(out, d.text[done:at]...), r), d.pos
		case c == '\r' || end != '<' && (c == '\n' || c == '\t'): // XML makes LF of line ends, and blanks in attributes
			blank := byte('\n')
			if end != '<' {
				blank = ' '
			}
			if !d.take("\r\n") {
				d.pos++
			}
			out, done = append(append(out, d.text[done:at]...), blank), d.pos
		case c == '<':
			return "", d.bad(at, "< in the value of an attribute")
		case c == ']' && end == '<' && strings.HasPrefix(d.text[at:], "]]>"):
			return "", d.bad(at, "]]> outside a CDATA section")
		case c >= ' ' && c < utf8.RuneSelf:
			d.pos++
		default:
			r, n := utf8.DecodeRuneInString(d.text[at:])
			if !isXMLChar(r) {
				return "", d.bad(at, "illegal character %U", r)
			}
			d.pos += n
		}
	}
	if done == begin {
		return d.text[begin:d.pos], nil
	}
	return joinSurrogates(string(append(out, d.text[done:d.pos]...))), nil
}

// cdata begins a CDATA section. A reference in one is text.
const cdata = "<![CDATA["

// cdataText reads the rest of a CDATA section.
func (d *document) cdataText() (string, *Error) {
	begin := d.pos
	if !d.takeThrough("]]>") {
		return "", d.bad(begin, "a CDATA section that has no end")
	}
	text := strings.TrimSuffix(d.text[begin:d.pos], "]]>")
	if i := strings.IndexFunc(text, func(r rune) bool { return !isXMLChar(r) }); i >= 0 {
		return "", d.bad(begin+i, "illegal character in a CDATA section")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), nil
}

var xmlEntities = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// reference reads a reference to a character, by number or by name. As Java does, it
// takes the numbers of characters that XML forbids, and of surrogates.
func (d *document) reference() (rune, bool) {
	name, _, ok := strings.Cut(d.text[d.pos+1:], ";")
	if !ok {
		return 0, false
	}
	d.pos += len(name) + 2
	if r, known := xmlEntities[name]; known {
		return r, true
	}
	digits, ok := strings.CutPrefix(name, "#")
	base := 10
	if hex, isHex := strings.CutPrefix(digits, "x"); isHex {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(n), ok && err == nil && n <= utf8.MaxRune
}

// isXMLChar is the production Char of XML 1.0.
func isXMLChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && !utf16.IsSurrogate(r) && r != 0xfffe && r != 0xffff
}

// appendXML appends s as character data or an attribute's value. Characters
// that XML can't hold, and those beyond U+FFFF, go through special.
func appendXML(dst []byte, s string, special func([]byte, rune) []byte) ([]byte, error) {
	if !isWTF8(s) {
		return nil, fmt.Errorf("%.60q: string is not WTF-8", s)
	}
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '"':
			dst = append(dst, "&quot;"...)
		case r == '\r' || r == '\n' || r == '\t': // a reader may make blanks or LF of them
			dst = fmt.Appendf(dst, "&#%d;", r)
		case !isXMLChar(r) || r > 0xffff:
			dst = special(dst, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst, nil
}
