package legacy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Java string is a sequence of UTF-16 units, and three of the formats can
// write any unit as an escape: JSON and properties as \ud83d, XML as &#xd83d;.
// The Go library that reads XML refuses a lone surrogate. So each reference that
// it would refuse is first rewritten as the guard character and four hex digits,
// which it reads as ordinary text. Afterwards unguard turns these into the units
// that they stand for.
//
// A record may already contain the guard. It is then written twice, so the
// rewriting can always be reversed.
const guard = '\U0010fffd' // the last private-use character: as unlikely as any

// guardedText is text rewritten for a library. It knows where its parts come from.
type guardedText struct {
	text  []byte
	edits []edit
}

// edit says that the text from offset out comes from the source from offset in.
type edit struct{ out, in int }

// unit appends the guarded form of one UTF-16 unit. The source continues at
// next.
func (g *guardedText) unit(unit uint16, next int) {
	g.text = utf8.AppendRune(g.text, guard)
	for shift := 12; shift >= 0; shift -= 4 {
		g.text = append(g.text, lowerHex[unit>>shift&0xf])
	}
	g.moved(next)
}

// literal appends the guarded form of the guard itself.
func (g *guardedText) literal(next int) {
	g.text = utf8.AppendRune(utf8.AppendRune(g.text, guard), guard)
	g.moved(next)
}

func (g *guardedText) moved(next int) { g.edits = append(g.edits, edit{len(g.text), next}) }

func (g *guardedText) source(offset int) int {
	i, found := slices.BinarySearchFunc(g.edits, offset, func(e edit, out int) int { return e.out - out })
	if !found {
		i-- // the last edit that lies before
	}
	if i < 0 {
		return offset
	}
	return g.edits[i].in + offset - g.edits[i].out
}

// unguard returns what the guarded s stands for, with surrogates that make a
// pair joined.
func unguard(s string) string {
	if !strings.ContainsRune(s, guard) {
		return s
	}
	const width = len(string(guard))
	out := make([]byte, 0, len(s))
	for {
		i := strings.IndexRune(s, guard)
		if i < 0 {
			return joinSurrogates(string(append(out, s...)))
		}
		out, s = append(out, s[:i]...), s[i+width:]
		if strings.HasPrefix(s, string(guard)) {
			out, s = utf8.AppendRune(out, guard), s[width:]
			continue
		}
		// Nothing but unit writes a single guard, so four digits follow.
		unit, _ := strconv.ParseUint(s[:4], 16, 16)
		out, s = appendUnit(out, uint16(unit)), s[4:]
	}
}

const lowerHex = "0123456789abcdef"

func appendUnit(dst []byte, unit uint16) []byte {
	if r := rune(unit); utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, rune(unit))
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
