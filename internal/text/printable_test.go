package text

import "testing"

func TestLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"/ingest/mrtQ-02100000000003", "/ingest/mrtQ-02100000000003"},
		{"two\nlines", `two\nlines`},
		{"a\ttab", `a\u0009tab`},
		{"\x1b[2J", `\u001b[2J`},
		{"a\u202eb", `a\u202eb`},
		{"\u200fx", `\u200fx`},
		{"\u2028", `\u2028`},
		{"\u0085\x7f", `\u0085\u007f`},
		{"<script>", "<script>"},
		{"Grüße 日本", "Grüße 日本"},
		{"\xff", "\ufffd"},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Printable("two\nlines\t"); got != "two\nlines\t" {
		t.Errorf("Printable: %q", got)
	}
}
