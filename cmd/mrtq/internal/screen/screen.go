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

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/harness/rehearse"
	"mrtq/internal/text"
	"mrtq/migrate"
)

// Screen is where a command prints.
type Screen struct {
	Out *Output

	meter  *meter // writes to stderr
	err    io.Writer
	result result
}

// result is what a command says at its end: its name and its result in a word, the result in
// sentences, and what to do next.
type result struct {
	tone             Tone
	name, word, text string
	next             advice.Next
}

func (r result) line() string { return r.name + ": " + strings.TrimSpace(r.word+" "+r.text) }

// lines are what a screen shows, with the word in its colour if w wants that.
func (s *Screen) lines(r result, w io.Writer) string {
	before := r.name + ": "
	lines := Cell(r.line())
	if r.name == "" {
		before, r.word, lines = "", "mrtq:", text.Printable(r.text)
	}
	shown := s.shape(lines)
	shown = before + paint(w, r.tone, r.word) + shown[len(before+r.word):]
	for _, line := range r.next.Lines() {
		shown += "\n" + s.shape(Cell(line))
	}
	return shown
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
	s := &Screen{Out: &Output{Writer: stdout}, meter: &meter{out: stderr, now: time.Now, width: width, ticks: true}, err: stderr}
	if width != nil {
		s.Out.clear = s.meter.clear
	}
	return s
}

// Silence tells the screen for how long the servers have not answered.
func (s *Screen) Silence(silence func() time.Duration) { s.meter.silence = silence }

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

// Name tells the screen which command runs.
func (s *Screen) Name(command string) {
	s.result.name = strings.ToUpper(command[:1]) + command[1:]
}

// Conclude sets what the command says at its end, in place of what was set before: its result in a
// word and in sentences, and what to do next. That goes to stderr after everything else, so that a
// pipe gets only data. An error with exit code 1 is not printed then, because it says the same.
func (s *Screen) Conclude(t Tone, word, says string, next advice.Next) {
	s.result = result{t, s.result.name, word + ".", Sentence(says), next}
}

// Concluded returns the result in one line; "" if there is none.
func (s *Screen) Concluded() string {
	if s.result.word == "" {
		return ""
	}
	return s.result.line()
}

// PrintResult prints what [Screen.Conclude] has set among the data, without colour, if shown is set,
// and forgets it.
func (s *Screen) PrintResult(shown bool) {
	if shown {
		s.Println(s.lines(s.result, io.Discard) + "\n")
	}
	s.result = result{name: s.result.name}
}

// End prints the command's result, or its error and what to do about it.
func (s *Screen) End(err error, next advice.Next) {
	r := s.result
	if err != nil && (!exit.Is(err, exit.Failed) || r.word == "") {
		r = result{tone: Bad, text: "mrtq: " + err.Error(), next: next}
	}
	if r.text != "" || r.word != "" {
		io.WriteString(s.meter, s.lines(r, s.err)+"\n")
	}
}

var unitOf = map[migrate.Phase]string{
	migrate.PhaseReadingTarget: "jobs",
	migrate.PhaseReadingSource: "records",
	migrate.PhaseSending:       "records",
	migrate.PhaseComparing:     "jobs",
	migrate.PhaseRemoving:      "jobs",
	migrate.PhaseHandingOver:   "records",
	rehearse.PhaseCopying:      "znodes",
	rehearse.PhaseWorking:      "records",
}

// Follow returns what makes the meter follow a call of package migrate, until finish is called.
// See [migrate.WithProgress].
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
