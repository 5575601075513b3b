package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mrtq/migrate"
	"mrtq/migrate/live"
)

// line is one line of a picture: printable text and its style. The text alone says
// everything.
type line struct {
	text  string
	style text.Colors // nil means plain
}

// plain is the line without emphasis, cut to a width.
func (l line) plain(width int) string {
	return strings.TrimRight(text.Snip(l.text, width, "…"), " ")
}

// draw is the line for a terminal. $NO_COLOR keeps it plain.
func (l line) draw(width int) string {
	s := l.plain(width)
	if len(l.style) == 0 || s == "" {
		return s
	}
	return l.style.Sprint(s)
}

// clipped are the lines that fit on a terminal of this height.
func clipped(lines []line, height int) []line {
	if len(lines) <= height {
		return lines
	}
	more := line{text: fmt.Sprintf("… and %s; make the terminal taller", count(len(lines)-height+1, "more line", "more lines"))}
	return append(lines[:height-1:height-1], more)
}

// wide is the width from which a picture has more columns.
const wide = 110

var (
	heading = text.Colors{text.Bold}
	warning = text.Colors{text.FgYellow}
	alarm   = text.Colors{text.Bold, text.FgRed}
)

// watchLines draws a view. It is a pure function. The most important lines come
// first, because lines that don't fit are cut off at the end.
func watchLines(v live.View, width int) []line {
	lines := []line{{twoSides(cell(v.Target), v.Time.Format(time.RFC3339), width), heading}}
	add := func(style text.Colors, format string, args ...any) {
		for _, part := range wrap(fmt.Sprintf(format, args...), width) {
			lines = append(lines, line{part, style})
		}
	}
	switch {
	case !v.Connected && v.AsOf.IsZero():
		add(alarm, "NOT CONNECTED for %s: %s", ago(v.Troubled), cell(v.Trouble))
		return lines
	case !v.Connected:
		add(alarm, "NOT CONNECTED for %s: %s", ago(v.Troubled), cell(v.Trouble))
		add(alarm, "Trying again. The rest was read at %s.", v.AsOf.Format(time.RFC3339))
	}
	if v.NoQueue != nil {
		add(warning, "NO QUEUE: %s. %s. Waiting for one to appear.", cell(noQueueAt(placeOf(v.Target), v.NoQueue)), checkPlace)
		if v.Migrators > 0 {
			lines = append(lines, migrationLines(v, width)...)
		}
		if len(v.Holds) > 0 {
			lines = append(lines, labelled("Holds", width, holdsText(v.Holds))...)
		}
		return append(lines, sourceLines(v, width)...)
	}
	for _, note := range v.Notes {
		add(warning, "NOTE: %s", cell(note))
	}
	lines = append(lines, line{})
	lines = append(lines, migrationLines(v, width)...)
	lines = append(lines, labelled("Holds", width, holdsText(v.Holds))...)
	lines = append(lines, line{})
	lines = append(lines, queueLines(v, width)...)
	lines = append(lines, sourceLines(v, width)...)
	lines = append(lines, line{})
	return append(lines, lockLines(v.Locks, width)...)
}

func migrationLines(v live.View, width int) []line {
	r := v.Migration
	if r == nil && v.Migrators == 0 {
		return labelled("Migration", width, "no run is recorded here")
	}
	var texts []string
	if r != nil {
		texts = append(texts, cell(runText(*r)))
	}
	if r != nil && r.Damage == "" {
		texts = append(texts, cell(fmt.Sprintf("of %s, in dialect %s, since %s", r.Source, r.Dialect, r.Started.Format(time.RFC3339))))
	}
	switch {
	case v.Migrators > 1:
		texts = append(texts, cell(fmt.Sprintf("at work: %s; %d standing by", v.Leader, v.Migrators-1)))
	case v.Migrators == 1:
		texts = append(texts, cell("at work: "+v.Leader))
	}
	return labelled("Migration", width, texts...)
}

// labelled are texts after a label, each wrapped.
func labelled(label string, width int, texts ...string) []line {
	const room = 11
	var lines []line
	for _, t := range texts {
		for _, part := range wrap(t, width-room) {
			lines = append(lines, line{text: pad(label, room) + part})
			label = ""
		}
	}
	return lines
}

// runText says in one line how far a run is.
func runText(r live.RunView) string {
	if r.Damage != "" {
		return r.Run + ": its record can't be used"
	}
	done := count(r.Records, "record", "records")
	if r.Total > 0 {
		done = fmt.Sprintf("%d of %s (%d%%)", r.Records, count(r.Total, "record", "records"), 100*r.Records/r.Total)
	}
	s := fmt.Sprintf("%s %s: ", r.Run, r.State)
	switch {
	case r.State == migrate.RunRollingBack:
		s += count(int(r.Transactions), "transaction", "transactions")
		if r.TransactionRate != nil {
			s += fmt.Sprintf(", %s/s", rateText(r.TransactionRate))
		}
		return s
	case r.State == migrate.RunRunning && r.RecordRate != nil:
		s += fmt.Sprintf("%s, %s/s", done, rateText(r.RecordRate))
		if r.Left != nil {
			s += fmt.Sprintf(", %s left", ago(*r.Left))
		}
		return s
	case !r.Finished.IsZero():
		return s + fmt.Sprintf("%s, ended %s", done, r.Finished.Format(time.RFC3339))
	}
	return s + done
}

