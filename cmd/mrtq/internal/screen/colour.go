package screen

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Tone says how good or bad the news of a line is. Its colour adds nothing that the words
// do not say.
type Tone int

// The tones.
const (
	Plain     Tone = iota
	Good           // done, and nothing is left to decide
	Attention      // done or ready, but look at this first
	Bad            // not done, or damaged
)

var toneColours = map[Tone]text.Color{Good: text.FgGreen, Attention: text.FgYellow, Bad: text.FgRed}

// colourful reports whether w is a terminal that wants colour
// (https://no-color.org).
func colourful(w io.Writer) bool {
	_, tty := Terminal(w)
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func paint(w io.Writer, t Tone, s string) string {
	colour, ok := toneColours[t]
	if !ok || !colourful(w) {
		return s
	}
	return colour.Sprint(s)
}
