package javaobj

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var errMalformed = errors.New("malformed modified UTF-8")

// fromModified turns modified UTF-8 into WTF-8: NUL is C0 80, and each UTF-16
// unit stands alone, so a supplementary character is two surrogates of three
// bytes each. On an error it returns the offset of the sequence at fault.
// Over-long forms are malformed here. Java's reader accepts them and its writer
// never makes them, so they wouldn't come back as the same bytes.
func fromModified(b []byte) (string, int, error) {
	out := make([]byte, 0, len(b)) // never longer: NUL and pairs get shorter
	for i := 0; i < len(b); {
		unit, n := modifiedUnit(b[i:])
		if n == 0 {
			return "", i, errMalformed
		}
		if utf16.IsSurrogate(rune(unit)) {
			if low, m := modifiedUnit(b[i+n:]); m > 0 {
				if r := utf16.DecodeRune(rune(unit), rune(low)); r != utf8.RuneError {
					out = utf8.AppendRune(out, r)
					i += n + m
					continue
				}
			}
			out = append(out, b[i:i+n]...) // unpaired: WTF-8 has the same three bytes
		} else {
			out = utf8.AppendRune(out, rune(unit))
		}
		i += n
	}
	return string(out), 0, nil
}

// isASCII reports whether b is ASCII without NUL, which modified UTF-8 spells as
// it is. Nearly every string of a record is.
func isASCII(b []byte) bool {
	for _, c := range b {
		if c-1 >= 0x7f { // 0 wraps around
			return false
		}
	}
	return true
}

// modifiedUnit returns the first UTF-16 unit of b and its width, which is 0
// when b begins with none.
func modifiedUnit(b []byte) (unit uint16, width int) {
	tail := func(i int) (uint16, bool) {
		if i >= len(b) || b[i]&0xc0 != 0x80 {
			return 0, false
		}
		return uint16(b[i] & 0x3f), true
	}
	switch {
	case len(b) == 0 || b[0] == 0:
		return 0, 0
	case b[0] < 0x80:
		return uint16(b[0]), 1
	case b[0]&0xe0 == 0xc0:
		low, ok := tail(1)
		unit = uint16(b[0]&0x1f)<<6 | low
		if !ok || unit < 0x80 && unit != 0 {
			return 0, 0
		}
		return unit, 2
	case b[0]&0xf0 == 0xe0:
		mid, ok1 := tail(1)
		low, ok2 := tail(2)
		unit = uint16(b[0]&0x0f)<<12 | mid<<6 | low
		if !ok1 || !ok2 || unit < 0x800 {
			return 0, 0
		}
		return unit, 3
	}
	return 0, 0
}
