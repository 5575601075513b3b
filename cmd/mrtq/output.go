package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// printable makes text from the outside safe for a terminal: control
// characters, which could move the cursor or worse, and characters that change
// the direction of writing, are shown as escapes.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cell is printable text for a table: one line.
func cell(s string) string { return strings.ReplaceAll(printable(s), "\n", `\n`) }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// say tells a person something, on stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "%s\n", printable(fmt.Sprintf(format, args...)))
}

// printJSON is the -o json of every command.
func (a *app) printJSON(v any) error { return writeJSON(a.stdout, v) }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
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
	if isTerminal(a.stdout) {
		style = table.StyleLight
		style.Format.Header = text.FormatDefault
		style.Color.Header = text.Colors{text.Bold}
		width, _, err := term.GetSize(int(a.stdout.(*os.File).Fd()))
		if err == nil {
			style.Size.WidthMax = width
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

// progress shows how far a long step is, on a terminal only. The function it
// returns is told how many of how many are done; total 0 is not known.
func (a *app) progress(what string) (show func(done, total int), finish func()) {
	if !isTerminal(a.stderr) {
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

// writeFile writes beside the file and renames into place, so that nobody ever
// sees half of it; packed if its name ends in .gz.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	var w io.Writer = f
	var z *gzip.Writer
	if strings.HasSuffix(path, ".gz") {
		z = gzip.NewWriter(f)
		w = z
	}
	if err = write(w); err != nil {
		return err
	}
	if z != nil {
		if err = z.Close(); err != nil {
			return err
		}
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
