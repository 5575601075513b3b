package text

import (
	"io"
	"unicode/utf8"
)

// NewWriter returns a writer that makes what another program prints printable, as [Printable] does, and passes it on to w. Its
// errors are those of w. One goroutine may use it at a time.
func NewWriter(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end has not come yet
}

func (w *writer) Write(b []byte) (int, error) {
	all := append(w.rest, b...)
	end := len(all)
	for i := 1; i < utf8.UTFMax && i <= len(all); i++ {
		if last := all[len(all)-i:]; utf8.RuneStart(last[0]) && !utf8.FullRune(last) {
			end = len(all) - i
		}
	}
	w.rest = append([]byte(nil), all[end:]...)
	if _, err := io.WriteString(w.w, Printable(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}
