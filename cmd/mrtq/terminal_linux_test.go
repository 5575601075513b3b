package main

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal. What is written to terminal can be read from control, and
// the other way round.
func openTerminal(t *testing.T, width, height int) (control, terminal *os.File) {
	t.Helper()
	control = value(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	t.Cleanup(func() { control.Close() })
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	must(t, err)
	resize(t, control, width, height)
	return control, value(os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR, 0))(t)
}

func resize(t *testing.T, control *os.File, width, height int) {
	t.Helper()
	must(t, unix.IoctlSetWinsize(int(control.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}))
}

type terminalRun struct {
	columns int
	env     []string // in addition to that of every run
	// dataOnly keeps stderr away from the terminal, because progress is not predictable.
	dataOnly bool
}

func (r terminalRun) run(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	control, terminal := openTerminal(t, r.columns, 24)
	got := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(control) // ends with EIO when no process has the terminal open
		got <- string(text)
	}()
	cmd := exec.Command("mrtq", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}, r.env...)
	cmd.Stdout = terminal
	if !r.dataOnly {
		cmd.Stderr = terminal
	}
	err := cmd.Run()
	terminal.Close()
	return <-got, err
}

// From the first second on, a terminal has a line that changes, also while mrtq waits. At
// the end the line disappears.
func TestProgressOnTerminal(t *testing.T) {
	address, _ := silent(t)
	control, terminal := openTerminal(t, 80, 24)
	cmd := exec.Command("mrtq", "plan", address, "file:new.ndjson")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}
	cmd.Stdout, cmd.Stderr = terminal, terminal
	must(t, cmd.Start())
	terminal.Close()
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	text, asked := "", false
	for chunk := make([]byte, 1000); ; {
		n, err := control.Read(chunk)
		if text += string(chunk[:n]); !asked && strings.Contains(text, ": 3 s") {
			asked = true
			cmd.Process.Signal(os.Interrupt)
		}
		if err != nil {
			break // EIO when no process has the terminal open
		}
	}
	_ = cmd.Wait() // the test checks what it printed
	for _, want := range []string{"\rconnecting to " + address + ": 1 s", ": 2 s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if left := shownOn(strings.ReplaceAll(text, "\r\n", "\n")); strings.Contains(left, "connecting to "+address+": 3") || !strings.Contains(left, "plan: interrupted") {
		t.Errorf("the terminal is left with %q", left)
	}
}

// shownOn is what a terminal shows after a text: \r goes back to the beginning of the line.
func shownOn(text string) string {
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

// With nohup, a closed terminal does not end a command.
func TestNohup(t *testing.T) {
	address, called := silent(t)
	cmd := exec.Command("nohup", "mrtq", "status", address, "--timeout", "1m")
	must(t, cmd.Start())
	<-called
	about, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_, mask, _ := strings.Cut(string(about), "SigIgn:\t")
	mask, _, _ = strings.Cut(mask, "\n")
	if bits, _ := strconv.ParseUint(mask, 16, 64); err != nil || bits&1 == 0 { // SIGHUP is signal 1
		t.Errorf("ignored signals: %s, %v", mask, err)
	}
}
