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

// planWords are the words for outcomes in a page about a plan: it speaks of what will be. Of a
// target, an outcome is the word.
var planWords = map[migrate.Outcome]string{
	migrate.WasMigrated: "migrated before", migrate.WasRemoved: "migrated before, job removed", migrate.AtLegacy: "migrated before, changed since",
	migrate.WasSkipped: "to skip", migrate.WasQuarantined: "to quarantine", migrate.IsBlocked: "to decide",
}

// word is the word for an outcome.
func (d *Data) word(o migrate.Outcome) string {
	if d.Plan == nil {
		return string(o)
	}
	return cmp.Or(planWords[o], string(o))
}

// cross counts records by queue and outcome.
type cross struct {
	Outcomes []string // as the page names them
	outcomes []migrate.Outcome
	Rows     []crossRow
	Total    crossRow
}

type crossRow struct {
	Queue string
	N     []int
	All   int
}

func (d *Data) crossTable() cross {
	records := d.Records
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
		for _, o := range c.outcomes {
			n := counts[name][o]
			out.N, out.All = append(out.N, n), out.All+n
		}
		return out
	}
	for _, o := range migrate.Outcomes {
		if counts["all"][o] > 0 {
			c.outcomes, c.Outcomes = append(c.outcomes, o), append(c.Outcomes, d.word(o))
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

// leftOut is one reason why records are left out.
type leftOut struct {
	Outcome, Reason string
	N               int
	Example         string
}

// reasons are the reasons why records are left out, most frequent first.
func (d *Data) reasons() []leftOut {
	records := d.Records
	index := map[[2]string]int{}
	var out []leftOut
	for i := range records {
		r := &records[i]
		if withJob[r.Outcome] {
			continue
		}
		key := [2]string{d.word(r.Outcome), kindOf(r.Reason)}
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
