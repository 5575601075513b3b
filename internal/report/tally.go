package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// count is a number of things: "1 batch", "2 batches".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// number is 12345 as 12,345.
func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bar is one line of a bar chart. Width is in percent of the longest bar.
type bar struct {
	Label, Hint string
	N           int
	Width       float64
}

// chart is one bar chart. Unknown counts the records that are in no bar.
type chart struct {
	Title   string
	Bars    []bar
	Unknown int
}

// tally counts records by a text. The texts in order come first, in that order,
// and then the others, the most frequent first.
func tally(title string, records []*Record, by func(*Record) string, order ...string) chart {
	counts := map[string]int{}
	c := chart{Title: title}
	for _, r := range records {
		if key := by(r); key != "" {
			counts[key]++
		} else {
			c.Unknown++
		}
	}
	rank := func(key string) int {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, key := range keys {
		c.Bars = append(c.Bars, bar{Label: key, N: counts[key]})
	}
	c.scale()
	return c
}

func (c *chart) scale() {
	most := 0
	for _, b := range c.Bars {
		most = max(most, b.N)
	}
	for i := range c.Bars {
		if most > 0 {
			c.Bars[i].Width = 100 * float64(c.Bars[i].N) / float64(most)
		}
	}
}

// ages are the upper limits of the histogram's bins.
var ages = []struct {
	under time.Duration
	label string
}{
	{time.Hour, "under an hour"},
	{24 * time.Hour, "under a day"},
	{7 * 24 * time.Hour, "under a week"},
	{30 * 24 * time.Hour, "under 30 days"},
	{90 * 24 * time.Hour, "under 90 days"},
	{365 * 24 * time.Hour, "under a year"},
	{3 * 365 * 24 * time.Hour, "under 3 years"},
	{1<<63 - 1, "older"},
}

// ageChart counts records by their age at a time. A record from the future,
// written with a wrong clock, counts as the youngest.
func ageChart(records []*Record, at time.Time) chart {
	c := chart{Title: "Age of the records"}
	for _, a := range ages {
		c.Bars = append(c.Bars, bar{Label: a.label})
	}
	for _, r := range records {
		if r.Time.IsZero() {
			c.Unknown++
			continue
		}
		age := at.Sub(r.Time)
		for i, a := range ages {
			if age < a.under {
				c.Bars[i].N++
				break
			}
		}
	}
	for len(c.Bars) > 0 && c.Bars[len(c.Bars)-1].N == 0 {
		c.Bars = c.Bars[:len(c.Bars)-1]
	}
	for len(c.Bars) > 0 && c.Bars[0].N == 0 {
		c.Bars = c.Bars[1:]
	}
	c.scale()
	return c
}

// columns is a histogram of numbers, as columns of a drawing that is 100 wide
// and 100 high.
type columns struct {
	Title, Label string // the title, and the text for people who can't see the drawing
	Columns      []column
	Ticks        []tick
	Most         string  // the value of the highest column
	Width        float64 // of a column
	Unknown      int
}

type column struct {
	X, Y, H float64
	Hint    string
}

// tick is a label below the columns. Its position is in percent of the width.
type tick struct {
	At    float64
	Label string
}

// priorityColumns counts records by their priority, 0 to 99.
func priorityColumns(records []*Record) columns {
	const highest = 99
	counts := make([]int, highest+1)
	c := columns{Title: "Priorities"}
	for _, r := range records {
		if r.Priority < 0 || r.Priority > highest {
			c.Unknown++
			continue
		}
		counts[r.Priority]++
	}
	most, at := 0, 0
	for p, n := range counts {
		if n > most {
			most, at = n, p
		}
	}
	c.draw(counts, func(p int) string { return fmt.Sprintf("priority %d: %s", p, count(counts[p], "record", "records")) })
	c.Most, c.Width = number(most), 1
	for p := 0; p <= highest; p += 10 {
		c.Ticks = append(c.Ticks, tick{float64(p) + 0.5, fmt.Sprint(p)})
	}
	c.Label = fmt.Sprintf("Histogram of priorities, 0 is the most urgent; the most, %s, have priority %d", count(most, "record", "records"), at)
	return c
}

func (c *columns) draw(counts []int, hint func(i int) string) {
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		h := max(1, 100*float64(n)/float64(most))
		c.Columns = append(c.Columns, column{X: float64(i), Y: 100 - h, H: h, Hint: hint(i)})
	}
}

// cross counts records by queue and outcome.
type cross struct {
	Outcomes []string
	Rows     []crossRow
	Total    crossRow
}

type crossRow struct {
	Queue string
	N     []int
	All   int
}

func crossTable(records []Record) cross {
	counts := map[string]map[Outcome]int{}
	all := map[Outcome]int{}
	var queues []string
	for i := range records {
		r := &records[i]
		if counts[r.Queue] == nil {
			counts[r.Queue] = map[Outcome]int{}
			queues = append(queues, r.Queue)
		}
		counts[r.Queue][r.Outcome]++
		all[r.Outcome]++
	}
	slices.Sort(queues)
	var c cross
	row := func(name string, of map[Outcome]int) crossRow {
		out := crossRow{Queue: name}
		for _, o := range outcomes {
			if all[o.Outcome] > 0 {
				out.N = append(out.N, of[o.Outcome])
				out.All += of[o.Outcome]
			}
		}
		return out
	}
	for _, o := range outcomes {
		if all[o.Outcome] > 0 {
			c.Outcomes = append(c.Outcomes, string(o.Outcome))
		}
	}
	for _, q := range queues {
		c.Rows = append(c.Rows, row(q, counts[q]))
	}
	c.Total = row("all", all)
	return c
}

// leftOut is one reason why records were not migrated.
type leftOut struct {
	Outcome, Reason string
	N               int
	Example         string
}

// reasons are the reasons why records were not migrated, most frequent first.
func reasons(records []Record) []leftOut {
	index := map[[2]string]int{}
	var out []leftOut
	for i := range records {
		r := &records[i]
		if r.Outcome.InLedger() || r.Outcome == ToCreate || r.Outcome == ToRewrite {
			continue
		}
		key := [2]string{string(r.Outcome), kindOf(r.Reason)}
		at, there := index[key]
		if !there {
			at = len(out)
			index[key] = at
			out = append(out, leftOut{Outcome: key[0], Reason: key[1], Example: r.Path})
		}
		out[at].N++
	}
	slices.SortStableFunc(out, func(a, b leftOut) int { return cmp.Compare(b.N, a.N) })
	return out
}

// kindOf is a reason without the details of one record. A decoder's error
// begins with its kind: "corrupt-zlib at byte 15: …".
func kindOf(reason string) string {
	kind, _, _ := strings.Cut(reason, ":")
	kind, _, _ = strings.Cut(kind, " at byte ")
	return kind
}

// InLedger reports whether a run has a record with this outcome in its ledger.
func (o Outcome) InLedger() bool {
	for _, x := range outcomes {
		if x.Outcome == o {
			return x.inLedger
		}
	}
	return false
}

// subject are the records that the page counts as migrated, or as planned.
func subject(records []Record) []*Record {
	var out []*Record
	for i := range records {
		if o := records[i].Outcome; o.InLedger() || o == ToCreate || o == ToRewrite {
			out = append(out, &records[i])
		}
	}
	return out
}
