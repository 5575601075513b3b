package legacy

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/magiconair/properties"
)

// decodeProperties reads what java.util.Properties.load reads. The library reads
// the text once it is plain. Nothing in it is expanded, and no file or URL is
// loaded.
func decodeProperties(data []byte) (Payload, *Error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	text, err := plainProperties(logicalLines(data))
	if err != nil {
		return nil, err
	}
	library := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	read, loadErr := library.LoadBytes(text)
	if loadErr != nil {
		return nil, &Error{Kind: BadPayload, Offset: noOffset, Msg: "properties text", Err: loadErr}
	}
	p := make(Payload, read.Len())
	for key, value := range read.Map() {
		p[unguard(strings.TrimPrefix(key, keyMark))] = unguard(value)
	}
	return p, nil
}

// checkText refuses binary data, which Properties.load takes for text, and which Properties.store never writes: NUL, and
// control characters and bytes beyond ASCII in a text without any separator.
func checkText(data []byte) *Error {
	const wanted = "expected properties text, XML, JSON or an object stream"
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return badPayload(i, "byte 0x00 is in no text: "+wanted)
	}
	odd := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) || r >= 0x7f }
	if i := bytes.IndexFunc(data, odd); i >= 0 && !bytes.ContainsAny(data, "=:") {
		return badPayload(i, "byte %#02x in text without = or a colon: "+wanted, data[i])
	}
	return nil
}

// isBlank reports whether Properties.load skips b around a key.
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\f' }

// keyMark begins every key of a plain text, because the library takes no empty key.
const keyMark = "k"

// keyText matches what comes before the end of a key.
var keyText = regexp.MustCompile(`^(?:\\.?|[^=: \t\f\\])*`)

// plainProperties returns logical lines as a text that the library reads as Java
// reads the lines. It is UTF-8, and surrogates in it are guarded, because the
// library would replace them by U+FFFD.
func plainProperties(lines guardedText) ([]byte, *Error) {
	g := guardedText{text: make([]byte, 0, 2*len(lines.text))}
	begin := 0
	for line := range bytes.Lines(lines.text) {
		g.text = append(g.text, keyMark...)
		inKey := true
		for i := 0; i < len(line); i++ {
			switch b := line[i]; {
			case b != '\\':
				inKey = inKey && b != '=' && b != ':' && !isBlank(b)
				g.text = utf8.AppendRune(g.text, rune(b))
			case line[i+1] != 'u': // a line doesn't end in a backslash
				g.text = utf8.AppendRune(append(g.text, b), rune(line[i+1]))
				i++
			default:
				digits := line[i+2 : min(i+6, len(line)-1)]
				if inKey {
					digits = keyText.Find(digits)
				}
				unit, err := hexUnit(string(digits))
				if err != nil {
					return nil, badPayload(lines.source(begin+i), "properties text: %s", err)
				}
				if utf16.IsSurrogate(rune(unit)) {
					g.unit(unit, 0)
				} else {
					g.text = append(g.text, line[i:i+6]...)
				}
				i += 5
			}
		}
		begin += len(line)
	}
	return g.text, nil
}

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
func logicalLines(data []byte) guardedText {
	g := guardedText{text: make([]byte, 0, len(data)+1)}
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
