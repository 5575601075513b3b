package screen

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
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
func WriteJSON(w io.Writer, v any) error { return encodeJSON(w, v, "  ") }

// WriteJSONLine writes v as JSON on one line.
func WriteJSONLine(w io.Writer, v any) error { return encodeJSON(w, v, "") }

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

// encodeJSON writes v and a newline. Like [text.Printable], it escapes every character
// that a terminal would act on. encoding/json escapes only those below 0x20.
func encodeJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(Escaped(w)) // it writes once
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// acting matches the characters of 0x7f or more that move a cursor, reorder text or end a line.
var acting = regexp.MustCompile(`[\x{7f}-\x{9f}\x{2028}\x{2029}\p{Cf}]`)

// escapeUnprintable escapes the characters in JSON that a terminal would act on. They
// can only be in strings. Most JSON has none.
func escapeUnprintable(text []byte) []byte {
	if !slices.ContainsFunc(text, func(b byte) bool { return b >= 0x7f }) {
		return text
	}
	return acting.ReplaceAllFunc(text, func(found []byte) (escaped []byte) {
		r, _ := utf8.DecodeRune(found)
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, "\\u%04x", unit)
		}
		return escaped
	})
}
