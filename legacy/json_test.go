package legacy

import (
	"encoding/json"
	"iter"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendJSON(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{nil, `null`}, {true, `true`}, {json.Number("12345678901234567890.10e+3"), `12345678901234567890.10e+3`},
		{Payload{"b": "2", "a": []any{nil, map[string]any{}}, "é": "", "B": ""}, `{"B":"","a":[null,{}],"b":"2","é":""}`},
		{"<&> / ' é 漢 😀 \ufffd", `"<&> / ' é 漢 😀 ` + "\ufffd" + `"`},
		{`quote " back \`, `"quote \" back \\"`},
		{"\x00\t\n\r\x1b\x1f\x7f\u0080\u009b\u009f", `"\u0000\u0009\u000a\u000d\u001b\u001f\u007f\u0080\u009b\u009f"`},
		{"\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069", `"\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"`},
		{"\u00a0\u200d\u2027\u202f\u2065\u206a", `"` + "\u00a0\u200d\u2027\u202f\u2065\u206a" + `"`},
		{"cut \xed\xa0\xbd", `"cut \ud83d"`}, {"\xed\xb8\x80\xed\xa0\xbd", `"\ude00\ud83d"`},
		{"not text \xff", `"not text \ufffd"`},
	}
	for _, test := range tests {
		if got := string(AppendJSON(nil, test.value)); got != test.want {
			t.Errorf("%q: got %s, want %s", test.value, got, test.want)
		}
	}
}

func TestJSONEscapes(t *testing.T) {
	p, err := decodeJSON([]byte("{\"\\u0061\\/\\\"\\\\\\b\\f\\n\\r\\t\":\"\\uD83D\\uDE00\\ud83d\\\\ud83d\\udbff\\udffd\U0010fffd\"}"))
	want := Payload{"a/\"\\\b\f\n\r\t": "😀\xed\xa0\xbd\\ud83d\U0010fffd\U0010fffd"}
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("got %q, %v, want %q", p, err, want)
	}
}

func TestJSONDepth(t *testing.T) {
	nested := func(n int) string {
		return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2)
	}
	p, err := decodeJSON([]byte(nested(maxJSONDepth)))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(AppendJSON(nil, p)); got != nested(maxJSONDepth) {
		t.Errorf("got %s", got)
	}
	_, err = decodeJSON([]byte(nested(maxJSONDepth + 2)))
	const want = "bad-payload at byte 1536: JSON nested more than 512 deep"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestText(t *testing.T) {
	p := Payload{"s": "x", "t": true, "f": false, "n": json.Number("1.50"), "null": nil, "a": []any{}, "o": map[string]any{}}
	want := map[string]string{"s": "x", "t": "true", "f": "false", "n": "1.50"}
	for _, name := range []string{"s", "t", "f", "n", "null", "a", "o", "none"} {
		got, ok := p.Text(name)
		if w, known := want[name]; got != w || ok != known {
			t.Errorf("%s: got %q, %t", name, got, ok)
		}
	}
}

// TestJSONLikeTheLibrary: what decodeJSON accepts, encoding/json accepts too, and
// reads as the same. What it refuses, encoding/json refuses too, unless it is an
// array, a name a second time, or nested too deep.
func TestJSONLikeTheLibrary(t *testing.T) {
	same, refused := 0, 0
	for _, payload := range []string{`{"a":"b \u000a\n\"\\\/ é😀","n":-12.50e+3,"t":true,"f":false,"z":null}` + "\n", ` { "a" : [ ] , "b" : [0, {"c":{}}, "d" ] } `, `{}`} {
		for other := range damaged(payload) {
			got, err := decodeJSON([]byte(other))
			valid := json.Valid([]byte(other)) && utf8.ValidString(other)
			switch {
			case err == nil && !valid, err != nil && valid && !ourRule.MatchString(err.Error()):
				t.Fatalf("%q: %v; valid JSON: %t", other, err, valid)
			case err != nil:
				refused++
				continue
			}
			if strings.Contains(strings.ToLower(other), `\ud`) {
				continue // a surrogate, which the library can't keep
			}
			dec := json.NewDecoder(strings.NewReader(other))
			dec.UseNumber()
			var want map[string]any
			if err := dec.Decode(&want); err != nil || !reflect.DeepEqual(map[string]any(got), want) {
				t.Fatalf("%q\ngot  %q\nwant %q (%v)", other, got, want, err)
			}
			same++
		}
	}
	t.Logf("%d read as the same, %d refused", same, refused)
	if same < 1000 || refused < 1000 {
		t.Error("too few payloads for this test to prove anything")
	}
}

// ourRule matches the errors for what JSON's grammar allows and a record may not have.
var ourRule = regexp.MustCompile(`expected an object|a second time|nested more|byte order mark`)

// damaged yields payload with every token that a reader of JSON might treat specially written to
// each of its places: instead of nothing, of one byte, and of as many bytes as the
// token has. And it yields each beginning of payload.
func damaged(payload string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(payload) + 1 {
			for _, token := range damagingTokens {
				for _, cut := range []int{0, 1, len(token)} {
					if !yield(payload[:i] + token + payload[min(i+cut, len(payload)):]) {
						return
					}
				}
			}
			if !yield(payload[:i]) {
				return
			}
		}
	}
}

var damagingTokens = strings.Split("\x00|\t|\n|\r|\f| |  |\x1f|\x7f|\u0080|\u00a0|é|\xe9|\xff|\ufeff|\ufffd|\uffff|\u2028|\U0010fffd|\xed\xa0\xbd|"+
	`\|\\|\"|\'|\u|\u0|\u00e9|\u+123|\ud83d|\ude00|\uD83D\uDE00|\uDE00\uD83D|\x|\b|"|'|""|`+"`|"+
	`/|:|,|{|}|[|]|[]|{"a":1}|#|-|+|.|0|00|1|e|E|1e|1.|true|nul|null|a|Z|_`, "|")
