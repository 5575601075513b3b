// Package text has text for people: text from outside, such as a record's name, safe to show on a
// terminal and on a page; and in plain words why JSON can't be read.
package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Printable replaces control characters, which could move a terminal's cursor or
// worse, and characters that change the direction of writing, with escapes. It
// keeps line breaks and tabs.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is like [Printable], and escapes line breaks and tabs too.
func Line(s string) string {
	if plain(s) {
		return s
	}
	return lines.Replace(Printable(s))
}

var lines = strings.NewReplacer("\n", `\n`, "\t", `\u0009`)

// plain is a quick test for texts that need no escapes. Most texts are such, and
// a report has hundreds of thousands of them.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
