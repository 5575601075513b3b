package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

// meter prints on stderr what the command is doing, so that it is never silent: one line
// that changes on a terminal, and a new line from time to time elsewhere.
//
// Steps nest: a migration opens a source, which reads a dump.
//
// go-pretty's progress does not fit: it ends its line with a newline and moves the cursor up again, so it
// overwrites a question or what else was printed. Its line stays at the end. It knows only the width of stdout.
type meter struct {
	mu    sync.Mutex
	out   io.Writer
	now   func() time.Time
	width func() int // the terminal's width; nil unless it can overwrite a line
	ticks bool       // whether it ticks by itself; in tests, the test calls tick
	// silence is for how long the servers have not answered; nil if there are none.
	silence func() time.Duration

	steps   []*step
	printed time.Time // when the last line was printed, or the outermost step began
	drawn   int       // width of the line that is on the terminal
	stop    chan struct{}
	asked   bool // a person types an answer, and nothing was done since
}

type step struct {
	what, unit  string
	began       time.Time
	done, total int // total is 0 if it is unknown
}

const (
	meterTick     = 250 * time.Millisecond // between lines on a terminal
	meterStart    = 300 * time.Millisecond // a command that ends sooner draws no line
	meterSay      = 10 * time.Second       // between lines elsewhere
	meterForetell = 3 * time.Second        // how long a step is timed before its remaining time is shown
	patience      = 3 * time.Second        // a server that takes longer to answer is silent
)

func (m *meter) begin(what, unit string) *step {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	s := &step{what: what, unit: unit, began: now}
	if len(m.steps) == 0 {
		m.printed = now
		if m.ticks {
			m.stop = make(chan struct{})
			go m.run(m.stop)
		}
	}
	m.steps = append(m.steps, s)
	return s
}

func (m *meter) end(s *step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.steps {
		if m.steps[i] == s {
			m.steps = m.steps[:i]
			break
		}
	}
	if len(m.steps) > 0 {
		return
	}
	m.wipe()
	if m.stop != nil {
		close(m.stop)
		m.stop = nil
	}
}

func (m *meter) follow(s *step, what, unit string, done, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = false
	if what != s.what || done < s.done {
		*s = step{what: what, unit: unit, began: m.now()}
	}
	s.done, s.total = done, total
}

func (m *meter) run(stop <-chan struct{}) {
	every := time.NewTicker(meterTick)
	defer every.Stop()
	for {
		select {
		case <-stop:
			return
		case <-every.C:
			m.tick()
		}
	}
}

func (m *meter) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.steps) == 0 || m.asked {
		return
	}
	now := m.now()
	s := m.steps[len(m.steps)-1]
	line := s.line(now, m.silent())
	switch {
	case m.width != nil && now.Sub(m.steps[0].began) >= meterStart:
		m.draw(line)
	case m.width == nil && now.Sub(m.printed) >= meterSay:
		m.printed = now
		fmt.Fprintln(m.out, line)
	}
}

func (m *meter) silent() time.Duration {
	if m.silence == nil || m.silence() < patience {
		return 0
	}
	return m.silence()
}

func (m *meter) draw(line string) {
	line = text.Trim(line, max(1, m.width()-1))
	drawn := text.StringWidthWithoutEscSequences(line)
	fmt.Fprint(m.out, "\r", line, strings.Repeat(" ", max(0, m.drawn-drawn)))
	m.drawn = drawn
}

func (m *meter) wipe() {
	if m.drawn > 0 {
		fmt.Fprint(m.out, "\r", strings.Repeat(" ", m.drawn), "\r")
		m.drawn = 0
	}
}

// clear removes the line before something else is printed to the terminal. The next
// tick draws it again, below.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
}

// Write prints to the meter's output, after it has removed the line.
func (m *meter) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
	return m.out.Write(b)
}

func (m *meter) ask(question string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wipe()
	m.asked = true
	io.WriteString(m.out, question)
}

func (s *step) line(now time.Time, silent time.Duration) string {
	elapsed := now.Sub(s.began)
	how := seconds(elapsed)
	switch {
	case s.total > 0:
		how = fmt.Sprintf("%d of %d %s", s.done, s.total, s.unit)
	case s.done > 0:
		how = fmt.Sprintf("%d %s", s.done, s.unit)
	}
	switch {
	case silent > 0:
		how += ", no answer from the server for " + seconds(silent)
	case s.done > 0 && elapsed > 0:
		rate := float64(s.done) / elapsed.Seconds()
		how += fmt.Sprintf(", %.0f/s", rate)
		if left := float64(s.total - s.done); left > 0 && elapsed >= meterForetell {
			how += fmt.Sprintf(", about %s left", seconds(time.Duration(left/rate*float64(time.Second))))
		}
	}
	return s.what + ": " + how
}

func seconds(d time.Duration) string {
	switch s := int(d.Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
}
