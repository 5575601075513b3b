package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"
)

// printJSON is the -o json of every command.
func (a *app) printJSON(v any) error { return writeJSON(a.stdout, v) }

func writeJSON(w io.Writer, v any) error { return encodeJSON(w, v, indent) }

// indent is what JSON that people read is indented by.
const indent = "  "

// encodeJSON writes v and a line's end. Like [printable.Text] it leaves nothing that
// a terminal would act on, of which encoding/json escapes what is below 0x20.
func encodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	// All of that is in strings.
	_, err := w.Write(escaped.ReplaceAllFunc(b.Bytes(), func(char []byte) []byte {
		r, _ := utf8.DecodeRune(char)
		var out []byte
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, "\\u%04x", unit)
		}
		return out
	}))
	return err
}

var escaped = regexp.MustCompile(`[\x{7f}-\x{9f}\p{Cf}\x{2028}\x{2029}]`)

// jsonList writes what [writeJSON] writes of a list, element by element.
type jsonList struct {
	w     *bufio.Writer
	count int
}

func newJSONList(w io.Writer) *jsonList { return &jsonList{w: bufio.NewWriter(w)} }

func (l *jsonList) add(v any) error {
	var b bytes.Buffer
	if err := encodeJSON(&b, v, indent); err != nil {
		return err
	}
	before := "["
	if l.count > 0 {
		before = ","
	}
	l.count++
	for line := range bytes.Lines(b.Bytes()) {
		l.w.WriteString(before + "\n" + indent)
		l.w.Write(bytes.TrimSuffix(line, []byte("\n")))
		before = ""
	}
	return l.flushed()
}

// flushed is the writer's first error.
func (l *jsonList) flushed() error {
	_, err := l.w.Write(nil)
	return err
}

func (l *jsonList) end() error {
	if l.count == 0 {
		l.w.WriteString("[]\n")
	} else {
		l.w.WriteString("\n]\n")
	}
	return l.w.Flush()
}
