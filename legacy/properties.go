package legacy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/magiconair/properties"
)

// noKey is what guardProperties writes for an empty key, because the library
// doesn't allow one: a guard and then a character that no unit begins with.
const noKey = string(guard) + "-"

func decodeProperties(data []byte) (Payload, *Error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	text, bad := guardProperties(data)
	if bad != nil {
		return nil, bad
	}
	// The text is UTF-8 by now, and ${x} stays as it is.
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	loaded, err := loader.LoadBytes(text)
	if err != nil {
		return nil, &Error{Kind: BadPayload, Offset: noOffset, Msg: "properties text", Err: err}
	}
	p := make(Payload, loaded.Len())
	for key, value := range loaded.Map() {
		if key == noKey {
			key = ""
		}
		p[unguard(key)] = unguard(value)
	}
	return p, nil
}

// checkText refuses what Properties.load accepts and Properties.store never
// writes: control characters, including those in the upper half of ISO-8859-1,
// and bytes beyond ASCII in a text without any separator.
func checkText(data []byte) *Error {
	high := -1
	for i, b := range data {
		switch {
		case b == '\t' || b == '\n' || b == '\r' || b == '\f':
		case b < ' ' || b >= 0x7f && b < 0xa0:
			return badPayload(i, "byte %#02x is a control character in ISO-8859-1: want properties text, XML, JSON or an object stream", b)
		case b >= 0xa0 && high < 0:
			high = i
		}
	}
	if high >= 0 && !bytes.ContainsAny(data, "=:") {
		return badPayload(high, "byte %#02x in text without = or a colon: want properties text, XML, JSON or an object stream", data[high])
	}
	return nil
}

// guardProperties rewrites ISO-8859-1 properties text as UTF-8 with each
// logical line on one line, so that the library reads it as
// java.util.Properties.load does. Loading the same text with both showed these
// differences:
//
//   - a key may be continued on the next line; the library keeps the line end
//   - CR LF is one line end after a backslash, too; the library sees two
//   - a backslash that ends the text is dropped; the library fails
//   - a key may be empty; the library fails
//   - \uD83D is a surrogate; the library makes it U+FFFD
func guardProperties(data []byte) ([]byte, *Error) {
	lines := logicalLines(data)
	var g guarded
	for i := 0; i < len(lines.text); {
		b := lines.text[i]
		if newLine := i == 0 || lines.text[i-1] == '\n'; newLine && strings.IndexByte("=:\n", b) >= 0 {
			g.text = append(g.text, noKey...)
		}
		if b != '\\' {
			g.text = utf8.AppendRune(g.text, rune(b))
			i++
			continue
		}
		escaped := lines.text[i+1] // logicalLines leaves no backslash at a line's end
		if escaped != 'u' {
			g.text = utf8.AppendRune(append(g.text, b), rune(escaped))
			i += 2
			continue
		}
		unit, err := hexUnit(lines.text[i+2:])
		if err != nil {
			return nil, badPayload(lines.source(i), "properties text: %s", err)
		}
		if utf16.IsSurrogate(rune(unit)) {
			g.unit(unit, i+6)
		} else {
			g.text = append(g.text, lines.text[i:i+6]...)
		}
		i += 6
	}
	return g.text, nil
}

// hexUnit reads the four digits after \u.
func hexUnit(b []byte) (uint16, error) {
	digits := b[:min(4, len(b))]
	if i := bytes.IndexByte(digits, '\n'); i >= 0 {
		digits = digits[:i]
	}
	unit, err := strconv.ParseUint(string(digits), 16, 16)
	if err != nil || len(digits) < 4 {
		return 0, fmt.Errorf("\\u and %q: want four hexadecimal digits", digits)
	}
	return uint16(unit), nil
}

// logicalLines joins continued lines, drops comments and blank lines, and ends
// each line with LF, as java.util.Properties.load divides its input.
func logicalLines(data []byte) guarded {
	g := guarded{text: make([]byte, 0, len(data)+1)}
	begin := 0 // where the logical line begins in g.text
	for i := 0; i < len(data); {
		for i < len(data) && strings.IndexByte(" \t\f", data[i]) >= 0 {
			i++
		}
		empty := len(g.text) == begin
		comment := empty && i < len(data) && (data[i] == '#' || data[i] == '!')
		g.moved(i)
		backslash := false // an odd number of them, just before i
		for ; i < len(data) && data[i] != '\n' && data[i] != '\r'; i++ {
			if !comment {
				g.text = append(g.text, data[i])
				backslash = data[i] == '\\' && !backslash
			}
		}
		if backslash {
			g.text = g.text[:len(g.text)-1]
		}
		// If a backslash ends the text, or is before its last line end, the
		// line continues with nothing. It counts even if it is empty.
		last := len(data)-i <= 1
		switch {
		case backslash && last:
			g.text = append(g.text, '\n')
		case backslash:
		case len(g.text) > begin:
			g.text = append(g.text, '\n')
			begin = len(g.text)
		}
		if bytes.HasPrefix(data[i:], []byte("\r\n")) {
			i++
		}
		i++
	}
	if len(g.text) > begin && g.text[len(g.text)-1] != '\n' { // continued with blanks only
		g.text = append(g.text, '\n')
	}
	return g
}

// encodeProperties sorts the keys. It begins with a comment, because without
// one a key could make the text look like another format.
func encodeProperties(p Payload) ([]byte, error) {
	out := []byte("#mrtq\n")
	for _, key := range slices.Sorted(maps.Keys(p)) {
		value, ok := p[key].(string)
		if !ok {
			return nil, fmt.Errorf("%q: %w", key, errValue(p[key], "a string"))
		}
		var err error
		if out, err = appendEscaped(out, key, true); err != nil {
			return nil, err
		}
		if out, err = appendEscaped(append(out, '='), value, false); err != nil {
			return nil, err
		}
		out = append(out, '\n')
	}
	return out, nil
}

// appendEscaped escapes what Properties.store escapes. It escapes a blank only
// in a key or at the beginning of a value.
func appendEscaped(dst []byte, s string, key bool) ([]byte, error) {
	if !isWTF8(s) {
		return nil, fmt.Errorf("%.60q: string is not WTF-8", s)
	}
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch {
		case r == ' ' && (key || i == 0), strings.ContainsRune("=:#!\\", r):
			dst = append(dst, '\\', byte(r))
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04X\u%04X`, high, low)
		default:
			dst = fmt.Appendf(dst, `\u%04X`, r)
		}
		i += n
	}
	return dst, nil
}
