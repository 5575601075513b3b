package watching

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/live"
)

// line is one line of a view: printable text and its style. The style adds nothing that
// the text does not say.
type line struct {
	text  string
	style text.Colors // nil means plain
}

// plain is the line without its style, cut to a width.
func (l line) plain(width int) string {
	return strings.TrimRight(text.Snip(l.text, width, "…"), " ")
}

// draw is the line with its style, for a terminal. If $NO_COLOR is set, it has none.
func (l line) draw(width int) string {
	s := l.plain(width)
	if len(l.style) == 0 || s == "" {
		return s
	}
	return l.style.Sprint(s)
}

// clipped returns the lines that fit on a terminal of this height. If some don't fit, the
// last line says how many.
func clipped(lines []line, height int) []line {
	if len(lines) <= height {
		return lines
	}
	more := line{text: fmt.Sprintf("… and %s; make the terminal taller", screen.Count(len(lines)-height+1, "more line", "more lines"))}
	return append(lines[:height-1:height-1], more)
}

// wide is the least width of a view with all columns.
const wide = 110

var (
	heading = text.Colors{text.Bold}
	warning = text.Colors{text.FgYellow}
	alarm   = text.Colors{text.Bold, text.FgRed}
)

// NoQueue says what is at a target instead of a new queue.
type NoQueue func(target string, found *migrate.NoQueue) string

// watchLines draws a view in full height. It is a pure function.
func watchLines(v live.View, width int, noQueue NoQueue) []line {
	d := sketch{v: v, width: width, noQueue: noQueue}
	return append(d.upper(), d.locks(len(v.Locks.List))...)
}

// fewestLocks is how many of the oldest locks a screen shows if it can.
const fewestLocks = 3

// watchScreen draws a view for a terminal. If the view is too tall, it leaves out, in this
// order: locks but the oldest; blank lines; the lines of empty states, which it then lists
// in one line; the table of the legacy queues, which it then lists, too. If the view is
// still too tall, it leaves out the last lines.
func watchScreen(v live.View, width, height int, noQueue NoQueue) []line {
	all := len(v.Locks.List)
	d := sketch{v: v, width: width, noQueue: noQueue}
	for ; ; d.tight++ {
		upper := d.upper()
		for shown := min(all, height); shown >= 0; shown-- {
			if lines := append(upper[:len(upper):len(upper)], d.locks(shown)...); len(lines) <= height && (shown >= min(all, fewestLocks) || d.tight == tightest) {
				return lines
			}
		}
		if d.tight == tightest {
			return clipped(append(upper, d.locks(0)...), height)
		}
	}
}

// What a tight sketch leaves out. Each also leaves out what the ones before it do.
const (
	withoutBlanks = 1 + iota
	withoutEmptyStates
	withoutLegacyTable
	tightest = withoutLegacyTable
)

// sketch draws a view in a width.
type sketch struct {
	v       live.View
	width   int
	tight   int
	noQueue NoQueue
}

// blank is a blank line, if there is room for it.
func (d sketch) blank() []line {
	if d.tight >= withoutBlanks {
		return nil
	}
	return []line{{}}
}

// upper is everything above the locks. The most important lines come first.
func (d sketch) upper() []line {
	v, width := d.v, d.width
	lines := headLines(v, width)
	add := func(style text.Colors, format string, args ...any) {
		for _, part := range wrap(fmt.Sprintf(format, args...), width) {
			lines = append(lines, line{part, style})
		}
	}
	switch {
	case !v.Connected && v.AsOf.IsZero():
		add(alarm, "NOT CONNECTED for %s: %s", ago(v.Troubled), screen.Cell(v.Trouble))
		return lines
	case !v.Connected:
		add(alarm, "NOT CONNECTED for %s: %s", ago(v.Troubled), screen.Cell(v.Trouble))
		add(alarm, "Trying again. The rest was read at %s.", v.AsOf.Format(time.RFC3339))
	}
	if v.NoQueue != nil {
		add(warning, "NO QUEUE: %s. Check the address and its chroot. Waiting for one to appear.", screen.Cell(d.noQueue(v.Target, v.NoQueue)))
		if v.Migrators > 0 {
			lines = append(lines, migrationLines(v, width)...)
		}
		if len(v.Holds) > 0 {
			lines = append(lines, labelled("Holds", width, holdsText(v.Holds))...)
		}
		return append(lines, d.source()...)
	}
	for _, note := range v.Notes {
		add(warning, "NOTE: %s", screen.Cell(note))
	}
	lines = append(lines, d.blank()...)
	lines = append(lines, migrationLines(v, width)...)
	lines = append(lines, labelled("Holds", width, holdsText(v.Holds))...)
	lines = append(lines, d.blank()...)
	lines = append(lines, d.queues()...)
	lines = append(lines, d.source()...)
	return append(lines, d.blank()...)
}

