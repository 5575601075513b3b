package screen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

// fit chooses a table's shape by the width of the screen.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		name          string
		widths, words []int
		screen        int
		want          shape
	}{
		{"it fits", []int{10, 20}, []int{10, 5}, 37, shape{2, []int{10, 20}}},
		{"it fits without a frame", []int{10, 20}, []int{10, 5}, 36, shape{beside: 2}},
		{"just so", []int{10, 20}, []int{10, 5}, 31, shape{beside: 2}},
		{"the last column is wrapped", []int{10, 20}, []int{10, 5}, 30, shape{2, []int{10, 13}}},
		{"as narrow as its longest word", []int{10, 20}, []int{10, 5}, 22, shape{2, []int{10, 5}}},
		{"beneath", []int{10, 20}, []int{10, 5}, 21, shape{beside: 1}},
		{"the widest gives way first", []int{10, 30, 20}, []int{10, 5, 5}, 60, shape{3, []int{10, 20, 20}}},
		{"the first two beside", []int{10, 8, 60}, []int{10, 8, 60}, 19, shape{beside: 2}},
		{"the last is beneath", []int{1, 1, 40}, []int{1, 1, 40}, 43, shape{beside: 2}},
		{"even the first is too wide", []int{90, 8, 9}, []int{90, 8, 9}, 80, shape{beside: 1}},
	} {
		if got := fit(c.widths, c.words, c.screen); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: fit(%v, %v, %d) is %v, want %v", c.name, c.widths, c.words, c.screen, got, c.want)
		}
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
		widths, words := measure(header, rows)
		lines := fit(widths, words, columns).lines(header, rows, columns, false)
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
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, " ")); n > columns && widths[0] <= columns {
				t.Fatalf("%d columns: %s", n, line)
			}
		}
	})
}
