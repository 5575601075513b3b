package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
)

// watched is mrtq watch on a terminal, and the server that it reads.
type watched struct {
	*testing.T
	server  *minizk.Server
	session *testSession
	control *os.File
	screen  *emulator
	cmd     *exec.Cmd
	ended   chan error
}

// watchOn runs mrtq watch SERVER/new on a terminal of this size.
func watchOn(t *testing.T, width, height int, server *minizk.Server, env []string, flags ...string) *watched {
	t.Helper()
	return runOn(t, width, height, server, env, append([]string{"watch", server.Addr() + "/new", "--interval", "100ms"}, flags...)...)
}

// runOn runs mrtq on a terminal of this size.
func runOn(t *testing.T, width, height int, server *minizk.Server, env []string, args ...string) *watched {
	t.Helper()
	w := &watched{T: t, server: server, screen: newEmulator(width, height), ended: make(chan error, 1)}
	control, terminal := openTerminal(t, width, height)
	w.control = control
	fmt.Fprintln(terminal, "what was there before")
	got := make(chan struct{})
	go func() {
		defer close(got)
		_, _ = io.Copy(w.screen, control) // ends with EIO when no process has the terminal open
	}()
	w.cmd = exec.Command("mrtq", args...)
	w.cmd.Dir = t.TempDir()
	w.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}, env...)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = terminal, terminal, terminal
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // it gets the signals for Ctrl-C and for another size
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	go func() {
		err := w.cmd.Wait()
		<-got
		w.ended <- err
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // if the test has failed
		if text := w.screen.look(); len(text.wrong) > 0 {
			t.Errorf("the terminal got %q", text.wrong)
		}
	})
	return w
}

// open opens the test's own session in /new.
func (w *watched) open() {
	w.Helper()
	var err error
	if w.session, err = openTestSession(w.server.Addr(), "/new"); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(w.session.conn.Close)
}

func (w *watched) make(paths ...string) {
	w.Helper()
	for _, path := range paths {
		if err := w.session.make("/new"+path, []byte{}); err != nil && err != zk.ErrNodeExists {
			w.Fatal(path, err)
		}
	}
}