// headLines show the target and the time.
func headLines(v live.View, width int) []line {
	target, at := screen.Cell(v.Target), v.Time.Format(time.RFC3339)
	if text.StringWidthWithoutEscSequences(target)+1+len(at) <= width {
		return []line{{pad(target, width-len(at)-1) + " " + at, heading}}
	}
	var lines []line
	for _, part := range wrap(target, width) {
		lines = append(lines, line{part, heading})
	}
	return append(lines, line{at, heading})
}

func migrationLines(v live.View, width int) []line {
	r := v.Migration
	if r == nil && v.Migrators == 0 {
		return labelled("Migration", width, "no run is recorded here")
	}
	var texts []string
	if r != nil {
		texts = append(texts, screen.Cell(runText(*r)))
	}
	if r != nil && r.Damage == "" {
		texts = append(texts, screen.Cell(fmt.Sprintf("of %s, in dialect %s, since %s", r.Source, r.Dialect, r.Started.Format(time.RFC3339))))
	}
	switch {
	case v.Migrators > 1:
		texts = append(texts, screen.Cell(fmt.Sprintf("running: %s; %d waiting", v.Leader, v.Migrators-1)))
	case v.Migrators == 1:
		texts = append(texts, screen.Cell("running: "+v.Leader))
	}
	return labelled("Migration", width, texts...)
}

// labelled are lines with texts after a label. Each text is wrapped.
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
	done := screen.Count(r.Records, "record", "records")
	if r.Total > 0 {
		done = fmt.Sprintf("%d of %s (%d%%)", r.Records, screen.Count(r.Total, "record", "records"), 100*r.Records/r.Total)
	}
	s := fmt.Sprintf("%s %s: ", r.Run, r.State)
	switch {
	case r.State == migrate.RollingBack:
		s += screen.Count(int(r.Transactions), "transaction", "transactions")
		if r.TransactionRate != nil {
			s += fmt.Sprintf(", %s/s", rateText(r.TransactionRate))
		}
		return s
	case r.State == migrate.Running && r.RecordRate != nil:
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
		name := screen.Cell(h.Name)
		if h.Collection {
			name = "collection " + name
		}
		parts = append(parts, name+" for "+ago(h.Seconds))
	}
	return strings.Join(parts, ", ")
}

// rowOf is a row of a table: a name in a column of this width, and then the rest. If the
// name is longer, it has its own lines above the rest.
func rowOf(name string, column int, rest string, width int) []line {
	if text.StringWidthWithoutEscSequences(name) <= column {
		return []line{{text: pad(name, column) + rest}}
	}
	var lines []line
	for _, part := range wrap(name, width) {
		lines = append(lines, line{text: part})
	}
	return append(lines, line{text: pad("", column) + rest})
}

