package screen

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// meterAt is a meter that ticks only if the test says so, on the test's clock.
func meterAt(width func() int) (m *meter, screen *bytes.Buffer, after func(time.Duration)) {
	now := time.Date(2026, 11, 22, 2, 0, 0, 0, time.UTC)
	screen = &bytes.Buffer{}
	m = &meter{out: screen, now: func() time.Time { return now }, width: width}
	return m, screen, func(d time.Duration) { now = now.Add(d) }
}

// In a pipe, the meter prints a line every ten seconds, for one step or several.
func TestMeterInPipe(t *testing.T) {
	m, out, after := meterAt(nil)
	whole := m.begin("looking at both sides", "")
	said := func(want string) {
		t.Helper()
		m.tick()
		if got := out.String(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		out.Reset()
	}
	after(9 * time.Second)
	said("")
	after(time.Second)
	said("looking at both sides: 10 s\n")
	m.follow(whole, "reading the source", "records", 0, 50000)
	after(4 * time.Second)
	m.follow(whole, "reading the source", "records", 8000, 50000)
	said("")
	after(6 * time.Second)
	m.follow(whole, "reading the source", "records", 20000, 50000)
	said("reading the source: 20000 of 50000 records, 2000/s, about 15 s left\n")
	after(10 * time.Second)
	m.follow(whole, "reading the source", "records", 21000, 50000)
	said("reading the source: 21000 of 50000 records, 1050/s, about 28 s left\n")
	silent := 2 * time.Second
	m.silence = func() time.Duration { return silent }
	after(10 * time.Second)
	said("reading the source: 21000 of 50000 records, 700/s, about 41 s left\n")
	silent = 12 * time.Second
	after(10 * time.Second)
	said("reading the source: 21000 of 50000 records, no answer from the server for 12 s\n")
	silent = 0
	m.follow(whole, "reading the source", "records", 50000, 50000)
	after(10 * time.Second)
	said("reading the source: 50000 of 50000 records, 1000/s\n")
	m.follow(whole, "planning", "", 0, 0)
	after(3 * time.Second)
	said("")
	inner := m.begin("reading the dump", "znodes")
	m.follow(inner, "reading the dump", "znodes", 700, 0)
	after(7 * time.Second)
	said("reading the dump: 700 znodes, 100/s\n")
	m.end(inner)
	after(10 * time.Second)
	said("planning: 20 s\n")
	m.end(whole)
	after(time.Hour)
	said("")
}

// On a terminal, one line changes. It disappears when something else is printed.
func TestMeterOnTerminal(t *testing.T) {
	m, out, after := meterAt(func() int { return 32 })
	s := m.begin("connecting to zk1:2181", "")
	screen := func(want string) {
		t.Helper()
		if got := shown(out.String()); got != want {
			t.Errorf("the screen has %q, want %q; it got %q", got, want, out.String())
		}
	}
	after(200 * time.Millisecond)
	m.tick()
	screen("") // a command that is quick
	after(800 * time.Millisecond)
	m.tick()
	screen("connecting to zk1:2181: 1 s")
	m.follow(s, "reading the source", "records", 300, 50000)
	after(time.Second)
	m.tick()
	screen("reading the source: 300 of 5000") // cut off where the terminal ends
	m.follow(s, "sending", "records", 0, 9)
	after(time.Second)
	m.tick()
	screen("sending: 0 of 9 records")
	if _, err := m.Write([]byte("made the chroot /new\n")); err != nil {
		t.Fatal(err)
	}
	screen("made the chroot /new\n")
	m.tick()
	screen("made the chroot /new\nsending: 0 of 9 records")
	after(time.Second)
	m.follow(s, "sending", "records", 6, 9)
	m.tick()
	screen("made the chroot /new\nsending: 6 of 9 records, 3/s") // it is too early to say what is left
	m.end(s)
	screen("made the chroot /new\n")
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("there is an escape sequence in %q", out.String())
	}
}

// shown is what a terminal shows after a text: \r goes back to the beginning of the line.
func shown(text string) string {
	var lines []string
	line, at := []rune{}, 0
	for _, r := range text {
		switch r {
		case '\r':
			at = 0
		case '\n':
			lines, line, at = append(lines, strings.TrimRight(string(line), " ")), []rune{}, 0
		default:
			line = append(line[:at:at], append([]rune{r}, line[min(at+1, len(line)):]...)...)
			at++
		}
	}
	return strings.Join(append(lines, strings.TrimRight(string(line), " ")), "\n")
}

// While a person types the answer to a question, nothing is printed over it.
func TestMeterIsQuietWhileAsking(t *testing.T) {
	m, screen, after := meterAt(func() int { return 80 })
	s := m.begin("reading", "records")
	m.follow(s, "reading", "records", 1, 2)
	after(time.Second)
	m.tick()
	m.ask("Go on? ")
	after(time.Minute)
	m.tick()
	if got := screen.String(); !strings.HasSuffix(got, "Go on? ") {
		t.Errorf("%q", got)
	}
	m.follow(s, "removing", "records", 1, 2)
	after(time.Second)
	m.tick()
	if got := screen.String(); !strings.Contains(got, "removing: 1 of 2 records") {
		t.Errorf("%q", got)
	}
}
