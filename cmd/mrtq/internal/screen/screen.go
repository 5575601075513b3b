// Package screen prints what mrtq has to say: data to stdout, everything else to stderr. On
// a terminal, tables fit the width, colour shows good and bad news, and one line shows how
// far the command is. In a pipe there is none of that. Whatever is printed is safe for a
// terminal, even if other clients wrote it.
//
//	screen.go  the two outputs, and the last line
//	shape.go   lines that fit the terminal, and commands that can be pasted
//	table.go   tables that fit the terminal
//	meter.go   how far the command is
//	json.go    JSON that is safe on a terminal
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/internal/text"
	"mrtq/migrate"
)

// Screen is where a command prints.
type Screen struct {
	Out *Output

	meter   *meter // writes to stderr
	err     io.Writer
	verdict verdict
}

// verdict is a command's last line: its result, and what to do next.
type verdict struct {
	tone Tone
	text string
}

// New returns a screen that prints to these.
func New(stdout, stderr io.Writer) *Screen {
	var width func() int
	if file, ok := Terminal(stderr); ok && os.Getenv("TERM") != "dumb" {
		width = func() int {
			columns, _ := Size(file)
			return columns
		}
	}
	s := &Screen{Out: &Output{Writer: stdout}, meter: newMeter(stderr, time.Now, width), err: stderr}
	s.meter.ticks = true
	if width != nil {
		s.Out.clear = s.meter.clear
	}
	return s
}

// Silence tells the screen for how long the servers have not answered.
func (s *Screen) Silence(silence func() time.Duration) { s.meter.silence = silence }

// ToErr returns the screen of a command that gives stdout to another program: its data goes
// to stderr.
func (s *Screen) ToErr() *Screen {
	other := *s
	other.Out = &Output{Writer: s.err}
	return &other
}

// Log is for the program's log: stderr, beside the meter.
func (s *Screen) Log() io.Writer { return s.meter }

// Say prints a line on stderr.
func (s *Screen) Say(format string, args ...any) {
	fmt.Fprintln(s.meter, s.shape(Cell(fmt.Sprintf(format, args...))))
}

// Ask prints a question on stderr. The answer is typed after it. Progress is not shown again
// before it is made.
func (s *Screen) Ask(format string, args ...any) {
	s.meter.ask(s.shape(Cell(fmt.Sprintf(format, args...))))
}

// Println prints a line of data.
func (s *Screen) Println(args ...any) { fmt.Fprintln(s.Out, args...) }

// Printf prints data. Texts of other clients need [Cell].
func (s *Screen) Printf(format string, args ...any) { fmt.Fprintf(s.Out, format, args...) }

// Redraw begins a look that replaces the one before: on a terminal at the top of the screen, else below a line with the time.
func (s *Screen) Redraw(now time.Time) {
	if _, ok := Terminal(s.Out.Writer); ok {
		io.WriteString(s.Out, "\x1b[H\x1b[2J") // the cursor goes home, and the screen is cleared
		return
	}
	s.Printf("%s\n\n", now.UTC().Format(time.RFC3339))
}

// Conclude sets the command's last line, in place of an earlier one: its result, and what
// to do next. The last line goes to stderr after everything else, so that a pipe gets only
// data. An error with exit code 1 is not printed then, because it says the same.
func (s *Screen) Conclude(t Tone, format string, args ...any) {
	s.verdict = verdict{t, strings.TrimSpace(fmt.Sprintf(format, args...))}
}

// Concluded returns the text of the last line; "" if there is none.
func (s *Screen) Concluded() string { return s.verdict.text }

// End prints the last line: the command's result, or its error.
func (s *Screen) End(err error) {
	v, safe := s.verdict, text.Line // it may quote what other clients wrote
	if err != nil && (!exit.Is(err, exit.Failed) || v.text == "") {
		v, safe = verdict{Bad, "mrtq: " + err.Error()}, text.Printable
	}
	if v.text != "" {
		io.WriteString(s.meter, paint(s.err, v.tone, s.shape(safe(v.text)))+"\n")
	}
}

// unitOf says what each phase counts.
var unitOf = map[migrate.Phase]string{
	migrate.ReadingTarget: "jobs",
	migrate.ReadingSource: "records",
	migrate.Sending:       "records",
	migrate.Comparing:     "jobs",
	migrate.Removing:      "jobs",
	migrate.HandingOver:   "records",
}

// Follow returns what makes the meter follow a call of package migrate, until finish is called.
// See [migrate.WithPhases].
func (s *Screen) Follow(what string) (follow func(p migrate.Phase, done, total int), finish func()) {
	step := s.meter.begin(what, "")
	return func(p migrate.Phase, done, total int) {
		s.meter.follow(step, string(p), unitOf[p], done, total)
	}, func() { s.meter.end(step) }
}

// Progress shows how far a step is. Call the function that it returns with the number done
// and the total; a total of 0 means unknown.
func (s *Screen) Progress(what, unit string) (show func(done, total int), finish func()) {
	step := s.meter.begin(what, unit)
	return func(done, total int) { s.meter.follow(step, what, unit, done, total) }, func() { s.meter.end(step) }
}
