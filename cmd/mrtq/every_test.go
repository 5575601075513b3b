package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"mrtq/harness/minizk"
)

// status --every goes on when a look fails, because servers restart in the night.
func TestEveryOutlastsAServer(t *testing.T) {
	t.Parallel()
	s := newStage(t, []string{"restore SOURCE --in FILE", "migrate SOURCE TARGET --new-queue --dialect design"})
	out, looks := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(append(strings.Fields(s.words.Replace("status TARGET --every 1s -o json")), "--timeout", "1s"), looks, looks)
		looks.Close()
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	next := func(is func(line string) bool) {
		t.Helper()
		for lines.Scan() {
			if is(lines.Text()) {
				return
			}
		}
		t.Fatalf("it has ended: %v", lines.Err())
	}
	look := func(line string) bool { return json.Valid([]byte(line)) }
	next(look)
	away := s.Inject(minizk.Fault{On: func(minizk.Op) bool { return true }, Do: minizk.CutBefore()})
	next(func(line string) bool { return strings.Contains(line, "the next look is in 1s") })
	away.Remove()
	next(look)
	out.Close()
	<-ended
}
