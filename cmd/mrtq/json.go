package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"mrtq/migrate"
)

// printJSON prints what a command prints with -o json.
func (a *app) printJSON(v any) error { return writeJSON(a.stdout, v) }

func writeJSON(w io.Writer, v any) error { return encodeJSON(w, v, indent) }

// indent is the indentation of JSON that people read.
const indent = "  "

// encodeJSON writes v and a newline. Like [printable.Text], it escapes every character
// that a terminal would act on. encoding/json escapes only those below 0x20.
func encodeJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
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

// jsonList writes a list as [writeJSON] would, but element by element.
type jsonList struct {
	w      *bufio.Writer
	margin string // the indentation of its lines
	count  int
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
		l.w.WriteString(before + "\n" + l.margin + indent)
		l.w.Write(bytes.TrimSuffix(line, []byte("\n")))
		before = ""
	}
	return l.flushed()
}

// flushed flushes the writer, and returns its first error.
func (l *jsonList) flushed() error {
	_, err := l.w.Write(nil)
	return err
}

func (l *jsonList) end() error {
	l.bracket()
	l.w.WriteString("\n")
	return l.w.Flush()
}

// bracket writes the end of the list.
func (l *jsonList) bracket() {
	if l.count == 0 {
		l.w.WriteString("[]")
	} else {
		l.w.WriteString("\n" + l.margin + "]")
	}
}

// writePlan writes a plan as [writeJSON] would, but record by record.
func writePlan(w io.Writer, p *migrate.Plan) error {
	rest := *p
	rest.Records = migrate.Records{}
	var b bytes.Buffer
	if err := writeJSON(&b, &rest); err != nil {
		return err
	}
	const key = `"records": `
	before, after, _ := bytes.Cut(b.Bytes(), []byte(key+"[]"))
	out := bufio.NewWriter(w)
	out.Write(before)
	out.WriteString(key)
	list := jsonList{w: out, margin: indent}
	for e := range p.Records.All() {
		text, err := json.Marshal(e) // < and > escaped, as in the rest
		if err != nil {
			return err
		}
		if err := list.add(json.RawMessage(text)); err != nil {
			return err
		}
	}
	list.bracket()
	out.Write(after)
	return out.Flush()
}
