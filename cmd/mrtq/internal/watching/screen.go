package watching

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"mrtq/migrate/live"
)

// printer prints views one below the other, to a pipe or a file.
type printer struct {
	a     *app
	json  bool
	shown bool
}

func (c *watchCmd) printer(a *app) *printer { return &printer{a: a, json: c.output == "ndjson"} }

// pipeWidth is the width of a view if there is no terminal.
const pipeWidth = 120

func (p *printer) show(v live.View) error {
	if p.json {
		return encodeJSON(p.a.stdout, v, "")
	}
	if p.shown {
		fmt.Fprintln(p.a.stdout)
	}
	p.shown = true
	width, draw := pipeWidth, line.plain
	if file, ok := terminal(p.a.stdout.Writer); ok { // with --once
		width, _ = size(file)
		draw = line.draw
	}
	for _, l := range watchLines(v, width) {
		fmt.Fprintln(p.a.stdout, draw(l, width))
	}
	return p.a.stdout.err
}

func (p *printer) redraw(live.View) error    { return p.a.stdout.err }
func (p *printer) signals() <-chan os.Signal { return nil }
func (p *printer) handle(os.Signal)          {}
func (p *printer) leave()                    {}

// The escape sequences that a screen needs. All terminals have them.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // another screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	clearScreen = "\x1b[2J"
	goHome      = "\x1b[H"
	clearLine   = "\x1b[K" // from the cursor on
	clearRest   = "\x1b[J"
)

// screen shows one view on a terminal, over the last one. At the end it restores what the
// terminal showed before.
type screen struct {
	out           *output
	file          *os.File
	events        chan os.Signal
	width, height int // as last drawn
	entered       bool
}

// screenFile returns the terminal that w writes to, if it can show a screen.
func screenFile(w io.Writer) (*os.File, bool) {
	file, ok := terminal(w)
	name := os.Getenv("TERM")
	return file, ok && name != "" && name != "dumb"
}

func newScreen(out *output, file *os.File) *screen {
	s := &screen{out: out, file: file, events: make(chan os.Signal, 1)}
	notifyScreen(s.events)
	return s
}

func (s *screen) enter() {
	if !s.entered {
		io.WriteString(s.out, enterScreen)
		s.entered, s.width = true, 0
	}
}

func (s *screen) leave() {
	if s.entered {
		io.WriteString(s.out, leaveScreen)
		s.entered = false
	}
}

func (s *screen) show(v live.View) error { return s.redraw(v) }

// redraw draws the view in one write, over the last one.
func (s *screen) redraw(v live.View) error {
	s.enter()
	var b strings.Builder
	if width, height := size(s.file); width != s.width || height != s.height {
		b.WriteString(clearScreen)
		s.width, s.height = width, height
	}
	b.WriteString(goHome)
	lines := watchScreen(v, s.width, s.height)
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		// Behind a line of full width, this would erase its last character.
		if i == len(lines)-1 {
			b.WriteString(clearRest)
		} else {
			b.WriteString(clearLine)
		}
		b.WriteString(l.draw(s.width))
	}
	io.WriteString(s.out, b.String())
	return s.out.err
}

func (s *screen) signals() <-chan os.Signal { return s.events }

func (s *screen) handle(signal os.Signal) {
	if suspends(signal) {
		s.leave()
		suspend()
	}
}

// size is the size of a terminal, or 80 by 24 if it is unknown.
func size(file *os.File) (width, height int) {
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}
