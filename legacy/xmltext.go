package legacy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// guardXML guards the character references that XML 1.0 forbids and Java writes
// and reads: the two halves of a pair, unpaired ones, control characters. It
// also turns line ends and tabs in attribute values into blanks. XML demands
// this and the library doesn't do it. Later nothing would distinguish them from
// those that a reference wrote.
func guardXML(text []byte) guarded {
	g := guarded{text: make([]byte, 0, len(text))}
	tag, quote := false, byte(0) // within <…>, within a quoted value of it
	for i := 0; i < len(text); {
		if n := verbatim(text[i:]); n > 0 && quote == 0 {
			g.copy(text[:i+n], i)
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch b := text[i]; {
		case r == guard:
			g.literal(i + n)
		case b == '&':
			if ref, width := charReference(text[i:]); width > 0 && (ref == guard || !isXMLChar(ref)) {
				n = width
				if ref == guard {
					g.literal(i + n)
				} else {
					g.unit(uint16(ref), i+n)
				}
				break
			}
			g.text = append(g.text, b)
		case quote != 0 && (b == '\t' || b == '\n' || b == '\r'):
			if bytes.HasPrefix(text[i:], []byte("\r\n")) {
				n = 2
			}
			g.text = append(g.text, ' ')
			g.moved(i + n)
		default:
			switch {
			case b == '<':
				tag = true
			case b == '>' && quote == 0:
				tag = false
			case tag && (b == '"' || b == '\''):
				switch quote {
				case 0:
					quote = b
				case b:
					quote = 0
				}
			}
			g.text = append(g.text, text[i:i+n]...)
		}
		i += n
	}
	return g
}

// copy appends text from i on, and guards only the guard itself.
func (g *guarded) copy(text []byte, i int) {
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if r == guard {
			g.literal(i + n)
		} else {
			g.text = append(g.text, text[i:i+n]...)
		}
		i += n
	}
}

// verbatim returns the length of the CDATA section, comment or processing
// instruction that text begins with, 0 for none. A reference in one is text.
func verbatim(text []byte) int {
	if text[0] != '<' {
		return 0
	}
	for _, s := range [...]struct{ begin, end string }{{"<![CDATA[", "]]>"}, {"<!--", "-->"}, {"<?", "?>"}} {
		if bytes.HasPrefix(text, []byte(s.begin)) {
			if n := bytes.Index(text[len(s.begin):], []byte(s.end)); n >= 0 {
				return len(s.begin) + n + len(s.end)
			}
			return len(text)
		}
	}
	return 0
}

// charReference reads &#…; at the beginning of text. Its width is 0 if there
// is none, or its number is no character's.
func charReference(text []byte) (r rune, width int) {
	digits, ok := bytes.CutPrefix(text, []byte("&#"))
	if !ok {
		return 0, 0
	}
	base := 10
	if hex, ok := bytes.CutPrefix(digits, []byte("x")); ok {
		digits, base = hex, 16
	}
	end := bytes.IndexFunc(digits, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) })
	if end < 0 || digits[end] != ';' {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(digits[:end]), base, 32)
	if err != nil || n > utf8.MaxRune {
		return 0, 0
	}
	return rune(n), len(text) - len(digits) + end + 1
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
