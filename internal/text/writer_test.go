package text_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"mrtq/internal/text"
)

// TestWriter: however what a program prints is cut into pieces, it arrives whole and printable.
func TestWriter(t *testing.T) {
	const in, want = "red \x1b[31m\r\n\tat Grüße 日本 𝄞\u202e\xff\xe6\x97x\n", "red \\u001b[31m\\u000d\n\tat Grüße 日本 𝄞\\u202e\ufffd\ufffd\ufffdx\n"
	for size := 1; size <= len(in); size++ {
		var out strings.Builder
		w := text.NewWriter(&out)
		for rest := in; rest != ""; {
			piece := rest[:min(size, len(rest))]
			if n, err := io.WriteString(w, piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			rest = rest[len(piece):]
		}
		if out.String() != want {
			t.Errorf("in pieces of %d:\ngot  %q\nwant %q", size, out.String(), want)
		}
	}
}

type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriterError(t *testing.T) {
	if _, err := io.WriteString(text.NewWriter(full{}), "x"); err != errFull {
		t.Errorf("got %v, want %v", err, errFull)
	}
}
