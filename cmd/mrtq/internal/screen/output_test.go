package screen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"mrtq/internal/text"
)

func actsOnTerminal(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	})
}

func hostile() *rapid.Generator[string] {
	rare := rapid.SampledFrom([]rune("\x1b\x07\r\n\t\x00\x7f\u0085\u009b\u200d\u202e\u2066\u2028\ufeff\U000e0041\\\"é漢😀"))
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOf(rapid.OneOf(rare, rapid.Rune())).Draw(t, "text"))
	})
}

func TestPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "s")
		if got := text.Printable(s); actsOnTerminal(strings.ReplaceAll(got, "\t", "")) {
			t.Errorf("%q is printed as %q", s, got)
		}
		if got := Cell(s); strings.Contains(got, "\n") || actsOnTerminal(got) {
			t.Errorf("%q is %q in a cell", s, got)
		}
	})
}

// Escaped JSON means the same.
func TestEncodeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{hostile().Draw(t, "key"): hostile().Draw(t, "value")}
		var b bytes.Buffer
		if err := encodeJSON(&b, want, ""); err != nil {
			t.Fatal(err)
		}
		line, more, _ := strings.Cut(b.String(), "\n")
		if more != "" || actsOnTerminal(line) {
			t.Errorf("%q is printed as %q", want, b.String())
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range want {
			if len(got) != 1 || got[key] != value {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}
