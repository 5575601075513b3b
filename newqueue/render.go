package newqueue

import (
	"fmt"
	"html"
	"io"
	"strings"
	"text/tabwriter"
)

// StatesFormat is a format in which [WriteStates] shows the state machines.
type StatesFormat string

// The formats.
const (
	StatesTable   StatesFormat = "table"
	StatesMermaid StatesFormat = "mermaid"
	StatesSVG     StatesFormat = "svg"
)

// WriteStates writes every transition of a dialect, as the tables have them. The
// error wraps [ErrValue] if the format is unknown. Otherwise it is w's.
func WriteStates(w io.Writer, d Dialect, f StatesFormat) error {
	switch f {
	case StatesTable:
		return writeTable(w, d)
	case StatesMermaid:
		return writeMermaid(w, d)
	case StatesSVG:
		return writeSVG(w, d)
	}
	return fmt.Errorf("format %q: %w: want %s, %s or %s", f, ErrValue, StatesTable, StatesMermaid, StatesSVG)
}

func writeTable(w io.Writer, d Dialect) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for i, e := range Entities {
		if i > 0 {
			fmt.Fprintln(tw)
		}
		header := []string{"id", string(e) + " from → to", "who"}
		if e == EntityJob {
			header = append(header, "last success", "retries", "queue entry", "batch entry")
		}
		fmt.Fprintln(tw, strings.Join(append(header, "nodes", "note"), "\t"))
		for _, t := range Transitions(e, d) {
			row := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
			if e == EntityJob {
				row = append(row, string(t.LastSuccess), string(t.Retry), string(t.QueueEntry), batchEntryText(t))
			}
			fmt.Fprintln(tw, strings.Join(append(row, string(t.Nodes), t.Note), "\t"))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) { // a column without text leaves blanks
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// batchEntryText says what becomes of the batch entry. It leaves out the
// "batch-" that all folders begin with.
func batchEntryText(t Transition) string {
	folder := func(s string) string { return strings.TrimPrefix(string(JobState(s).Folder()), "batch-") }
	switch t.BatchEntry {
	case PlaceNew:
		return folder(t.To) + " created"
	case PlaceMoves:
		return folder(t.From) + " → " + folder(t.To)
	case PlaceGoes:
		return folder(t.From) + " removed"
	}
	return string(t.BatchEntry)
}

// writeMermaid draws one state diagram for each entity.
func writeMermaid(w io.Writer, d Dialect) error {
	var b strings.Builder
	for i, e := range Entities {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "---\ntitle: %s (%s)\n---\nstateDiagram-v2\n", e, d)
		node := func(s string) string {
			if s == Created || s == Removed {
				return "[*]"
			}
			return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
		}
		for _, t := range Transitions(e, d) {
			fmt.Fprintf(&b, "    %s --> %s: %s %s\n", node(t.From), node(t.To), t.ID, t.Who)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Sizes in the SVG, in its user units.
const (
	svgBoxW, svgBoxH = 130, 30
	svgRowH          = 64 // from one state to the next
	svgMargin        = 40
	svgGap           = 30 // between one arc's column and the next
	svgHead          = 50 // for the title
	svgLabelSize     = 11
)

// writeSVG draws each entity as a column of states in the order of its life.
// Steps forward are arcs on the right, steps back are arcs on the left. So no arc
// crosses a box, and the drawing needs no layout engine.
func writeSVG(w io.Writer, d Dialect) error {
	var body strings.Builder
	x, height := 0, 0
	for _, e := range Entities {
		width, h := svgMachine(&body, e, d, x)
		x += width
		height = max(height, h)
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">
<title>States and transitions, dialect %s</title>
<defs><marker id="tip" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10z"/></marker></defs>
<rect width="100%%" height="100%%" fill="white"/>
%s</svg>
`, x, height, d, body.String())
	return err
}

// arc is one transition in the drawing: the rows that it connects, and its lane.
type arc struct {
	t          Transition
	from, to   int
	forward    bool
	lane, span int
}

func svgMachine(b *strings.Builder, e Entity, d Dialect, x int) (width, height int) {
	states := append([]string{Created}, States(e, d)...)
	if strings.Contains(fmt.Sprint(Transitions(e, d)), "→ "+Removed) {
		states = append(states, Removed)
	}
	row := map[string]int{}
	for i, s := range states {
		row[s] = i
	}
	var arcs []arc
	for _, t := range Transitions(e, d) {
		a := arc{t: t, from: row[t.From], to: row[t.To]}
		a.forward = a.to > a.from
		a.span = max(a.from, a.to) - min(a.from, a.to)
		arcs = append(arcs, a)
	}
	left, right := svgLanes(arcs, false), svgLanes(arcs, true)
	boxX := x + svgMargin + left*svgGap
	width = svgMargin*2 + (left+right)*svgGap + svgBoxW
	fmt.Fprintf(b, "<text x=\"%d\" y=\"30\" font-size=\"18\" font-weight=\"bold\">%s</text>\n", boxX, e)
	for i, s := range states {
		y := svgHead + i*svgRowH
		style := `fill="#eef" stroke="#336"`
		if s == Created || s == Removed {
			style = `fill="none" stroke="#999" stroke-dasharray="4"`
		}
		fmt.Fprintf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" %s/>\n", boxX, y, svgBoxW, svgBoxH, style)
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" font-size=\"13\" text-anchor=\"middle\">%s</text>\n", boxX+svgBoxW/2, y+svgBoxH/2+5, html.EscapeString(s))
	}
	for _, a := range arcs {
		svgArc(b, a, boxX)
	}
	return width, svgHead + len(states)*svgRowH + svgMargin
}

// svgLanes gives each arc of one side the innermost lane in which it crosses no
// other arc, shortest arcs first. It returns the number of lanes.
func svgLanes(arcs []arc, forward bool) int {
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

func svgArc(b *strings.Builder, a arc, boxX int) {
	side, edge := 1, boxX+svgBoxW
	if !a.forward {
		side, edge = -1, boxX
	}
	// Arrows leave a little below the middle of a box and arrive a little
	// above it, so that a state's ways out and in don't touch.
	from := svgHead + a.from*svgRowH + svgBoxH*2/3
	to := svgHead + a.to*svgRowH + svgBoxH/3
	out := edge + side*(a.lane+1)*svgGap
	dash := ""
	if !a.t.Who.holdsLock() {
		dash = ` stroke-dasharray="5 3"` // as the documents draw an administrator's step
	}
	fmt.Fprintf(b, "<path d=\"M%d %d H%d V%d H%d\" fill=\"none\" stroke=\"#555\"%s marker-end=\"url(#tip)\"><title>%s, %s</title></path>\n",
		edge, from, out, to, edge, dash, html.EscapeString(a.t.String()), a.t.Who)
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"middle\" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">%s</text>\n",
		out, (from+to)/2, svgLabelSize, a.t.ID)
}
