package screen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON prints what a command prints with -o json. If it can't, [Output] keeps the error.
func (s *Screen) JSON(v any) {
	if err := WriteJSON(s.Out, v); s.Out.Err == nil {
		s.Out.Err = err
	}
}

// WriteJSON writes v as JSON that people can read, too.
func WriteJSON(w io.Writer, v any) error { return encodeJSON(w, v, "", indent) }

// WriteJSONLine writes v as JSON on one line.
func WriteJSONLine(w io.Writer, v any) error { return encodeJSON(w, v, "", "") }

// Escaped returns a writer of JSON text, in which every character is escaped that a
// terminal would act on. Each Write must have whole characters.
func Escaped(w io.Writer) io.Writer { return escaping{w} }

type escaping struct{ w io.Writer }

func (e escaping) Write(b []byte) (int, error) {
	if _, err := e.w.Write(escapeUnprintable(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// indent is the indentation of JSON that people read.
const indent = "  "

// encodeJSON writes v and a newline. prefix begins each line but the first. Like [text.Printable], it escapes every character
// that a terminal would act on. encoding/json escapes only those below 0x20.
func encodeJSON(w io.Writer, v any, prefix, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeUnprintable(b.Bytes()))
	return err
}

// escapeUnprintable escapes the characters in JSON that a terminal would act on. They
// can only be in strings. Most JSON has none: then it returns text itself.
func escapeUnprintable(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if actsOnTerminals(r) {
			out = append(out, text[done:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
			done = i + size
		}
		i += size
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// actsOnTerminals reports whether a character of 0x7f or more moves a cursor,
// reorders text or ends a line.
func actsOnTerminals(r rune) bool {
	return r <= 0x9f || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// JSONList writes a list as [WriteJSON] would, but element by element.
type JSONList struct {
	w     *bufio.Writer
	count int
}

// NewJSONList begins a list.
func NewJSONList(w io.Writer) *JSONList { return &JSONList{w: bufio.NewWriter(w)} }

// Add writes one more element.
func (l *JSONList) Add(v any) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, v, indent, indent); err != nil {
		return err
	}
	before := "[\n"
	if l.count > 0 {
		before = ",\n"
	}
	l.count++
	l.w.WriteString(before + indent)
	_, err := l.w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return err
}

// End writes the end of the list.
func (l *JSONList) End() error {
	end := "\n]\n"
	if l.count == 0 {
		end = "[]\n"
	}
	l.w.WriteString(end)
	return l.w.Flush()
}