func holdsText(holds []live.HoldView) string {
	if len(holds) == 0 {
		return "none"
	}
	var parts []string
	for _, h := range holds {
		name := cell(h.Name)
		if h.Collection {
			name = "collection " + name
		}
		parts = append(parts, name+" for "+ago(h.Seconds))
	}
	return strings.Join(parts, ", ")
}

// queueLines are the table of states, access queues and batches.
func queueLines(v live.View, width int) []line {
	const name = 15
	more := 0
	if width >= wide {
		more = width - wide
	}
	row := func(what, n, in, out, oldest, age, here string) string {
		return fmt.Sprintf("%s %9s %9s %9s  %s %8s %9s", pad(what, name+min(more, 20)), n, in, out, pad(oldest, 14), age, here)
	}
	lines := []line{{row("JOBS", "COUNT", "IN/MIN", "OUT/MIN", "OLDEST", "AGE", "IN STATE"), heading}}
	rows := func(prefix string, queues []live.Queue) {
		for _, q := range queues {
			id, age, here := "-", "-", "-"
			if q.Oldest != nil {
				id, age, here = q.Oldest.ID, ago(q.Oldest.Seconds), ago(q.Oldest.Here)
			}
			lines = append(lines, line{text: row(cell(prefix+q.Name), fmt.Sprint(q.Count), rateText(q.In), rateText(q.Out), id, age, here)})
		}
	}
	if len(v.Jobs) == 0 {
		lines = append(lines, line{text: "none: there is no folder of any state"})
	}
	rows("", v.Jobs)
	if len(v.Access)+len(v.Batches) > 0 {
		lines = append(lines, line{row("OTHERS", "COUNT", "IN/MIN", "OUT/MIN", "OLDEST", "AGE", ""), heading})
	}
	rows("access ", v.Access)
	rows("", v.Batches)
	return lines
}

// sourceLines are the legacy queues and locks.
func sourceLines(v live.View, width int) []line {
	if len(v.Source) == 0 {
		return nil
	}
	const counts = 3 * 10
	name := min(max(15, width-counts), 45)
	row := func(what, n, in, out string) string {
		return fmt.Sprintf("%s %9s %9s %9s", pad(what, name), n, in, out)
	}
	lines := []line{{row("LEGACY", "COUNT", "IN/MIN", "OUT/MIN"), heading}}
	for _, q := range v.Source {
		lines = append(lines, line{text: row(cell(q.Name), fmt.Sprint(q.Count), rateText(q.In), rateText(q.Out))})
	}
	return lines
}

func lockLines(l live.LocksView, width int) []line {
	if l.Total() == 0 {
		return labelled("Locks", width, "none")
	}
	var kinds []string
	for _, kind := range live.LockKinds {
		if n := l.Count[kind]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	lines := labelled("Locks", width, fmt.Sprintf("%d, the oldest for %s: %s", l.Total(), ago(l.Oldest), strings.Join(kinds, ", ")))
	for _, lock := range l.List {
		whose := "persistent"
		if lock.Session != "" {
			whose = "session " + lock.Session
		}
		t := fmt.Sprintf("%10s  %s", ago(lock.Seconds), cell(lock.Path))
		if width >= wide {
			t = pad(t, width-28) + " " + whose
		}
		lines = append(lines, line{text: t})
	}
	return lines
}

// pad is text of exactly this width, padded or cut off.
func pad(s string, width int) string {
	s = text.Snip(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-text.StringWidthWithoutEscSequences(s)))
}

// twoSides puts one text at the left end and the other at the right.
func twoSides(left, right string, width int) string {
	room := width - len(right) - 1
	if room < 1 {
		return left
	}
	return pad(left, room) + " " + right
}

// wrap breaks text into lines between words. It breaks only words that are too long.
func wrap(s string, width int) []string {
	return strings.Split(text.WrapSoft(s, max(width, 1)), "\n")
}

// ago is a time span in its two largest units.
func ago(seconds float64) string {
	s := int64(seconds)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s%86400/3600)
}

// rateText is a rate, or "-" if there is none.
func rateText(r *float64) string {
	switch {
	case r == nil:
		return "-"
	case *r == 0:
		return "0"
	case *r < 10:
		return fmt.Sprintf("%.1f", *r)
	}
	return fmt.Sprintf("%.0f", *r)
}
