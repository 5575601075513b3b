package legacy

import (
	"unicode/utf16"
	"unicode/utf8"
)

// A Java string is a sequence of UTF-16 units, and four of the formats can write
// any unit by its number: JSON and properties as \ud83d, XML as &#xd83d;.

const lowerHex = "0123456789abcdef"

// appendUnit appends one UTF-16 unit as WTF-8.
func appendUnit(dst []byte, unit uint16) []byte {
	if r := rune(unit); utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, rune(unit))
}

// appendCharacter appends a character, or one UTF-16 unit, as WTF-8.
func appendCharacter(dst []byte, r rune) []byte {
	if r > 0xffff {
		return utf8.AppendRune(dst, r)
	}
	return appendUnit(dst, uint16(r))
}

// decodeRune returns the first character of s, which is WTF-8, and its width.
// For an unpaired surrogate it returns the surrogate, and for a byte that
// begins no character utf8.RuneError and width 1.
func decodeRune(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 && len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return r, n
}

// joinSurrogates replaces each high surrogate and the low one that follows it
// by the character they stand for.
func joinSurrogates(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if utf16.IsSurrogate(r) {
			low, m := decodeRune(s[i+n:])
			if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
				out = utf8.AppendRune(out, joined)
				i += n + m
				continue
			}
		}
		out = append(out, s[i:i+n]...)
		i += n
	}
	return string(out)
}

// isWTF8 reports whether s is well-formed: UTF-8 apart from unpaired
// surrogates.
func isWTF8(s string) bool {
	high := false
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		if high && 0xdc00 <= r && r <= 0xdfff {
			return false // a pair, which must be one character of four bytes
		}
		high = 0xd800 <= r && r <= 0xdbff
		i += n
	}
	return true
}
