package main

import (
	"fmt"
	"io"
	"os"

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

// progress shows the progress of a long step, on a terminal only. Call the
// function that it returns with the number done and the total; a total of 0
// means unknown.
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
