package main

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"
)

// tone says how good or bad the news of a line is. Its colour adds nothing that the words
// do not say.
type tone int

// The tones.
const (
	plain     tone = iota
	good           // done, and nothing is left to decide
	attention      // done or ready, but look at this first
	bad            // not done, or damaged
)

var toneColours = map[tone]text.Color{good: text.FgGreen, attention: text.FgYellow, bad: text.FgRed}

// colourful reports whether w is a terminal that wants colour
// (https://no-color.org).
func colourful(w io.Writer) bool {
	_, tty := terminal(w)
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint colours text that goes to w, if w wants colour.
func paint(w io.Writer, t tone, s string) string {
	colour, ok := toneColours[t]
	if !ok || !colourful(w) {
		return s
	}
	return colour.Sprint(s)
}
