package legacy

import (
	"encoding/json"
	"unicode/utf8"
)

// plainJSON reads an object of strings, numbers, booleans and nulls. It gives up
// at a name that is repeated.
func plainJSON(text string) (Payload, bool) {
	if !utf8.ValidString(text) {
		return nil, false
	}
	var room [usualEntries]entry
	entries := room[:0]
	s := scanner{text: text}
	if s.blank(); !s.take("{") {
		return nil, false
	}
	for s.blank(); !s.take("}"); s.blank() {
		if len(entries) > 0 {
			if !s.take(",") {
				return nil, false
			}
			s.blank()
		}
		key, ok := s.jsonString()
		if !ok {
			return nil, false
		}
		s.blank()
		if !s.take(":") {
			return nil, false
		}
		s.blank()
		value, ok := s.jsonValue()
		if !ok {
			return nil, false
		}
		entries = append(entries, entry{key, value})
	}
	s.blank()
	p := newPayload(entries)
	return p, s.atEnd() && len(p) == len(entries)
}

// jsonValue reads a value that isn't an array or an object.
func (s *scanner) jsonValue() (any, bool) {
	switch {
	case s.atEnd():
		return nil, false
	case s.text[s.pos] == '"':
		return boxed(s.jsonString())
	case s.take("true"):
		return true, true
	case s.take("false"):
		return false, true
	case s.take("null"):
		return nil, true
	}
	begin := s.pos
	if !s.jsonNumber() {
		return nil, false
	}
	return json.Number(s.text[begin:s.pos]), true
}

func boxed(text string, ok bool) (any, bool) { return text, ok }

// jsonNumber skips a number (RFC 8259, 6).
func (s *scanner) jsonNumber() bool {
	s.take("-")
	if !s.take("0") && !s.digits() {
		return false
	}
	if s.take(".") && !s.digits() {
		return false
	}
	if s.take("e") || s.take("E") {
		if !s.take("+") {
			s.take("-")
		}
		return s.digits()
	}
	return true
}

// digits skips decimal digits, and reports whether there was one.
func (s *scanner) digits() bool {
	begin := s.pos
	for !s.atEnd() && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > begin
}

func (s *scanner) jsonString() (string, bool) {
	if !s.take(`"`) {
		return "", false
	}
	begin := s.pos
	for i := begin; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return s.text[begin:i], true
		case c == '\\':
			s.pos = i
			return s.jsonEscaped(s.text[begin:i])
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// jsonEscapes are the escapes of one character.
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// jsonEscaped reads the rest of a string, from its first escape on.
func (s *scanner) jsonEscaped(head string) (string, bool) {
	out := append(make([]byte, 0, 2*len(head)+32), head...)
	for !s.atEnd() {
		c := s.text[s.pos]
		s.pos++
		switch {
		case c == '"':
			return joinSurrogates(string(out)), true
		case c < ' ':
			return "", false
		case c != '\\':
			out = append(out, c)
		case s.take("u"):
			unit, ok := s.hex()
			if !ok {
				return "", false
			}
			out = appendUnit(out, unit)
		default:
			if s.atEnd() || jsonEscapes[s.text[s.pos]] == 0 {
				return "", false
			}
			out = append(out, jsonEscapes[s.text[s.pos]])
			s.pos++
		}
	}
	return "", false
}
