package screen

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

// fit shows as many columns side by side as fit on the screen.
func TestFit(t *testing.T) {
	header, row := []string{"ONE", "TWO", "THREE"}, Row{"0123456789", 7, "one two three"}
	for screen, want := range map[int]string{
		28: "ONE        TWO THREE         |0123456789   7 one two three ",
		27: "ONE        TWO |0123456789   7 |    THREE one two three",
		16: "ONE        TWO |0123456789   7 |    THREE one   |          two   |          three",
		13: "ONE        |0123456789 |    TWO   7|    THREE one",
		5:  "ONE        |0123456789 |    TWO   7|    THREE o|          n|          e",
	} {
		if got := strings.Join(fit(header, []Row{row}, screen), "|"); !strings.HasPrefix(got, want) {
			t.Errorf("%d columns: %q, want %q", screen, got, want)
		}
	}
}

// If the headings alone are too wide, they have several lines, and a row has one.
func TestFitHeadings(t *testing.T) {
	got := strings.Join(fit([]string{"QUEUE", "TO HAND OVER", "AT WORK"}, []Row{{"/ingest", 12, 3}}, 18), "|")
	if want := "QUEUE     TO   AT |        HAND WORK |        OVER      |/ingest   12    3 "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A stacked table of any width loses no word. No line is wider than the screen, unless its
// first cell is.
func TestStackedLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,12}`)
		cells := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			return strings.Join(rapid.SliceOfN(word, 0, 20).Draw(t, "words"), " ")
		}), 4, 4)
		rows := rapid.SliceOfN(cells, 1, 4).Draw(t, "rows")
		header := []string{"ONE", "TWO", "THREE", "FOUR"}
		const columns = 60
		lines := fit(header, rows, columns)
		first := len(header[0])
		for _, r := range rows {
			first = max(first, len(r[0].(string)))
		}
		all := strings.Fields(strings.Join(lines, "\n"))
		have := map[string]int{}
		for _, w := range all {
			have[w]++
		}
		for _, r := range rows {
			for _, v := range r {
				for _, w := range strings.Fields(v.(string)) {
					if have[w]--; have[w] < 0 {
						t.Fatalf("%q is lost in\n%s", w, strings.Join(lines, "\n"))
					}
				}
			}
		}
		for _, line := range lines {
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, " ")); n > columns && first <= columns {
				t.Fatalf("%d columns: %s", n, line)
			}
		}
	})
}