// queues is the table of states, access queues and batches.
func (d sketch) queues() []line {
	v := d.v
	name := 15
	if d.width >= wide {
		name += min(d.width-wide, 20)
	}
	row := func(n, in, out, oldest, age, here string) string {
		return fmt.Sprintf(" %9s %9s %9s  %s %8s %9s", n, in, out, pad(oldest, 14), age, here)
	}
	lines := []line{{pad("JOBS", name) + row("COUNT", "IN/MIN", "OUT/MIN", "OLDEST", "AGE", "IN STATE"), heading}}
	var empty []string
	rows := func(prefix string, queues []live.Queue) {
		for _, q := range queues {
			if d.tight >= withoutEmptyStates && q.Count == 0 && still(q.In) && still(q.Out) {
				empty = append(empty, screen.Cell(prefix+q.Name))
				continue
			}
			id, age, here := "-", "-", "-"
			if q.Oldest != nil {
				id, age, here = q.Oldest.ID, ago(q.Oldest.Seconds), ago(q.Oldest.Here)
			}
			lines = append(lines, rowOf(screen.Cell(prefix+q.Name), name, row(fmt.Sprint(q.Count), rateText(q.In), rateText(q.Out), id, age, here), d.width)...)
		}
	}
	if len(v.Jobs) == 0 {
		lines = append(lines, line{text: "none: there is no folder of any state"})
	}
	rows("", v.Jobs)
	if len(v.Access)+len(v.Batches) > 0 && d.tight < withoutEmptyStates {
		lines = append(lines, line{pad("OTHERS", name) + row("COUNT", "IN/MIN", "OUT/MIN", "OLDEST", "AGE", ""), heading})
	}
	rows("access ", v.Access)
	rows("", v.Batches)
	if len(empty) > 0 {
		lines = append(lines, labelled("Empty", d.width, strings.Join(empty, ", "))...)
	}
	return lines
}

// still reports whether a rate is zero or unknown.
func still(rate *float64) bool { return rate == nil || *rate == 0 }

// source is the table of the legacy queues and locks.
func (d sketch) source() []line {
	if len(d.v.Source) == 0 {
		return nil
	}
	if d.tight >= withoutLegacyTable {
		var parts []string
		for _, q := range d.v.Source {
			part := fmt.Sprintf("%s %d", screen.Cell(q.Name), q.Count)
			var rates []string
			if !still(q.In) {
				rates = append(rates, rateText(q.In)+" in")
			}
			if !still(q.Out) {
				rates = append(rates, rateText(q.Out)+" out")
			}
			if len(rates) > 0 {
				part += " (" + strings.Join(rates, ", ") + " a minute)"
			}
			parts = append(parts, part)
		}
		return labelled("Legacy", d.width, strings.Join(parts, ", "))
	}
	const counts = 3 * 10
	name := min(max(15, d.width-counts), 45)
	row := func(n, in, out string) string { return fmt.Sprintf(" %9s %9s %9s", n, in, out) }
	lines := []line{{pad("LEGACY", name) + row("COUNT", "IN/MIN", "OUT/MIN"), heading}}
	for _, q := range d.v.Source {
		lines = append(lines, rowOf(screen.Cell(q.Name), name, row(fmt.Sprint(q.Count), rateText(q.In), rateText(q.Out)), d.width)...)
	}
	return lines
}

// locks counts the locks, and lists this number of the oldest ones.
func (d sketch) locks(shown int) []line {
	l := d.v.Locks
	if d.v.NoQueue != nil || !d.v.Connected && d.v.AsOf.IsZero() {
		return nil
	}
	if l.Total() == 0 {
		return labelled("Locks", d.width, "none")
	}
	var kinds []string
	for _, kind := range live.LockKinds {
		if n := l.Count[kind]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
		}
	}
	lines := labelled("Locks", d.width, fmt.Sprintf("%d, the oldest for %s: %s", l.Total(), ago(l.Oldest), strings.Join(kinds, ", ")))
	for _, lock := range l.List[:shown] {
		lines = append(lines, d.lock(lock)...)
	}
	if more := len(l.List) - shown; more > 0 {
		lines = append(lines, line{text: pad("", lockAge) + "… and " + screen.Count(more, "more lock", "more locks")})
	}
	return lines
}

// lockAge is the width of the column with a lock's age.
const lockAge = 12

// lock shows a lock's age and path, and on a wide terminal its session.
func (d sketch) lock(l live.LockView) []line {
	const session = 28
	room := d.width - lockAge
	whose := "persistent"
	if l.Session != "" {
		whose = "session " + l.Session
	}
	if d.width >= wide {
		room -= session
	}
	var lines []line
	age := fmt.Sprintf("%*s  ", lockAge-2, ago(l.Seconds))
	for i, part := range wrap(screen.Cell(l.Path), room) {
		if i == 0 && d.width >= wide {
			part = pad(part, room) + " " + whose
		}
		lines = append(lines, line{text: age + part})
		age = pad("", lockAge)
	}
	return lines
}

// pad is text of exactly this width, padded or cut off.
func pad(s string, width int) string {
	s = text.Snip(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-text.StringWidthWithoutEscSequences(s)))
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