// until waits until the screen matches a pattern.
func (w *watched) until(what, pattern string) seen {
	w.Helper()
	re := regexp.MustCompile(pattern)
	late := time.After(30 * time.Second)
	for {
		s := w.screen.look()
		if re.MatchString(s.text) {
			return s
		}
		select {
		case err := <-w.ended:
			w.Fatalf("%s: it ended: %v\n%s", what, err, s.text)
		case <-late:
			w.Fatalf("%s: no %s on the screen:\n%s", what, pattern, s.text)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// interrupt presses Ctrl-C, and checks that the exit code is 0.
func (w *watched) interrupt() {
	w.Helper()
	if _, err := w.control.WriteString("\x03"); err != nil {
		w.Fatal(err)
	}
	select {
	case err := <-w.ended:
		if err != nil {
			w.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		w.Fatal("Ctrl-C did not end it")
	}
	if s := w.screen.look(); s.other || s.hidden {
		w.Errorf("the terminal was not left as it was: %+v", s)
	}
}

// watch on a terminal: the queue is used, the window changes its size, the session expires,
// the server stops and starts again, and Ctrl-C.
func TestWatchOnTerminal(t *testing.T) {
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	w := watchOn(t, 80, 24, server, nil, "--session-timeout", "4s", "--timeout", "2s")
	w.until("before there is a target", `NO QUEUE: `)
	w.open()
	w.make("/jobs/states/pending/05-jid0000000001", "/jobs/jid0000000001", "/jobs/states/pending/05-jid0000000002", "/access/large")
	w.until("a queue", `(?m)^pending +2 +\S+ +\S+ +jid0000000001 `)
	w.until("the last column", `(?m)^JOBS .* IN STATE$`)
	w.make("/jobs/states/pending/05-jid0000000003")
	w.until("another job", `(?m)^pending +3 `)

	// Text with control characters, in data and in names.
	w.make("/locks/collections/\u202eevil", "/migration/election")
	if _, err := w.session.conn.Create("/new/migration/election/n-", []byte("\x1b]0;evil\x07\x1b[2J\u202e\u009b2J"), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	w.until("a hostile hold", `collection \\u202eevil for `)
	w.until("a hostile migrator", `running: \\u001b\]0;evil\\u0007\\u001b\[2J\\u202e\\u009b2J`)
	w.make("/locks/queue/ingest", "/locks/storage")
	if _, err := w.session.conn.Create("/new/locks/storage/ark_99999_fk4abc123", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	w.until("a hold", `ingest for \d+s`)
	s := w.until("a lock", `(?m)^Locks +1, the oldest for \d+s: 1 storage\n +\d+s /locks/storage/ark_99999_fk4abc123$`)
	if s.other || s.hidden || !s.coloured {
		t.Errorf("%+v", s)
	}

	w.screen.resize(120, 40)
	resize(t, w.control, 120, 40)
	w.until("a wide window", `(?m)^ +\d+s /locks/storage/ark_99999_fk4abc123$`)
	w.screen.resize(60, 8)
	resize(t, w.control, 60, 8)
	w.until("a low window", `… and \d+ more lines; make the terminal taller$`)
	w.screen.resize(80, 24)
	resize(t, w.control, 80, 24)
	w.until("the usual window", `(?m)^Locks +1, the oldest`)

	for _, session := range server.Sessions() {
		if session.ID != w.session.conn.SessionID() {
			server.ExpireSession(session.ID)
		}
	}
	w.make("/jobs/states/pending/05-jid0000000004")
	w.until("after its session expired", `(?m)^pending +4 `)

	w.session.conn.Close()
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	w.until("no server", `(?m)^NOT CONNECTED for \d+s: (?s:.+)^Trying again. The rest was read at \d{4}-.*Z\.$(?s:.+)^pending +4 `)
	w.until("a session that is lost", `(?m)^NOT CONNECTED for [3-9]s: `)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.make("/jobs/states/pending/05-jid0000000005")
	s = w.until("the server is back", `(?m)^pending +5 `)
	if strings.Contains(s.text, "NOT CONNECTED") {
		t.Errorf("%s", s.text)
	}
	w.interrupt()
}

// If a server keeps silent, watch and the line of migrate say so, and for how long, until it answers.
func TestSilentServer(t *testing.T) {
	corpus, err := filepath.Abs("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args          []string
		silent, after string
	}{
		"migrate": {[]string{"migrate", "file:" + corpus, "TARGET", "--new-queue", "--dialect", "design", "--consumed", "failed", "--undecodable", "quarantine"},
			`^sending: 0 of \d+ records, no answer from the server for [3-9] s$`, `Migrate: done`},
		"watch": {[]string{"watch", "TARGET", "--interval", "100ms"}, `^NO ANSWER from the server for [3-9]s$`, `Z *\nNO QUEUE`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := minizk.RunWith(t, minizk.Options{RealTime: true})
			gate := make(chan struct{})
			if name == "watch" {
				server.Inject(minizk.Fault{Nth: 20, Do: minizk.Hold(gate)})
			} else {
				server.Inject(minizk.Fault{Nth: 1, Do: minizk.Hold(gate), On: func(op minizk.Op) bool {
					return op.Changes && slices.Contains(op.Paths, "/new/jobs/jid0000000001")
				}})
			}
			for i := range c.args {
				c.args[i] = strings.ReplaceAll(c.args[i], "TARGET", server.Addr()+"/new")
			}
			w := runOn(t, 100, 24, server, nil, append(c.args, "--session-timeout", "30s")...)
			w.until("silence", "(?m)"+c.silent)
			close(gate)
			if name == "migrate" {
				if err := <-w.ended; err != nil {
					t.Error(err)
				}
				w.ended <- nil // for until and the cleanup
			}
			s := w.until("an answer", "(?m)"+c.after)
			if strings.Contains(strings.ToLower(s.text), "no answer") {
				t.Errorf("%s", s.text)
			}
			if name == "watch" {
				w.interrupt()
			}
		})
	}
}

// With SOURCE, watch names the legacy records that came late, were missed, or could run twice.
func TestWatchNamesLegacyRecords(t *testing.T) {
	corpus, err := filepath.Abs("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	dir := t.TempDir()
	for _, args := range []string{
		"restore OLD --in " + corpus,
		"migrate OLD NEW --new-queue --dialect design --consumed failed --undecodable quarantine",
		"release NEW --unverified",
	} {
		cmd := exec.Command("mrtq", strings.Fields(strings.NewReplacer("OLD", server.Addr(), "NEW", server.Addr()+"/new").Replace(args))...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, out)
		}
	}
	session, err := openTestSession(server.Addr(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.conn.Close()
	data, _, err := session.conn.Get("/ingest/mrtQ-05000000000001")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.conn.Create("/ingest/mrtQ-05000000000099", data, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := session.conn.Delete("/ingest/mrtQ-02100000000003", -1); err != nil {
		t.Fatal(err)
	}
	w := runOn(t, 80, 24, server, nil, "watch", server.Addr()+"/new", server.Addr(), "--interval", "100ms")
	w.until("a late record", `(?m)^LATE: 1 record added to the legacy queue since the migration:\s+/ingest/mrtQ-05000000000099$`)
	w.until("a record that is gone", `(?m)^COULD RUN TWICE: 1 record changed or removed in the legacy queue since the\s+migration: /ingest/mrtQ-02100000000003$`)
	w.until("what to do", `mrtq status \S+/new\s+\S+`)
	w.interrupt()
}

// watch waits for a server that is not there yet. With $NO_COLOR, it uses no colour, and the
// words say the same.
func TestWatchWaitsForServer(t *testing.T) {
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	w := watchOn(t, 120, 40, server, []string{"NO_COLOR=1"}, "--timeout", "1s")
	w.until("no server", `(?m)^NOT CONNECTED for \d+s: (?s:.+)connection\s+is\s+refused`)
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.make("/jobs/states/held/05-jid0000000001")
	if s := w.until("a queue", `(?m)^held +1 `); s.coloured {
		t.Error("there are colours")
	}
	w.interrupt()
}

// On a terminal that can't show a screen, watch prints one view below the other.
func TestWatchOnDumbTerminal(t *testing.T) {
	server := minizk.RunWith(t, minizk.Options{RealTime: true})
	w := watchOn(t, 80, 24, server, []string{"TERM=dumb"})
	s := w.until("two views", `(?s)NO QUEUE: .*\n\n.*NO QUEUE: `)
	if s.other || s.hidden || s.coloured {
		t.Errorf("%+v", s)
	}
	if _, err := w.control.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
}
