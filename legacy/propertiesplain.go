package legacy

import "strings"

// plainProperties reads what Properties.store writes: ASCII, comments, and one
// line for each entry with an equals sign after the key. It gives up at a
// continued line, and at an unescaped blank at the beginning of a line or
// value.
func plainProperties(text string) (Payload, bool) {
	var room [usualEntries]entry
	entries := room[:0]
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		if !isPrintable(line) {
			return nil, false
		}
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		s := scanner{text: line}
		key, ok := s.propertiesKey()
		if !ok {
			return nil, false
		}
		value, ok := s.propertiesValue()
		if !ok {
			return nil, false
		}
		entries = append(entries, entry{key, value})
	}
	return newPayload(entries), true
}

// isPrintable reports whether s has only printable ASCII characters and blanks.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i]-' ' >= 0x7f-' ' { // below the blank it wraps around
			return false
		}
	}
	return true
}

// propertiesKey reads a key, which may not be empty, and skips the equals sign.
func (s *scanner) propertiesKey() (string, bool) {
	end := strings.IndexAny(s.text, `=\: `)
	if end <= 0 {
		return "", false
	}
	if s.text[end] == '=' {
		s.pos = end + 1
		return s.text[:end], true
	}
	var out []byte
	for !s.atEnd() {
		switch c := s.text[s.pos]; c {
		case '=':
			s.pos++
			return joinSurrogates(string(out)), true
		case ':', ' ':
			return "", false
		default:
			var ok bool
			if out, ok = s.propertiesCharacter(out); !ok {
				return "", false
			}
		}
	}
	return "", false
}

// propertiesValue reads the rest of the line.
func (s *scanner) propertiesValue() (string, bool) {
	value := s.text[s.pos:]
	if value == "" {
		return "", true
	}
	if value[0] == ' ' || value[0] == '=' || value[0] == ':' {
		return "", false
	}
	first := strings.IndexByte(value, '\\')
	if first < 0 {
		return value, true
	}
	out := append(make([]byte, 0, len(value)), value[:first]...)
	s.pos += first
	for !s.atEnd() {
		var ok bool
		if out, ok = s.propertiesCharacter(out); !ok {
			return "", false
		}
	}
	return joinSurrogates(string(out)), true
}

// propertiesEscapes are the escapes of one character that Properties.store writes.
var propertiesEscapes = [256]byte{'\\': '\\', '=': '=', ':': ':', '#': '#', '!': '!', ' ': ' ', 't': '\t', 'n': '\n', 'r': '\r', 'f': '\f'}

// propertiesCharacter appends the next character, or what an escape stands for.
func (s *scanner) propertiesCharacter(out []byte) ([]byte, bool) {
	c := s.text[s.pos]
	s.pos++
	if c != '\\' {
		return append(out, c), true
	}
	if s.take("u") {
		unit, ok := s.hex()
		if !ok {
			return nil, false
		}
		return appendUnit(out, unit), true
	}
	if s.atEnd() || propertiesEscapes[s.text[s.pos]] == 0 {
		return nil, false
	}
	s.pos++
	return append(out, propertiesEscapes[s.text[s.pos-1]]), true
}
