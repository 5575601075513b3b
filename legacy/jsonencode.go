package legacy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

func encodeJSON(p Payload) ([]byte, error) {
	if err := checkJSON(map[string]any(p), 1); err != nil {
		return nil, err
	}
	return AppendJSON(nil, p), nil
}

// checkJSON reports whether v, once written, is read back unchanged. depth
// counts the arrays and objects around v, and v itself if it is one.
func checkJSON(v any, depth int) error {
	if depth == maxJSONDepth+1 {
		return fmt.Errorf("nested more than %d deep", maxJSONDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		return nil
	case string:
		if !isWTF8(v) {
			return fmt.Errorf("%.60q: string is not WTF-8", v)
		}
		return nil
	case json.Number:
		if !json.Valid([]byte(v)) || v[0] != '-' && notDigit(rune(v[0])) {
			return fmt.Errorf("%.60q is no number", string(v))
		}
		return nil
	case []any:
		for _, element := range v {
			if err := checkJSON(element, below(element, depth)); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for name, element := range v {
			if err := checkJSON(name, depth); err != nil {
				return err
			}
			if err := checkJSON(element, below(element, depth)); err != nil {
				return err
			}
		}
		return nil
	}
	return errValue(v, "a string, bool, json.Number, nil, []any or map[string]any")
}

// below is the depth of an element of an array or object at depth: only arrays
// and objects nest.
func below(element any, depth int) int {
	switch element.(type) {
	case []any, map[string]any:
		return depth + 1
	}
	return depth
}

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
