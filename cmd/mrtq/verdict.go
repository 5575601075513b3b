package main

import (
	"fmt"

	"mrtq/internal/printable"
)

// verdict is a command's last line: what came of it, and what to do next.
type verdict struct {
	tone tone
	text string
}

// conclude says what came of the command. It is printed after everything else,
// on stderr, so that a pipe gets data alone; the last call counts. An error that
// the command returns with exit code 1 says the same for scripts, and is not
// printed besides.
func (a *app) conclude(t tone, format string, args ...any) {
	a.verdict = verdict{t, fmt.Sprintf(format, args...)}
}

// lastLine is what a command ends with: its verdict, or the error that it
// returned instead.
func (a *app) lastLine(err error, code int) string {
	v := a.verdict
	if err != nil && (code != exitCheck || v.text == "") {
		v = verdict{bad, "mrtq: " + err.Error()}
	}
	if v.text == "" {
		return ""
	}
	return paint(a.stderr, v.tone, printable.Text(v.text)) + "\n"
}
