package legacy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain checks that a refused record leaves no lexer running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBounded: a hostile record of a quarter of a megabyte costs memory in proportion
// to its size. The factor is what a list of the shortest XML attributes needs. A bomb
// would need millions.
func TestBounded(t *testing.T) {
	const size = 1 << 18
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	laughs := `<!DOCTYPE properties [<!ENTITY a0 "ha">`
	for i := range 30 {
		laughs += fmt.Sprintf(`<!ENTITY a%d "&a%d;&a%d;">`, i+1, i, i)
	}
	tests := []struct{ what, payload, want string }{
		{"entities", laughs + `]><properties><entry key="a">&a30;</entry></properties>`, "declaration"},
		{"nested elements", repeat("<properties>"), "XML nested more than 16 deep"},
		{"nested 3000 deep", strings.Repeat("<java>", 3000) + strings.Repeat("</java>", 3000), "XML nested more than 16 deep"},
		{"many elements", "<java>" + repeat("<a/>") + "</java>", "isn't supported"},
		{"many entries", "<properties>" + repeat("<entry key=''/>") + "</properties>", ""},
		{"many attributes", "<properties " + repeat("a='' ") + "/>", "has attribute"},
		{"many references", "<properties><entry key=''>" + repeat("&#xd83d;") + "</entry></properties>", ""},
		{"references without end", "<properties><entry key=''>" + repeat("&#1") + "</entry></properties>", "invalid character entity"},
		{"comments", "<properties>" + repeat("<!---->") + "</properties>", ""},
		{"comments without end", repeat("<!--"), "invalid sequence"},
		{"CDATA without end", "<properties>" + repeat("<![CDATA["), "unexpected EOF"},
		{"nested JSON", repeat(`{"a":`), "JSON"},
		{"nested JSON 3000 deep", strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat(`}`, 3000), "JSON nested more than 512 deep"},
		{"nested JSON arrays", repeat("["), "JSON"},
		{"a long JSON array", `{"a":[` + repeat("0,") + `0]}`, ""},
		{"many escapes", `{"a":"` + repeat(`\ud83d`) + `"}`, ""},
		{"a long number", `{"a":1` + repeat("0") + `}`, ""},
		{"one line", repeat("a="), ""},
		{"many lines", repeat("a\n"), ""},
		{"comment lines", repeat("#\n"), ""},
		{"one continued line", repeat("\\\n"), ""},
		{"empty keys", repeat("=\n"), ""},
		{"surrogate escapes", "a=" + repeat(`\ud83d`), ""},
		{"blanks", repeat(" "), ""},
	}
	for _, test := range tests {
		t.Run(test.what, func(t *testing.T) {
			data := append(AppendHeader(nil, Header{}), test.payload...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := Decode("mrtQ-000000000001", data, Options{})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %.200v, want %q", err, test.want)
			}
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes: %.1f bytes allocated for each, %v", len(data), float64(allocated)/float64(len(data)), took)
			if limit := uint64(1<<20 + 300*len(data)); allocated > limit {
				t.Errorf("allocated %d for %d bytes", allocated, len(data))
			}
			if took > 20*time.Second { // quadratic decoding would take hours
				t.Errorf("took %v", took)
			}
		})
	}
}
