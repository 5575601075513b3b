package screen

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// On a terminal, long lines are wrapped, and each command has a line of its own. In a pipe, a line
// stays one.
func TestShape(t *testing.T) {
	const roll = "mrtq rollback zk1:2181/new --run run0000000000"
	for name, c := range map[string]struct{ line, want string }{
		"short":       {"Next: mrtq migrate --plan p", "Next: mrtq migrate --plan p"},
		"prose":       {"Release: nothing to do: nothing is held there at all", "Release: nothing to do: nothing is held\nthere at all"},
		"an error":    {"mrtq: release: nothing was released, because it differs", "mrtq: release: nothing was released,\nbecause it differs"},
		"command":     {"Verified: the target matches the source. Next: " + roll, "Verified: the target matches the source.\nNext:\n  " + roll},
		"two":         {"If so: mrtq release zk1 --acted-on 2. Otherwise, roll back: " + roll, "If so:\n  mrtq release zk1 --acted-on 2\nOtherwise, roll back:\n  " + roll},
		"quoted":      {`To hold: mrtq hold zk1:2181/new --why 'it isn'\''t so. Now: mrtq'. Then wait`, "To hold:\n  " + `mrtq hold zk1:2181/new --why 'it isn'\''t so. Now: mrtq'` + "\nThen wait"},
		"two lines":   {"one line of text that is too long for it\nNext: x", "one line of text that is too long for it\nNext: x"},
		"no command":  {"give one of: mrtqx is not a command of this program", "give one of: mrtqx is not a command of\nthis program"},
		"a long word": {strings.Repeat("x", 50), strings.Repeat("x", 40) + "\n" + strings.Repeat("x", 10)},
	} {
		onTerminal := &Screen{meter: newMeter(&bytes.Buffer{}, time.Now, func() int { return 40 })}
		if got := onTerminal.shape(c.line); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
		inPipe := &Screen{meter: newMeter(&bytes.Buffer{}, time.Now, nil)}
		if got := inPipe.shape(c.line); got != c.line {
			t.Errorf("%s: in a pipe: %q", name, got)
		}
	}
}
