package legacy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// javaString draws any sequence of UTF-16 units, as WTF-8: ordinary text, and
// what the formats find hard.
func javaString() *rapid.Generator[string] {
	hard := []uint16{0, 7, '\t', '\n', '\f', '\r', ' ', '!', '"', '#', '$', '&', '\'', '-', ':', '<', '=', '>', '[', ']', '\\', 'u', '{', '}',
		0x7f, 0x80, 0x85, 0xa0, 0xff, 0x100, 0x7ff, 0x800, 0x2028, 0x202e, 0xd7ff, 0xd800, 0xd83d, 0xdbff, 0xdc00, 0xde00, 0xdffd, 0xdfff,
		0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, '0', '8', 'd'}
	unit := rapid.OneOf(rapid.SampledFrom(hard), rapid.Uint16(), rapid.Uint16Range(' ', '~'))
	return rapid.Custom(func(t *rapid.T) string {
		var b []byte
		for _, u := range rapid.SliceOfN(unit, 0, 12).Draw(t, "units") {
			b = appendUnit(b, u)
		}
		return joinSurrogates(string(b))
	})
}

// TestPropertiesLikeJVM loads generated text with the JDK and with us.
func TestPropertiesLikeJVM(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "key", "=", ":", " ", "\t", "\f", "\\", "\\", "\n", "\r", "\r\n", "#", "!", "u", "u0041", "\\u00e9", "\\ud83d", "\\ude00", "\\udbff\\udffd",
		"n", "t", "${a}", "%s", "\xe9", "\x96", "\x7f", "\x07", "\x0b", "\x1c", "\x85", "\\\n", "\\\r\n", "\\\r", "\\=", "\\u", "0", "\\\\"})
	text := rapid.Map(rapid.SliceOfN(part, 1, 14), func(parts []string) string { return strings.Join(parts, "") })
	var payloads [][]byte
	for seed := range 4000 {
		if b := []byte(text.Example(seed)); checkText(b) == nil {
			payloads = append(payloads, b)
		}
	}
	if len(payloads) < 3000 {
		t.Fatalf("only %d texts", len(payloads))
	}
	refusals := 0
	for i, answer := range jvm(t, Properties, payloads) {
		got, err := decodeProperties(payloads[i])
		if refused := strings.HasPrefix(answer, "error"); refused || err != nil {
			refusals++
			if !refused || err == nil {
				t.Errorf("the JVM answers %s\nto %q\nwe got %v, %v", answer, payloads[i], got, err)
			}
			continue
		}
		want, err := decodeJSON([]byte(answer))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the JVM reads %s\nfrom %q\nwe read %s", answer, payloads[i], AppendJSON(nil, got))
		}
	}
	if refusals == 0 || refusals > len(payloads)/2 {
		t.Errorf("%d of %d texts refused: want some and not most", refusals, len(payloads))
	}
}

// TestWTF8 compares with the library's UTF-16, which shares no code with ours.
func TestWTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := javaString().Draw(t, "s")
		var units []uint16
		for i := 0; i < len(s); {
			r, n := decodeRune(s[i:])
			if r > 0xffff {
				high, low := utf16.EncodeRune(r)
				units = append(units, uint16(high), uint16(low))
			} else {
				units = append(units, uint16(r))
			}
			i += n
		}
		quoted := `"`
		for _, u := range units {
			quoted += fmt.Sprintf(`\u%04x`, u)
		}
		p, err := decodeJSON([]byte(`{"s":` + quoted + `"}`))
		if err != nil || p["s"] != s {
			t.Fatalf("got %q %v, want %q", p["s"], err, s)
		}
	})
}
