package statedraw

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func machine() Machine {
	return Machine{Name: "job", States: []State{{Name: "create", Bound: true}, {Name: "pending", Counted: true, Count: 12}, {Name: "<held>", Counted: true}},
		Steps: []Step{
			{ID: "J1", From: "create", To: "pending", Who: "API", Free: true, Mark: Proved},
			{ID: "J2", From: "pending", To: "<held>", Who: "worker", Mark: Failed},
			{ID: "J3", From: "<held>", To: "pending", Who: `an "admin"`, Mark: Unproved},
		}}
}

// wellFormed reads an SVG to its end and counts elements by name and class.
func wellFormed(t *testing.T, svg string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return counts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			class := ""
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					class = a.Value
				}
			}
			counts[e.Name.Local+"."+class]++
		}
	}
}

func TestFigure(t *testing.T) {
	svg := Figure(machine(), `States of a "job"`)
	counts := wellFormed(t, svg)
	for element, want := range map[string]int{
		"rect.box bound": 1, "rect.box full": 1, "rect.box": 1, "text.count": 2,
		"path.line free proved": 1, "path.line failed": 1, "path.line unproved": 1,
	} {
		if counts[element] != want {
			t.Errorf("%d of %s, want %d", counts[element], element, want)
		}
	}
	for _, text := range []string{">J1 ✓<", ">J2 ✗<", ">J3 ?<", ">12<", "&lt;held&gt;", `aria-label="States of a &#34;job&#34;"`, "J2 pending → &lt;held&gt;, worker, failed", "url(#tipfailed-job)"} {
		if !strings.Contains(svg, text) {
			t.Errorf("no %s in\n%s", text, svg)
		}
	}
}

func TestDocument(t *testing.T) {
	m := machine()
	for i := range m.Steps {
		m.Steps[i].Mark = Unmarked
	}
	counts := wellFormed(t, Document("two", m, m))
	for element, want := range map[string]int{"path.line": 4, "path.line free": 2, "text.name": 2, "style.": 1, "title.": 1 + 6} {
		if counts[element] != want {
			t.Errorf("%d of %s, want %d", counts[element], element, want)
		}
	}
}
