package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"mrtq/internal/printable"
)

// cell is printable text for a table: one line.
func cell(s string) string { return printable.Line(s) }

// count is a number of things: "1 batch", "2 batches".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// output remembers the first error of a writer: data that is lost, on a full
// disk behind a redirection, must not pass for data that was printed.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// terminal is the file that w writes to, if that is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// say tells a person something, on a line of stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stderr, cell(fmt.Sprintf(format, args...)))
}

// table prints rows under a title: framed on a terminal, plain columns in a
// pipe.
func (a *app) table(title string, header []string, rows [][]any) {
	if len(rows) == 0 {
		return
	}
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft = ""
	style.Format.Header = text.FormatDefault
	if tty, ok := terminal(a.stdout.Writer); ok {
		style = table.StyleLight
		style.Format.Header = text.FormatDefault
		style.Color.Header = text.Colors{text.Bold}
		if width, _, err := term.GetSize(int(tty.Fd())); err == nil && width > 0 {
			style.Size.WidthMax = width
			t.SetColumnConfigs(columns(header, rows, width))
		}
	}
	t.SetStyle(style)
	head := make(table.Row, len(header))
	for i, h := range header {
		head[i] = h
	}
	t.AppendHeader(head)
	for _, r := range rows {
		row := make(table.Row, len(r))
		for i, v := range r {
			if s, ok := v.(string); ok {
				v = cell(s)
			}
			row[i] = v
		}
		t.AppendRow(row)
	}
	if title != "" {
		fmt.Fprintf(a.stdout, "%s\n", title)
	}
	for _, line := range strings.Split(t.Render(), "\n") {
		fmt.Fprintln(a.stdout, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(a.stdout)
}

// columns are the widths of a framed table's columns, the widest made narrower
// until the table fits. What is longer is wrapped, between words as long as that
// is enough, so that paths stay whole.
func columns(header []string, rows [][]any, width int) []table.ColumnConfig {
	const longestWord, narrow = 40, 12
	widths, least := make([]int, len(header)), make([]int, len(header))
	total := 1
	for i, h := range header {
		column := []string{h}
		for _, r := range rows {
			column = append(column, cell(fmt.Sprint(r[i])))
		}
		for _, s := range column {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(s))
			for _, word := range strings.Fields(s) {
				least[i] = max(least[i], min(longestWord, text.StringWidthWithoutEscSequences(word)))
			}
		}
		total += widths[i] + len(" ") + len(" |")
	}
	for _, floor := range []func(i int) int{func(i int) int { return least[i] }, func(int) int { return narrow }} {
		for ; total > width; total-- {
			widest := -1
			for i := range widths {
				if widths[i] > floor(i) && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
	configs := make([]table.ColumnConfig, len(header))
	for i, w := range widths {
		configs[i] = table.ColumnConfig{Number: i + 1, WidthMax: w, WidthMaxEnforcer: text.WrapSoft}
	}
	return configs
}

// progress shows how far a long step is, on a terminal only. The function it
// returns is told how many of how many are done; total 0 is not known.
func (a *app) progress(what string) (show func(done, total int), finish func()) {
	if _, ok := terminal(a.stderr); !ok {
		return func(int, int) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	show = func(done, total int) {
		if bar == nil {
			size := total
			if total == 0 {
				size = -1
			}
			bar = progressbar.NewOptions(size, progressbar.OptionSetWriter(a.stderr), progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100e6), progressbar.OptionClearOnFinish())
		}
		if total > 0 {
			bar.ChangeMax(total)
		}
		_ = bar.Set(done) // a bar that can't be drawn is no reason to stop
	}
	return show, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
