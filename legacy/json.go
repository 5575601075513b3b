package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxJSONDepth bounds how deep arrays and objects may nest. org.json stops at
// the same depth.
const maxJSONDepth = 512

// decodeJSON reads one object. What it refuses by its grammar, encoding/json
// refuses too, and says where and why.
func decodeJSON(data []byte) (Payload, *Error) {
	if bytes.HasPrefix(data, []byte(utf8BOM)) {
		return nil, badPayload(0, "JSON after a byte order mark: expected {")
	}
	if i := invalidUTF8(data); i >= 0 {
		return nil, badPayload(i, "JSON: byte %#02x isn't UTF-8", data[i])
	}
	s := scanner{text: string(data)}
	s.blank()
	v, err := s.jsonValue(0)
	if s.blank(); err == nil && !s.atEnd() {
		err = errJSONSyntax
	}
	if err == errJSONSyntax {
		return nil, jsonSyntax(data)
	}
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, badPayload(0, "JSON array: expected an object")
	}
	return object, nil
}

// usualProperties is how many properties a record has, about.
const usualProperties = 16

var errJSONSyntax = &Error{Kind: BadPayload, Offset: noOffset, Msg: "JSON"}

func jsonSyntax(data []byte) *Error {
	e := &Error{Kind: BadPayload, Offset: noOffset, Msg: "JSON", Err: json.Unmarshal(data, new(json.RawMessage))}
	var syntax *json.SyntaxError
	if errors.As(e.Err, &syntax) {
		e.Offset = int(syntax.Offset) - 1                     // the library counts the wrong byte as read
		if syntax.Error() == "unexpected end of JSON input" { // there is no such byte
			e.Offset = len(data)
		}
	}
	return e
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

type scanner struct {
	text string
	pos  int
}

func (s *scanner) atEnd() bool { return s.pos == len(s.text) }

func (s *scanner) take(next string) bool {
	if !strings.HasPrefix(s.text[s.pos:], next) {
		return false
	}
	s.pos += len(next)
	return true
}

func (s *scanner) blank() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// jsonValue reads a value. depth is how many arrays and objects are around it.
func (s *scanner) jsonValue(depth int) (any, *Error) {
	if s.atEnd() {
		return nil, errJSONSyntax
	}
	switch c := s.text[s.pos]; {
	case c == '"':
		text, ok := s.jsonString()
		if !ok {
			return nil, errJSONSyntax
		}
		return text, nil
	case (c == '{' || c == '[') && depth == maxJSONDepth:
		return nil, badPayload(s.pos, "JSON nested more than %d deep", maxJSONDepth)
	case s.take("{"):
		return s.jsonObject(depth + 1)
	case s.take("["):
		return s.jsonArray(depth + 1)
	case s.take("true"):
		return true, nil
	case s.take("false"):
		return false, nil
	case s.take("null"):
		return nil, nil
	}
	begin := s.pos
	if !s.jsonNumber() {
		return nil, errJSONSyntax
	}
	return json.Number(s.text[begin:s.pos]), nil
}

// jsonObject reads an object after its brace. A name may occur once: which value
// counts would depend on the reader.
func (s *scanner) jsonObject(depth int) (any, *Error) {
	object := make(map[string]any, usualProperties/depth)
	for s.blank(); !s.take("}"); s.blank() {
		if len(object) > 0 {
			if !s.take(",") {
				return nil, errJSONSyntax
			}
			s.blank()
		}
		name, ok := s.jsonString()
		if !ok {
			return nil, errJSONSyntax
		}
		if _, twice := object[name]; twice {
			return nil, badPayload(s.pos, "JSON: name %.60q a second time in one object", name)
		}
		if s.blank(); !s.take(":") {
			return nil, errJSONSyntax
		}
		s.blank()
		v, err := s.jsonValue(depth)
		if err != nil {
			return nil, err
		}
		object[name] = v
	}
	return object, nil
}

func (s *scanner) jsonArray(depth int) (any, *Error) {
	array := []any{}
	for s.blank(); !s.take("]"); s.blank() {
		if len(array) > 0 {
			if !s.take(",") {
				return nil, errJSONSyntax
			}
			s.blank()
		}
		v, err := s.jsonValue(depth)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	return array, nil
}

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

func (s *scanner) digits() bool {
	begin := s.pos
	for !s.atEnd() && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > begin
}

func (s *scanner) jsonString() (text string, ok bool) {
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

var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

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
			unit, err := hexUnit(s.text[s.pos:])
			if err != nil {
				return "", false
			}
			out = appendUnit(out, unit)
			s.pos += 4
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
