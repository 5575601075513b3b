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

// conclude sets the command's verdict, in place of an earlier one. It is printed after
// everything else, on stderr, so that a pipe gets only data. If there is a verdict, an
// error with exit code 1 is not printed, because it says the same.
func (a *app) conclude(t tone, format string, args ...any) {
	a.verdict = verdict{t, fmt.Sprintf(format, args...)}
}

// lastLine is the last line that a command prints: its verdict or its error.
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
