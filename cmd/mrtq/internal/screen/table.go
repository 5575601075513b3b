package screen

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Row is a row of a table. A cell is a text, a number or a [Toned].
type Row = []any

// Table prints rows below a title, and a blank line: as plain columns in a pipe, and in the
// shape that [fit] chooses on a terminal. Without rows it prints nothing.
func (s *Screen) Table(title string, header []string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	if title != "" {
		s.Println(title)
	}
	for _, line := range s.tableLines(header, rows) {
		s.Println(strings.TrimRight(line, " "))
	}
	s.Println()
}

// MostRows is how many rows of a list [List] shows.
const MostRows = 100

// List prints the first rows of a list as a table. If there are more, the title says so.
func List[T any](s *Screen, title string, items []T, header []string, row func(T) Row) {
	var rows []Row
	for i, x := range items {
		if i == MostRows {
			title += fmt.Sprintf(" (the first %d of %d; -o json has all)", MostRows, len(items))
			break
		}
		rows = append(rows, row(x))
	}
	s.Table(title, header, rows)
}

func (s *Screen) tableLines(header []string, rows []Row) []string {
	rows = printableCells(rows)
	screen, ok := Terminal(s.Out.Writer)
	if !ok {
		return plainLines(header, rows, false)
	}
	widths, words := measure(header, rows)
	colour := Colourful(screen)
	if s.Wide {
		return framedLines(header, rows, widths, colour)
	}
	columns, _, err := term.GetSize(int(screen.Fd()))
	if err != nil || columns <= 0 {
		return framedLines(header, rows, widths, colour)
	}
	return fit(widths, words, columns).lines(header, rows, columns, colour)
}

// printableCells makes each cell's text safe to print, on one line.
func printableCells(rows []Row) []Row {
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = make([]any, len(r))
		for j, v := range r {
			switch s := v.(type) {
			case string:
				v = Cell(s)
			case Toned:
				v = Toned{s.Tone, Cell(s.Text)}
			}
			out[i][j] = v
		}
	}
	return out
}

// Toned is a cell's text with the tone that colours it.
type Toned struct {
	Tone Tone
	Text string
}

// String returns the text.
func (t Toned) String() string { return t.Text }

// longestWord is the length of the longest word that a column does not break. The first
// column, most often a path, breaks no word, because people want to copy it.
const longestWord = 40

// measure returns the width of each column, and the least width that breaks no word.
func measure(header []string, rows []Row) (widths, words []int) {
	widths, words = make([]int, len(header)), make([]int, len(header))
	add := func(column int, s string) {
		widths[column] = max(widths[column], text.StringWidthWithoutEscSequences(s))
		for _, word := range strings.Fields(s) {
			w := text.StringWidthWithoutEscSequences(word)
			if column > 0 {
				w = min(w, longestWord)
			}
			words[column] = max(words[column], w)
		}
	}
	for i, h := range header {
		add(i, h)
		for _, r := range rows {
			add(i, fmt.Sprint(r[i]))
		}
	}
	return widths, words
}

// shape says how a table is shown on a terminal.
type shape struct {
	// beside is the number of columns that are side by side. The others are below each row.
	beside int
	// framed are the widths of the columns of a table in a frame. Longer cells are
	// wrapped. It is nil if there is no frame.
	framed []int
}

// fit decides how a table is shown on a screen of this width, so that nothing is
// cut off. It uses a frame if the table fits. Otherwise it tries, in this order: no
// frame; a frame with the widest columns wrapped between words; as many columns
// side by side as fit, and the others below.
func fit(widths, words []int, screen int) shape {
	const bars = 3 // the bar to the left of each column, and a blank on either side of its text
	bare, total := -1, 1
	wrapped := append([]int{}, widths...)
	for _, w := range widths {
		bare += 1 + w
		total += w + bars
	}
	if total > screen && bare <= screen {
		return shape{beside: len(widths)}
	}
	for ; total > screen; total-- {
		widest := -1
		for i, w := range wrapped {
			if w > words[i] && (widest < 0 || w > wrapped[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		wrapped[widest]--
	}
	if total <= screen {
		return shape{len(widths), wrapped}
	}
	beside, used := 1, widths[0]
	for beside < len(widths)-1 && used+1+widths[beside] <= screen {
		used += 1 + widths[beside]
		beside++
	}
	return shape{beside: beside}
}

func (s shape) lines(header []string, rows []Row, screen int, colour bool) []string {
	switch {
	case s.framed != nil:
		return framedLines(header, rows, s.framed, colour)
	case s.beside == len(header):
		return plainLines(header, rows, colour)
	}
	return stackedLines(header, rows, s.beside, screen, colour)
}

func render(style table.Style, header []string, rows []Row, colour bool, configs []table.ColumnConfig) []string {
	t := table.NewWriter()
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SetColumnConfigs(configs)
	head := make(table.Row, len(header))
	for i, h := range header {
		head[i] = h
		if colour {
			head[i] = text.Bold.Sprint(h)
		}
	}
	t.AppendHeader(head)
	for _, r := range rows {
		row := make(table.Row, len(r))
		for i, v := range r {
			if c, ok := v.(Toned); ok && colour {
				v = toneColours[c.Tone].Sprint(c.Text)
			}
			row[i] = v
		}
		t.AppendRow(row)
	}
	return strings.Split(t.Render(), "\n")
}

func plainLines(header []string, rows []Row, colour bool) []string {
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft = ""
	return render(style, header, rows, colour, nil)
}

func framedLines(header []string, rows []Row, widths []int, colour bool) []string {
	configs := make([]table.ColumnConfig, len(header))
	for i, w := range widths {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: text.WrapSoft}
	}
	return render(table.StyleLight, header, rows, colour, configs)
}

// stackedLines shows the first columns side by side. Each other cell has its own lines
// below the row, after the column's heading. Empty cells have none.
func stackedLines(header []string, rows []Row, beside, screen int, colour bool) []string {
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
	for i, line := range plainLines(header[:beside], first, colour) {
		lines = append(lines, line)
		if i == 0 {
			continue
		}
		for j, v := range rows[i-1][beside:] {
			s := fmt.Sprint(v)
			if s == "" {
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
	if screen, ok := Terminal(s.Out.Writer); ok && !s.Wide {
		beside := text.StringWidthWithoutEscSequences(label)
		if columns, _, err := term.GetSize(int(screen.Fd())); err == nil && columns > 2*beside {
			line = strings.ReplaceAll(text.WrapSoft(line, columns-beside), "\n", "\n"+strings.Repeat(" ", beside))
		}
	}
	for part := range strings.Lines(label + line) {
		s.Println(strings.TrimRight(part, " \n"))
	}
}
