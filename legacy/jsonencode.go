package legacy

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the canonical JSON of v, a [Payload] or a value in one:
// no white space, names sorted bytewise, numbers as they are, and strings with
// as few escapes as are safe to print. Those are quote and backslash, unpaired
// surrogates, and every character that moves a terminal's cursor or reorders
// its text (control characters, line and paragraph separators, directional
// marks), all as \uXXXX. It is UTF-8, and a JSON parser that knows unpaired
// surrogates gets back what v holds.
//
// An int or int64 is a number too. A value of any other type that no Payload holds
// is written as null.
//
// newqueue's Object.Marshal also writes sorted JSON, and the two stay apart on
// purpose: see its comment.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case Payload:
		return appendObject(dst, v)
	case map[string]any:
		return appendObject(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, element)
		}
		return append(dst, ']')
	case string:
		return appendString(dst, v)
	case json.Number:
		return append(dst, v...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, object map[string]any) []byte {
	dst = append(dst, '{')
	var some [32]string // enough for nearly all
	names := some[:0]
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = AppendJSON(dst, object[name])
	}
	return append(dst, '}')
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		if n := plainRun(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		}
		r, n := decodeRune(s[i:])
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case unprintable(r) || r == utf8.RuneError && n == 1:
			dst = append(dst, '\\', 'u')
			for shift := 12; shift >= 0; shift -= 4 {
				dst = append(dst, lowerHex[r>>shift&0xf])
			}
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

// plainRun returns how many characters at the beginning of s are ASCII and stand
// for themselves: usually all.
func plainRun(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// unprintable reports whether r is written as an escape. All these are below
// U+10000, so one escape of four digits is enough.
func unprintable(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || // control characters
		r == 0x061c || r == 0x200e || r == 0x200f || // directional marks
		r >= 0x2028 && r <= 0x202e || // separators, directional embeddings
		r >= 0x2066 && r <= 0x2069 || // directional isolates
		r >= 0xd800 && r <= 0xdfff // unpaired
}
