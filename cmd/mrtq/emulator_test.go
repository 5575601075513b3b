package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// emulator is a terminal that knows the escape sequences that mrtq uses. It reports any
// other one.
type emulator struct {
	mu            sync.Mutex
	width, height int
	cells         [][]rune // the visible screen
	kept          [][]rune // the usual screen while the other one is visible
	x, y          int
	other, hidden bool // the other screen is visible; the cursor is hidden
	coloured      bool // a colour was used at some time
	rest          []byte
	wrong         []string
}

func newEmulator(width, height int) *emulator {
	e := &emulator{}
	e.resize(width, height)
	return e
}

func (e *emulator) resize(width, height int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.width, e.height = width, height
	e.cells, e.kept = fitCells(e.cells, width, height), fitCells(e.kept, width, height)
	e.x, e.y = min(e.x, width-1), min(e.y, height-1)
}

func fitCells(old [][]rune, width, height int) [][]rune {
	cells := make([][]rune, height)
	for y := range cells {
		cells[y] = []rune(strings.Repeat(" ", width))
		if y < len(old) {
			copy(cells[y], old[y])
		}
	}
	return cells
}

var (
	sequence = regexp.MustCompile(`^\x1b\[(\??[0-9;]*)([A-Za-z])`)
	started  = regexp.MustCompile(`^\x1b(\[\??[0-9;]*)?$`)
)

// Write receives what mrtq prints to the terminal.
func (e *emulator) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, b...)
	for len(e.rest) > 0 {
		if e.rest[0] == 0x1b {
			if started.Match(e.rest) {
				break // the rest is still to come
			}
			m := sequence.FindSubmatch(e.rest)
			if m == nil {
				e.wrong = append(e.wrong, fmt.Sprintf("%.40q", e.rest))
				e.rest = e.rest[1:]
				continue
			}
			e.do(string(m[1]), string(m[2]))
			e.rest = e.rest[len(m[0]):]
			continue
		}
		n := 1
		for n < len(e.rest) && e.rest[n]&0xc0 == 0x80 {
			n++
		}
		if n == len(e.rest) && e.rest[0] >= 0xc0 && n < 4 && strings.ToValidUTF8(string(e.rest), "") == "" {
			break // half a character
		}
		for _, r := range string(e.rest[:n]) {
			e.put(r)
		}
		e.rest = e.rest[n:]
	}
	return len(b), nil
}

func (e *emulator) do(arg, verb string) {
	switch {
	case verb == "m":
		e.coloured = true
	case verb == "H" && arg == "":
		e.x, e.y = 0, 0
	case verb == "K" && arg == "":
		e.clear(e.y, min(e.x, e.width-1)) // a full line leaves the cursor on its last character
	case verb == "J" && arg == "":
		e.clear(e.y, min(e.x, e.width-1))
		for y := e.y + 1; y < e.height; y++ {
			e.clear(y, 0)
		}
	case verb == "J" && arg == "2":
		for y := range e.height {
			e.clear(y, 0)
		}
	case arg == "?1049" && verb == "h" && !e.other:
		e.other, e.kept = true, e.cells
		e.cells = fitCells(nil, e.width, e.height)
	case arg == "?1049" && verb == "l" && e.other:
		e.other, e.cells = false, e.kept
	case arg == "?25":
		e.hidden = verb == "l"
	default:
		e.wrong = append(e.wrong, strconv.Quote("\x1b["+arg+verb))
	}
}

// clear erases a line from x on. After a full line, the cursor is still on its last
// character, and that is erased, too.
func (e *emulator) clear(y, x int) {
	for x = min(x, e.width-1); x < e.width; x++ {
		e.cells[y][x] = ' '
	}
}

func (e *emulator) put(r rune) {
	switch {
	case r == '\r':
		e.x = 0
	case r == '\n' && e.y < e.height-1:
		e.y++
	case r == '\n':
		if e.other {
			e.wrong = append(e.wrong, "it scrolled")
		}
		e.cells = append(e.cells[1:], []rune(strings.Repeat(" ", e.width)))
	case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e':
		e.wrong = append(e.wrong, strconv.QuoteRune(r))
	case e.x >= e.width:
		if e.other {
			e.wrong = append(e.wrong, "a line is too long")
		}
	default:
		e.cells[e.y][e.x] = r
		e.x++
	}
}

// seen is what is on the screen.
type seen struct {
	text                    string
	other, hidden, coloured bool
	wrong                   []string
}

func (e *emulator) look() seen {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	for _, row := range e.cells {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return seen{strings.TrimRight(strings.Join(lines, "\n"), "\n"), e.other, e.hidden, e.coloured, append([]string(nil), e.wrong...)}
}
