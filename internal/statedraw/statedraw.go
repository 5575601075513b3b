// Package statedraw draws state machines as SVG. The states of a machine are a
// column, in the order of an entity's life. Steps forward are lines on the
// right, and steps back are lines on the left. So no line crosses a box, and the
// drawing needs no layout engine.
//
// An element's class says what it means. The colours come from the style sheet
// of [Document], or of the page that contains the drawing.
package statedraw

import (
	"fmt"
	"html"
	"strings"
)

// Machine is a state machine.
type Machine struct {
	Name   string
	States []State // in the order of an entity's life
	Steps  []Step
}

// State is one box.
type State struct {
	Name string
	// Bound: the state before the entity exists, or after it is gone.
	Bound bool
	// Count is how many entities are in the state. It is shown if Counted is
	// set.
	Count   int
	Counted bool
}

// Step is one line between two boxes.
type Step struct {
	ID, From, To, Who string
	// Free: the step needs no lock on the entity. An administrator's steps need
	// none.
	Free bool
	Mark Mark
}

// Mark says what a proof has shown about a step.
type Mark string

// The marks.
const (
	Unmarked Mark = ""
	Proved   Mark = "proved"
	Failed   Mark = "failed"
	Unproved Mark = "unproved"
)

// signs show a mark to readers who can't see colours.
var signs = map[Mark]string{Proved: " ✓", Failed: " ✗", Unproved: " ?"}

// Measures, in the drawing's units.
const (
	boxW, boxH = 150, 32
	rowH       = 58 // from one state to the next
	margin     = 28
	gap        = 30 // between one lane and the next
	head       = 44 // for the name
	corner     = 6
)

// Document draws several machines side by side, as a complete SVG file.
func Document(title string, machines ...Machine) string {
	var body strings.Builder
	x, height := 0, 0
	for _, m := range machines {
		d := lay(m)
		fmt.Fprintf(&body, "<text class=\"name\" x=\"%d\" y=\"30\">%s</text>\n", x+d.boxX, html.EscapeString(m.Name))
		d.draw(&body, x, head)
		x += d.width
		height = max(height, d.height)
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"states\" viewBox=\"0 0 %d %d\">\n<title>%s</title>\n<style>\n%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n%s%s</svg>\n",
		x, height+head, html.EscapeString(title), style, tip(""), body.String())
}

// Figure draws one machine for a page that has the style sheet. The machine's
// name must be unique in the page. The label describes the drawing to readers
// who can't see it.
func Figure(m Machine, label string) string {
	d := lay(m)
	var b strings.Builder
	name := html.EscapeString(m.Name)
	fmt.Fprintf(&b, "<svg class=\"states\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n%s", html.EscapeString(label), d.width, d.height, d.width, d.height, tip("-"+name))
	d.tip = "-" + name
	d.draw(&b, 0, 0)
	b.WriteString("</svg>")
	return b.String()
}

// tip defines the arrowheads. There is one for each mark, because an arrowhead
// has the colour of its line.
func tip(suffix string) string {
	var b strings.Builder
	b.WriteString("<defs>")
	for _, m := range []Mark{Unmarked, Proved, Failed, Unproved} {
		fmt.Fprintf(&b, `<marker id="tip%s%s" class="tip %s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z"/></marker>`, m, suffix, m)
	}
	b.WriteString("</defs>\n")
	return b.String()
}

const style = `.states { font-family: sans-serif; }
.paper { fill: white; }
.name { font-size: 18px; font-weight: bold; }
.box { fill: #eef; stroke: #336; }
.bound { fill: none; stroke: #767676; stroke-dasharray: 4; }
.state { font-size: 13px; }
.line { fill: none; stroke: #555; }
.free { stroke-dasharray: 5 3; }
.tip { fill: #555; }
.id { font-size: 11px; text-anchor: middle; stroke: white; stroke-width: 3; paint-order: stroke; }
`

// drawing is a machine with the positions of its states.
type drawing struct {
	Machine
	rows          map[string]int
	arcs          []arc
	boxX          int
	width, height int
	tip           string
}

// arc is one step in the drawing: the rows that it joins, and its lane.
type arc struct {
	Step
	from, to   int
	forward    bool
	lane, span int
}

