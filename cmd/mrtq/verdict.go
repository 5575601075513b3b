package main

import (
	"fmt"

	"mrtq/internal/printable"
)

// verdict is a command's last line: its result, and what to do next.
type verdict struct {
	tone tone
	text string
}

// conclude sets the command's verdict. It is printed after everything else, on
// stderr, so that a pipe gets only data. The last call counts. An error with exit
// code 1 says the same for scripts, and is not printed if there is a verdict.
func (a *app) conclude(t tone, format string, args ...any) {
	a.verdict = verdict{t, fmt.Sprintf(format, args...)}
}

// lastLine is the last line of a command: its verdict, or the error that it
// returned.
func (a *app) lastLine(err error, code int) string {
	v, safe := a.verdict, printable.Line // it may quote what other clients wrote
	if err != nil && (code != exitCheck || v.text == "") {
		v, safe = verdict{bad, "mrtq: " + err.Error()}, printable.Text
	}
	if v.text == "" {
		return ""
	}
	return paint(a.stderr, v.tone, safe(v.text)) + "\n"
}
