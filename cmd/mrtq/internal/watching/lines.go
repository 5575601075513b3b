package watching

import (
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
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

var (
	heading = text.Colors{text.Bold}
	warning = text.Colors{text.FgYellow}
	alarm   = text.Colors{text.Bold, text.FgRed}
)

// watchLines draws a view. It is a pure function. The most important lines come first.
func watchLines(v live.View, width int) []line {
	lines := headLines(v, width)
	add := func(style text.Colors, format string, args ...any) {
		for _, part := range wrap(fmt.Sprintf(format, args...), width) {
			lines = append(lines, line{part, style})
		}
	}
	if !v.Connected {
		if v.Trouble == screen.NoAnswer {
			add(alarm, "NO ANSWER from the server for %s", ago(v.Troubled))
		} else {
			add(alarm, "NOT CONNECTED for %s: %s", ago(v.Troubled), screen.Cell(v.Trouble))
		}
		if v.AsOf.IsZero() {
			return lines
		}
		add(alarm, "Trying again. The rest was read at %s.", v.AsOf.Format(time.RFC3339))
	}
	if v.NoQueue != nil {
		add(warning, "NO QUEUE: %s. Check the address and its chroot. Waiting for one to appear.", screen.Cell(view.NoQueue(v.Target, v.NoQueue)))
	}
	if r := v.Records; r != nil {
		for _, of := range []struct {
			named live.Named
			style text.Colors
			what  string
		}{
			{r.Twice, alarm, "COULD RUN TWICE: %s changed or removed in the legacy queue since the migration: %s"},
			{r.Missed, warning, "MISSED: %s not migrated, although there at the migration: %s"},
			{r.Late, warning, "LATE: %s added to the legacy queue since the migration: %s"},
			{r.Over, warning, "MAY HAVE RUN TWICE: %s changed in the legacy queue since the migration, and the job is over: %s"},
		} {
			if of.named.Count > 0 {
				add(of.style, of.what, screen.Count(of.named.Count, "record", "records"), namedText(of.named))
			}
		}
		if r.Gone > 0 {
			add(warning, "GONE: %s not in the legacy queue any more, although retire did not remove them: legacy workers or the legacy cleanup run", screen.Count(r.Gone, "migrated record", "migrated records"))
		}
	}
	for _, note := range v.Notes {
		add(warning, "NOTE: %s", screen.Cell(note))
	}
	if v.NoQueue == nil || v.Migrators > 0 {
		lines = append(lines, migrationLines(v, width)...)
	}
	if v.NoQueue == nil || len(v.Holds) > 0 {
		lines = append(lines, labelled("Holds", width, holdsText(v.Holds))...)
	}
	if v.NoQueue == nil {
		lines = append(lines, queueLines(v, width)...)
	}
	lines = append(lines, legacyLines(v.Source, width)...)
	if v.NoQueue == nil {
		lines = append(lines, lockLines(v.Locks, width)...)
	}
	return lines
}

// namedText names the first records.
func namedText(n live.Named) string {
	const most = 3
	names := n.First[:min(len(n.First), most)]
	s := screen.Cell(strings.Join(names, ", "))
	if more := n.Count - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
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
		texts = append(texts, screen.Cell(runText(*r, v.Migrators > 0)))
	}
	if of := v.Records; r != nil && r.State == migrate.RolledBack && of != nil && of.Kept > 0 && of.Twice.Count == 0 {
		texts = append(texts, screen.Count(of.Kept, "legacy record", "legacy records")+" must not run again: next, before legacy workers start, mrtq retire")
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

// runText says in one line how far a run is. running says that a migration is running.
func runText(r live.RunView, running bool) string {
	if r.Damage != "" {
		return r.Run + ": its record can't be used"
	}
	done := screen.Count(r.Records, "record", "records")
	if r.Total > 0 {
		done = fmt.Sprintf("%d of %s (%d%%)", r.Records, screen.Count(r.Total, "record", "records"), 100*r.Records/r.Total)
	}
	word := r.Run + " " + view.RunState(r.State, r.Released, running)
	s := word + ": "
	switch {
	case r.State == migrate.RolledBack:
		return fmt.Sprintf("%s, ended %s", word, r.Finished.Format(time.RFC3339))
	case r.State == migrate.RollingBack, r.State == migrate.Retiring:
		s += screen.Count(int(r.Transactions), "transaction", "transactions")
		if r.TransactionRate != nil {
			s += fmt.Sprintf(", %s/s", rateText(r.TransactionRate))
		}
		return s
	case r.State == migrate.Running && r.RecordRate != nil:
		s += fmt.Sprintf("%s, %s/s", done, rateText(r.RecordRate))
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

// queueLines is the table of states, access queues and batches. A line lists the empty ones.
func queueLines(v live.View, width int) []line {
	const nameWidth = 15
	row := func(name string, n any, in, out, oldest, age, here string) string {
		return fmt.Sprintf("%s %9v %9s %9s  %s %8s %9s", pad(name, nameWidth), n, in, out, pad(oldest, 14), age, here)
	}
	lines := []line{{row("JOBS", "COUNT", "IN/MIN", "OUT/MIN", "OLDEST", "AGE", "IN STATE"), heading}}
	var empty []string
	add := func(prefix string, queues []live.Queue) {
		for _, q := range queues {
			name := screen.Cell(prefix + q.Name)
			if q.Count == 0 && still(q.In) && still(q.Out) {
				empty = append(empty, name)
				continue
			}
			id, age, here := "-", "-", "-"
			if q.Oldest != nil {
				id, age, here = q.Oldest.ID, ago(q.Oldest.Seconds), ago(q.Oldest.Here)
			}
			if text.StringWidthWithoutEscSequences(name) > nameWidth { // it has its own lines
				for _, part := range wrap(name, width) {
					lines = append(lines, line{text: part})
				}
				name = ""
			}
			lines = append(lines, line{text: row(name, q.Count, rateText(q.In), rateText(q.Out), id, age, here)})
		}
	}
	if len(v.Jobs) == 0 {
		lines = append(lines, line{text: "none: there is no folder of any state"})
	}
	add("", v.Jobs)
	add("access ", v.Access)
	add("", v.Batches)
	if len(empty) > 0 {
		lines = append(lines, labelled("Empty", width, strings.Join(empty, ", "))...)
	}
	return lines
}

// still reports whether a rate is zero or unknown.
func still(rate *float64) bool { return rate == nil || *rate == 0 }

// legacyLines list the legacy queues and folders of locks.
func legacyLines(source []live.Queue, width int) []line {
	var parts []string
	for _, q := range source {
		part := fmt.Sprintf("%s %d", screen.Cell(q.Name), q.Count)
		if !still(q.In) || !still(q.Out) {
			part += fmt.Sprintf(" (%s in, %s out a minute)", rateText(q.In), rateText(q.Out))
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil
	}
	return labelled("Legacy", width, strings.Join(parts, ", "))
}

// lockLines count the locks, and list them, the oldest first.
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
		lines = append(lines, labelled(fmt.Sprintf("%10s", ago(lock.Seconds)), width, screen.Cell(lock.Path))...)
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
