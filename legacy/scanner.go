package legacy

import (
	"strconv"
	"strings"
)

// scanner walks through a payload.
type scanner struct {
	text string
	pos  int
}

func (s *scanner) atEnd() bool { return s.pos == len(s.text) }

// take skips next if the text continues with it.
func (s *scanner) take(next string) bool {
	if !strings.HasPrefix(s.text[s.pos:], next) {
		return false
	}
	s.pos += len(next)
	return true
}

// takeThrough skips everything up to end, and end. It reports whether there is one.
func (s *scanner) takeThrough(end string) bool {
	i := strings.Index(s.text[s.pos:], end)
	if i < 0 {
		return false
	}
	s.pos += i + len(end)
	return true
}

// blank skips white space.
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

// hex reads four hexadecimal digits.
func (s *scanner) hex() (unit uint16, ok bool) {
	if unit, ok = hexUnit(s.text[s.pos:]); ok {
		s.pos += 4
	}
	return unit, ok
}

// hexUnit returns the UTF-16 unit of the four hexadecimal digits that text begins with.
func hexUnit(text string) (uint16, bool) {
	if len(text) < 4 {
		return 0, false
	}
	unit, err := strconv.ParseUint(text[:4], 16, 16)
	return uint16(unit), err == nil
}
