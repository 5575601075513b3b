package screen

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Row is a row of a table. A cell is a text or a number.
type Row = []any

// Table prints rows below a title, and a blank line: as plain columns. On a
// terminal, columns that don't fit are below each row. Without rows it prints nothing.
func (s *Screen) Table(title string, header []string, rows []Row) { s.table(title, header, rows, 0) }

func (s *Screen) table(title string, header []string, rows []Row, more int) {
	if len(rows)+more == 0 {
		return
	}
	if title != "" {
		s.Prose("", title)
	}
	printable := make([]Row, len(rows))
	for i, r := range rows {
		for _, v := range r {
			if cell, ok := v.(string); ok {
				v = Cell(cell)
			}
			printable[i] = append(printable[i], v)
		}
	}
	var lines []string
	if screen, ok := Terminal(s.Out.Writer); ok {
		columns, _ := Size(screen)
		lines = fit(header, printable, columns)
	} else {
		lines = plainLines(header, printable)
	}
	for _, line := range lines {
		s.Println(strings.TrimRight(line, " "))
	}
	if more > 0 {
		s.Printf("Not shown: %d; -o json has all\n", more)
	}
	s.Println()
}

const (
	// MostRows is how many rows of a list are shown.
	MostRows = 100
	// mostOrdinary is how many rows a list has at most that shows the ordinary ones, too: half of a small terminal.
	mostOrdinary = 10
)

// List prints the first rows of a list as a table, and counts the rest.
func List[T any](s *Screen, title string, items []T, header []string, row func(T) Row) {
	Brief(s, title, items, header, row, func(T) bool { return false })
}

// Brief is [List] for what may be ordinary: that comes last. A long list only counts it.
func Brief[T any](s *Screen, title string, items []T, header []string, row func(T) Row, ordinary func(T) bool) {
	var rows, last []Row
	for _, x := range items {
		if ordinary(x) {
			last = append(last, row(x))
		} else {
			rows = append(rows, row(x))
		}
	}
	if len(items) <= mostOrdinary {
		rows = append(rows, last...)
	}
	rows = rows[:min(len(rows), MostRows)]
	s.table(title, header, rows, len(items)-len(rows))
}

// fit shows a table on a screen of this width, so that nothing is cut off: all columns side by side if they fit, with headings of
// several lines if need be; else as many as fit, the first at least, and the others below each row.
func fit(header []string, rows []Row, screen int) []string {
	tall := strings.Split(strings.ReplaceAll(strings.Join(header, "\t"), " ", "\n"), "\t")
	for _, headings := range [][]string{header, tall} {
		if columnsThatFit(headings, rows, screen) == len(header) {
			return plainLines(headings, rows)
		}
	}
	return stackedLines(header, rows, max(columnsThatFit(header, rows, screen), 1), screen)
}

func columnsThatFit(header []string, rows []Row, screen int) int {
	used := -1
	for i, h := range header {
		width := text.LongestLineLen(h)
		for _, r := range rows {
			width = max(width, text.StringWidthWithoutEscSequences(fmt.Sprint(r[i])))
		}
		if used += 1 + width; used > screen {
			return i
		}
	}
	return len(header)
}

func plainLines(header []string, rows []Row) []string {
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft = ""
	style.Format.Header = text.FormatDefault
	t := table.NewWriter()
	t.SetStyle(style)
	head := make(table.Row, len(header))
	for i, h := range header {
		head[i] = h
	}
	t.AppendHeader(head)
	for _, r := range rows {
		t.AppendRow(r)
	}
	return strings.Split(t.Render(), "\n")
}

// stackedLines shows the first columns side by side. Each other cell has its own lines
// below the row, after the column's heading. Empty cells and zeros have none.
func stackedLines(header []string, rows []Row, beside, screen int) []string {
	const indent = "    "
	first := make([]Row, len(rows))
	for i, r := range rows {
		first[i] = r[:beside]
	}
	heading := 0
	for _, h := range header[beside:] {
		heading = max(heading, text.StringWidthWithoutEscSequences(h))
	}
	var lines []string
	for i, line := range plainLines(header[:beside], first) {
		lines = append(lines, line)
		if i == 0 {
			continue
		}
		for j, v := range rows[i-1][beside:] {
			s := fmt.Sprint(v)
			if s == "" || s == "0" {
				continue
			}
			label := indent + text.Pad(header[beside+j], heading+1, ' ')
			room := max(screen-len(indent)-heading-1, 1)
			for _, part := range strings.Split(text.WrapSoft(s, room), "\n") {
				lines = append(lines, label+part)
				label = indent + strings.Repeat(" ", heading+1)
			}
		}
	}
	return lines
}

// Prose prints text after a label. On a terminal, it wraps the text between words.
func (s *Screen) Prose(label, line string) {
	label, line = Cell(label), Cell(line)
	if screen, ok := Terminal(s.Out.Writer); ok {
		beside := text.StringWidthWithoutEscSequences(label)
		if columns, _ := Size(screen); columns > 2*beside {
			line = strings.ReplaceAll(wrap(line, columns-beside), "\n", "\n"+strings.Repeat(" ", beside))
		}
	}
	for part := range strings.Lines(label + line) {
		s.Println(strings.TrimRight(part, " \n"))
	}
}
