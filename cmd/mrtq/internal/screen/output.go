package screen

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"mrtq/internal/text"
)

// Cell makes text printable, and puts it on one line, as in a cell of a table.
func Cell(s string) string { return text.Line(s) }

// Count returns a number with its noun: "1 batch", "2 batches".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Sentence returns a text that begins with a capital, unless its first word is a name.
func Sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if text == "" || strings.ContainsFunc(first, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Output remembers the first error of a writer. If data could not be printed, for example
// because a disk is full, the command fails.
type Output struct {
	io.Writer
	Err   error
	Wrote bool   // whether anything was written
	clear func() // removes the meter's line from the terminal that both outputs share; may be nil
}

func (o *Output) Write(b []byte) (int, error) {
	if o.clear != nil {
		o.clear()
	}
	n, err := o.Writer.Write(b)
	o.Wrote = true
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Terminal returns the file that w writes to, if that is a terminal.
func Terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Size returns the size of a terminal, or 80 by 24 if it is unknown.
func Size(file *os.File) (width, height int) {
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
