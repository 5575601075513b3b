package watching

import (
	"io"
	"os"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate/live"
)

// printer prints views one below the other, to a pipe or a file.
type printer struct {
	out   *screen.Output
	json  bool
	shown bool
}

// pipeWidth is the width of a view if there is no terminal.
const pipeWidth = 120

func (p *printer) show(v live.View) error {
	if p.json {
		return screen.WriteJSONLine(p.out, v)
	}
	if p.shown {
		io.WriteString(p.out, "\n")
	}
	p.shown = true
	width, draw := pipeWidth, line.plain
	if file, ok := screen.Terminal(p.out.Writer); ok { // with --once
		width, _ = screen.Size(file)
		draw = line.draw
	}
	for _, l := range watchLines(v, width) {
		io.WriteString(p.out, draw(l, width)+"\n")
	}
	return p.out.Err
}

func (p *printer) redraw(live.View) error { return p.out.Err }

// The escape sequences that a screen needs. All terminals have them.
const (
	clearScreen = "\x1b[2J"
	goHome      = "\x1b[H"
	clearLine   = "\x1b[K" // from the cursor on
	clearRest   = "\x1b[J"
)

// full shows one view on a terminal, over the last one. The last view stays when watch ends.
type full struct {
	out           *screen.Output
	file          *os.File
	width, height int // as last drawn
}

// screenFile returns the terminal that w writes to, if it can show a screen.
func screenFile(w io.Writer) (*os.File, bool) {
	file, ok := screen.Terminal(w)
	name := os.Getenv("TERM")
	return file, ok && name != "" && name != "dumb"
}

func (s *full) show(v live.View) error { return s.redraw(v) }

// redraw draws the view in one write, over the last one.
func (s *full) redraw(v live.View) error {
	var b strings.Builder
	if width, height := screen.Size(s.file); width != s.width || height != s.height {
		b.WriteString(clearScreen)
		s.width, s.height = width, height
	}
	b.WriteString(goHome)
	lines := clipped(watchLines(v, s.width), s.height)
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
	return s.out.Err
}
