package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/migrate"
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

// moment is a time for people; "" if there is none.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// bar is one line of a bar chart. Width is in percent of the longest bar.
type bar struct {
	Label string
	N     int
	Width float64
}

// chart is one bar chart. Unknown counts the records that are in no bar.
type chart struct {
	Title   string
	Bars    []bar
	Unknown int
}

// subject are the records that the charts are about: those that were migrated, or will be. If
// there are none, they are all records.
func subject(records []migrate.RecordStatus) []*migrate.RecordStatus {
	var migrated, all []*migrate.RecordStatus
	for i := range records {
		r := &records[i]
		all = append(all, r)
		if r.Job != "" || r.Outcome == migrate.WillBeCreated {
			migrated = append(migrated, r)
		}
	}
	if len(migrated) > 0 {
		return migrated
	}
	return all
}

// tally counts records by a text, the most frequent first.
func tally(title string, records []*migrate.RecordStatus, by func(*migrate.RecordStatus) string) chart {
	counts := map[string]int{}
	c := chart{Title: title}
	for _, r := range records {
		if key := by(r); key != "" {
			counts[key]++
		} else {
			c.Unknown++
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		c.Bars = append(c.Bars, bar{Label: key, N: counts[key]})
	}
	return c.scaled()
}

func (c chart) scaled() chart {
	most := 1
	for _, b := range c.Bars {
		most = max(most, b.N)
	}
	for i := range c.Bars {
		c.Bars[i].Width = 100 * float64(c.Bars[i].N) / float64(most)
	}
	return c
}

// ageLimit is one bar of ages: those under a limit that are in no bar before it.
type ageLimit struct {
	under time.Duration
	label string
}

var ageLimits = []ageLimit{
	{time.Hour, "under an hour"},
	{24 * time.Hour, "under a day"},
	{7 * 24 * time.Hour, "under a week"},
	{30 * 24 * time.Hour, "under 30 days"},
	{90 * 24 * time.Hour, "under 90 days"},
	{365 * 24 * time.Hour, "under a year"},
	{3 * 365 * 24 * time.Hour, "under 3 years"},
	{1<<63 - 1, "older"},
}

// ages counts records by their age at a time. A record from the future, written with a wrong
// clock, counts as the youngest.
func ages(title string, records []*migrate.RecordStatus, at time.Time) chart {
	counts := make([]int, len(ageLimits))
	c := chart{Title: title}
	for _, r := range records {
		if r.Time.IsZero() {
			c.Unknown++
			continue
		}
		age := at.Sub(r.Time)
		counts[slices.IndexFunc(ageLimits, func(l ageLimit) bool { return age < l.under })]++
	}
	for i, n := range counts {
		if n > 0 {
			c.Bars = append(c.Bars, bar{Label: ageLimits[i].label, N: n})
		}
	}
	return c.scaled()
}

// priorities counts records by their priority. The most urgent is first.
func priorities(records []*migrate.RecordStatus) chart {
	c := tally("Priorities, the most urgent first", records, func(r *migrate.RecordStatus) string {
		if p := r.Priority(); p >= 0 {
			return fmt.Sprintf("%02d", p)
		}
		return ""
	})
	slices.SortFunc(c.Bars, func(a, b bar) int { return strings.Compare(a.Label, b.Label) })
	return c
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

func crossTable(records []migrate.RecordStatus) cross {
	counts := map[string]map[migrate.Outcome]int{"all": {}}
	for i := range records {
		r := &records[i]
		queue := string(r.Queue)
		if counts[queue] == nil {
			counts[queue] = map[migrate.Outcome]int{}
		}
		counts[queue][r.Outcome]++
		counts["all"][r.Outcome]++
	}
	var c cross
	row := func(name string) crossRow {
		out := crossRow{Queue: name}
		for _, o := range c.Outcomes {
			n := counts[name][migrate.Outcome(o)]
			out.N, out.All = append(out.N, n), out.All+n
		}
		return out
	}
	for _, o := range migrate.Outcomes {
		if counts["all"][o] > 0 {
			c.Outcomes = append(c.Outcomes, string(o))
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(counts)) {
		if queue != "all" {
			c.Rows = append(c.Rows, row(queue))
		}
	}
	c.Total = row("all")
	return c
}

// leftOut is one reason why records were not migrated.
type leftOut struct {
	Outcome, Reason string
	N               int
	Example         string
}

// reasons are the reasons why records were not migrated, most frequent first.
func reasons(records []migrate.RecordStatus) []leftOut {
	index := map[[2]string]int{}
	var out []leftOut
	for i := range records {
		r := &records[i]
		if r.Job != "" || r.Outcome == migrate.WillBeCreated {
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
