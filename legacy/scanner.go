package legacy

import "strings"

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
	if len(s.text)-s.pos < 4 {
		return 0, false
	}
	for range 4 {
		digit, ok := hexDigit(s.text[s.pos])
		if !ok {
			return 0, false
		}
		unit = unit<<4 | uint16(digit)
		s.pos++
	}
	return unit, true
}

func hexDigit(c byte) (digit byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
