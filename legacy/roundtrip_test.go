package legacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
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

func javaPayload(strings bool) *rapid.Generator[Payload] {
	value := rapid.OneOf(rapid.Map(javaString(), func(s string) any { return s }))
	if !strings {
		value = rapid.OneOf(value,
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(strconv.FormatInt(n, 10)) }))
	}
	return rapid.Custom(func(t *rapid.T) Payload {
		return rapid.MapOfN(javaString(), value, 0, 6).Draw(t, "payload")
	})
}

// onlyStrings are the formats whose values are all strings.
var onlyStrings = map[Format]bool{Properties: true, PropertiesXML: true}

func TestEncodeDecode(t *testing.T) {
	for _, f := range Formats() {
		t.Run(string(f), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := javaPayload(onlyStrings[f]).Draw(t, "p")
				h := Header{Status: Status(rapid.IntRange(0, 5).Draw(t, "status")), Raw: rapid.Int64Range(0, 1<<47).Draw(t, "raw")}
				data, err := Encode(h, f, p)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Decode("mrtQ-05000000000001", data, Options{})
				if err != nil {
					t.Fatalf("%v in %q", err, data)
				}
				if r.Format != f || !reflect.DeepEqual(r.Payload, p) {
					t.Fatalf("got %s %s\nwant %s %s\nin %q", r.Format, AppendJSON(nil, r.Payload), f, AppendJSON(nil, p), data)
				}
				if r.Header.Status != h.Status || r.Header.Raw != h.Raw {
					t.Fatalf("got header %+v, want %+v", r.Header, h)
				}
				again, err := Encode(r.Header, f, r.Payload)
				if err != nil || !bytes.Equal(again, data) {
					t.Fatalf("encoded again: %v, got %q, want %q", err, again, data)
				}
			})
		})
	}
}

// TestJVMReadsWhatWeEncode has the JDK's own decoders read all formats but
// JSON, for which it has none.
func TestJVMReadsWhatWeEncode(t *testing.T) {
	for _, f := range []Format{JavaSerialized, BeansXML, PropertiesXML, Properties} {
		t.Run(string(f), func(t *testing.T) {
			var want []Payload
			var encoded [][]byte
			generator := javaPayload(onlyStrings[f])
			for seed := range 500 {
				p := generator.Example(seed)
				if f == PropertiesXML {
					p = readableXML(p)
				}
				b, err := EncodePayload(f, p)
				if err != nil {
					t.Fatal(err)
				}
				want, encoded = append(want, p), append(encoded, b)
			}
			for i, answer := range jvm(t, f, encoded) {
				got, err := decodeJSON([]byte(answer))
				if err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("the JVM reads %s\nfrom %q\nwant %s", answer, encoded[i], AppendJSON(nil, want[i]))
				}
			}
		})
	}
}

// readableXML is p without NUL and U+FFFF, because Properties.loadFromXML can't
// read these in any form. mrtq writes and reads them, so that they are not
// lost.
func readableXML(p Payload) Payload {
	readable := strings.NewReplacer("\x00", "0", "\uffff", "f")
	out := make(Payload, len(p))
	for key, value := range p {
		out[readable.Replace(key)] = readable.Replace(value.(string))
	}
	return out
}

// TestPropertiesLikeJVM loads generated text with the JDK and with us.
func TestPropertiesLikeJVM(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "key", "=", ":", " ", "\t", "\f", "\\", "\\", "\n", "\r", "\r\n", "#", "!", "u", "u0041", "\\u00e9", "\\ud83d", "\\ude00", "\\udbff\\udffd",
		"n", "t", "${a}", "%s", "\xe9", "\\\n", "\\\r\n", "\\\r", "\\=", "\\u", "0", "\\\\"})
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
		if !isWTF8(s) {
			t.Fatalf("%q isn't WTF-8", s)
		}
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
