package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"mrtq/internal/printable"
)

// cell makes text printable, and puts it on one line, as in a cell of a table.
func cell(s string) string { return printable.Line(s) }

// count is a number with its noun: "1 batch", "2 batches".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// output remembers the first error of a writer. If data could not be printed, for example
// because a disk is full, the command fails.
type output struct {
	io.Writer
	err   error
	clear func() // removes the meter's line from the terminal that both outputs share; may be nil
}

func (o *output) Write(b []byte) (int, error) {
	if o.clear != nil {
		o.clear()
	}
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// terminal returns the file that w writes to, if that is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// say prints a line on stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.meter(), cell(fmt.Sprintf(format, args...)))
}