func lay(m Machine) *drawing {
	d := &drawing{Machine: m, rows: map[string]int{}}
	for i, s := range m.States {
		d.rows[s.Name] = i
	}
	for _, s := range m.Steps {
		a := arc{Step: s, from: d.rows[s.From], to: d.rows[s.To]}
		a.forward = a.to > a.from
		a.span = max(a.from, a.to) - min(a.from, a.to)
		d.arcs = append(d.arcs, a)
	}
	left, right := lanes(d.arcs, false), lanes(d.arcs, true)
	d.boxX = margin + left*gap
	d.width = margin*2 + (left+right)*gap + boxW
	d.height = len(m.States)*rowH - (rowH - boxH) + 4
	return d
}

// lanes gives each arc of one side a lane, the shortest arcs first: the
// innermost lane in which it touches no other arc. It returns the number of
// lanes.
func lanes(arcs []arc, forward bool) int {
	type stretch struct{ top, bottom int }
	var lanes [][]stretch
	for span := 1; span <= len(arcs)+1; span++ {
		for i := range arcs {
			a := &arcs[i]
			if a.forward != forward || a.span != span {
				continue
			}
			s := stretch{min(a.from, a.to), max(a.from, a.to)}
			for a.lane = 0; a.lane < len(lanes); a.lane++ {
				free := true
				for _, o := range lanes[a.lane] {
					free = free && (s.bottom <= o.top || o.bottom <= s.top)
				}
				if free {
					break
				}
			}
			if a.lane == len(lanes) {
				lanes = append(lanes, nil)
			}
			lanes[a.lane] = append(lanes[a.lane], s)
		}
	}
	return len(lanes)
}

func (d *drawing) draw(b *strings.Builder, x, y int) {
	for _, a := range d.arcs {
		d.line(b, a, x, y)
	}
	for i, s := range d.States {
		d.box(b, s, x+d.boxX, y+2+i*rowH)
	}
	for _, a := range d.arcs { // on top of the lines
		out, at := d.lane(a, x), y+2+(a.from+a.to)*rowH/2+boxH/2
		fmt.Fprintf(b, "<text class=\"id %s\" x=\"%d\" y=\"%d\">%s%s</text>\n", a.Mark, out, at+4, html.EscapeString(a.ID), signs[a.Mark])
	}
}

func (d *drawing) box(b *strings.Builder, s State, x, y int) {
	class := "box"
	switch {
	case s.Bound:
		class = "box bound"
	case s.Counted && s.Count > 0:
		class = "box full"
	}
	fmt.Fprintf(b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", class, x, y, boxW, boxH)
	if !s.Counted {
		fmt.Fprintf(b, "<text class=\"state\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x+boxW/2, y+boxH/2+5, html.EscapeString(s.Name))
		return
	}
	fmt.Fprintf(b, "<text class=\"state\" x=\"%d\" y=\"%d\">%s</text>\n", x+10, y+boxH/2+5, html.EscapeString(s.Name))
	fmt.Fprintf(b, "<text class=\"count\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%d</text>\n", x+boxW-10, y+boxH/2+5, s.Count)
}

// lane is the horizontal position of an arc's line.
func (d *drawing) lane(a arc, x int) int {
	if a.forward {
		return x + d.boxX + boxW + (a.lane+1)*gap
	}
	return x + d.boxX - (a.lane+1)*gap
}

func (d *drawing) line(b *strings.Builder, a arc, x, y int) {
	side, edge := 1, x+d.boxX+boxW
	if !a.forward {
		side, edge = -1, x+d.boxX
	}
	// An arrow leaves a box a little below its middle and enters a box a little
	// above its middle, so that the arrows of a state don't touch.
	from := y + 2 + a.from*rowH + boxH*2/3
	to := y + 2 + a.to*rowH + boxH/3
	out := d.lane(a, x)
	down := 1
	if to < from {
		down = -1
	}
	class := "line"
	if a.Free {
		class += " free" // dashed, as in the documents' own drawings
	}
	if a.Mark != Unmarked {
		class += " " + string(a.Mark)
	}
	what := fmt.Sprintf("%s %s → %s, %s", a.ID, a.From, a.To, a.Who)
	if a.Mark != Unmarked {
		what += ", " + string(a.Mark)
	}
	fmt.Fprintf(b, "<path class=\"%s\" d=\"M%d %d H%d q%d 0 %d %d V%d q0 %d %d %d H%d\" marker-end=\"url(#tip%s%s)\"><title>%s</title></path>\n",
		class, edge, from, out-side*corner, side*corner, side*corner, down*corner, to-down*corner, down*corner, -side*corner, down*corner, edge, a.Mark, d.tip, html.EscapeString(what))
}
