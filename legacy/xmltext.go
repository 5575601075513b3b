package legacy

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// guardXML guards the character references that XML 1.0 forbids and Java writes
// and reads: the two halves of a pair, unpaired ones, control characters. It
// guards references to line ends and tabs too: in an attribute's value XML makes
// blanks of these unless a reference wrote them (see [attribute]).
func guardXML(text []byte) guardedText {
	if !bytes.Contains(text, []byte("&#")) && !bytes.ContainsRune(text, guard) {
		return guardedText{text: text}
	}
	g := guardedText{text: make([]byte, 0, len(text))}
	for i := 0; i < len(text); {
		ref, n := charReference(text[i:])
		switch {
		case n > 0 && ref == guard:
			g.literal(i + n)
		case n > 0 && (ref < ' ' || !isXMLChar(ref)):
			g.unit(uint16(ref), i+n)
		default:
			n = max(n, verbatim(text[i:]), 1)
			if next := bytes.IndexAny(text[i+n:], "&<"); next >= 0 {
				n += next
			} else {
				n = len(text) - i
			}
			g.copy(text[:i+n], i)
		}
		i += n
	}
	return g
}

// copy appends text from i on, and guards only the guard itself.
func (g *guardedText) copy(text []byte, i int) {
	for {
		n := bytes.IndexRune(text[i:], guard)
		if n < 0 {
			g.text = append(g.text, text[i:]...)
			return
		}
		g.text = append(g.text, text[i:i+n]...)
		i += n + len(string(guard))
		g.literal(i)
	}
}

// verbatim returns the length of the CDATA section, comment, processing
// instruction or declaration that text begins with, 0 for none. A reference in
// one is text.
func verbatim(text []byte) int {
	for _, s := range [...]struct{ begin, end string }{{"<![CDATA[", "]]>"}, {"<!--", "-->"}, {"<?", "?>"}} {
		if bytes.HasPrefix(text, []byte(s.begin)) {
			if n := bytes.Index(text[len(s.begin):], []byte(s.end)); n >= 0 {
				return len(s.begin) + n + len(s.end)
			}
			return len(text)
		}
	}
	if !bytes.HasPrefix(text, []byte("<!")) {
		return 0
	}
	quote := byte(0)
	for i, b := range text {
		switch {
		case quote == 0 && b == '>':
			return i + 1
		case quote == 0 && (b == '"' || b == '\''):
			quote = b
		case b == quote:
			quote = 0
		}
	}
	return len(text)
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
