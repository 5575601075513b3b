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
)

// decodeProperties reads what java.util.Properties.load reads.
func decodeProperties(data []byte) (Payload, *Error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	lines := logicalLines(data)
	rest := string(lines.text)
	p := make(Payload, strings.Count(rest, "\n"))
	for rest != "" {
		at := len(lines.text) - len(rest)
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		end, value := splitProperty(line)
		var text [2]string // key, value
		for i, raw := range [...]string{line[:end], line[value:]} {
			var bad int
			var err error
			if text[i], bad, err = unescapeProperty(raw); err != nil {
				return nil, badPayload(lines.source(at+i*value+bad), "properties text: %s", err)
			}
		}
		p[text[0]] = text[1]
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
			return badPayload(i, "byte %#02x is a control character in ISO-8859-1: expected properties text, XML, JSON or an object stream", b)
		case b >= 0xa0 && high < 0:
			high = i
		}
	}
	if high >= 0 && !bytes.ContainsAny(data, "=:") {
		return badPayload(high, "byte %#02x in text without = or a colon: expected properties text, XML, JSON or an object stream", data[high])
	}
	return nil
}

// splitProperty returns where the key of a logical line ends, and where its value
// begins. The first =, colon or blank without a backslash ends the key. It can be
// empty. Blanks around the separator don't count.
func splitProperty(line string) (end, value int) {
	for end < len(line) && strings.IndexByte("=: \t\f", line[end]) < 0 {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	skip := func(i int) int {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		return i
	}
	value = skip(end)
	if value < len(line) && (line[value] == '=' || line[value] == ':') {
		value = skip(value + 1)
	}
	return end, value
}

// isBlank reports whether Properties.load skips b around a key.
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\f' }

// unescapeProperty returns what ISO-8859-1 text with escapes stands for. On an error
// bad is the offset of the escape.
func unescapeProperty(raw string) (text string, bad int, err error) {
	if isPlainASCII(raw) {
		return raw, 0, nil
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = utf8.AppendRune(out, rune(raw[i]))
			continue
		}
		i++ // logicalLines leaves no backslash at a line's end
		switch b := raw[i]; b {
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'f':
			out = append(out, '\f')
		case 'u':
			unit, err := hexUnit(raw[i+1:])
			if err != nil {
				return "", i - 1, err
			}
			out = appendUnit(out, unit)
			i += 4
		default:
			out = utf8.AppendRune(out, rune(b))
		}
	}
	return joinSurrogates(string(out)), 0, nil
}

// isPlainASCII reports whether raw stands for itself.
func isPlainASCII(raw string) bool {
	for i := range len(raw) {
		if b := raw[i]; b >= 0x80 || b == '\\' {
			return false
		}
	}
	return true
}

// hexUnit reads the four digits after \u.
func hexUnit(b string) (uint16, error) {
	digits := b[:min(4, len(b))]
	unit, err := strconv.ParseUint(digits, 16, 16)
	if err != nil || len(digits) < 4 {
		return 0, fmt.Errorf("\\u and %q: expected four hexadecimal digits", digits)
	}
	return uint16(unit), nil
}

// logicalLines joins continued lines, drops comments and blank lines, and ends
// each line with LF, as java.util.Properties.load divides its input.
func logicalLines(data []byte) guarded {
	g := guarded{text: make([]byte, 0, len(data)+1)}
	begin := 0 // where the logical line begins in g.text
	for i := 0; i < len(data); {
		for i < len(data) && isBlank(data[i]) {
			i++
		}
		empty := len(g.text) == begin
		comment := empty && i < len(data) && (data[i] == '#' || data[i] == '!')
		g.moved(i)
		end := len(data)
		if n := bytes.IndexAny(data[i:], "\r\n"); n >= 0 {
			end = i + n
		}
		backslash := false // an odd number of them ends the line
		if line := data[i:end]; !comment {
			backslashes := len(line) - len(bytes.TrimRight(line, `\`))
			backslash = backslashes%2 == 1
			g.text = append(g.text, line...)
		}
		i = end
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
