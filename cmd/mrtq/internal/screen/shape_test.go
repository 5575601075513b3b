package screen

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// On a terminal, long lines are wrapped, but commands are not. In a pipe, a line stays one.
func TestShape(t *testing.T) {
	const roll = "mrtq rollback zk1:2181/new"
	for name, c := range map[string]struct{ line, want string }{
		"short":       {"Next: mrtq migrate --plan p", "Next: mrtq migrate --plan p"},
		"prose":       {"Release: nothing to do: nothing is held there at all", "Release: nothing to do: nothing is held\nthere at all"},
		"command":     {"  " + roll, "  " + roll},
		"two lines":   {"Verify: passed. The target matches the source.\nNext:\n    " + roll, "Verify: passed. The target matches the\nsource.\nNext:\n    " + roll},
		"a long word": {strings.Repeat("x", 50), strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 10)},
	} {
		onTerminal := &Screen{meter: &meter{out: &bytes.Buffer{}, now: time.Now, width: func() int { return 40 }}}
		if got := onTerminal.shape(c.line); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
		inPipe := &Screen{meter: &meter{out: &bytes.Buffer{}, now: time.Now}}
		if got := inPipe.shape(c.line); got != c.line {
			t.Errorf("%s: in a pipe: %q", name, got)
		}
	}
}
