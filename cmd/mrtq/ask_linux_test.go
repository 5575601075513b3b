package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/harness"
)

// A question has one line on the terminal, and says which answer counts. Ctrl-C ends the command at once, with its own exit
// code, although nobody has typed anything. Any other answer ends it, too.
func TestAsking(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		command []string
		typed   string
		code    int
		says    string
	}{
		"rollback, Ctrl-C": {[]string{"rollback", "--force"}, "\x03", 130, "rollback: interrupted; nothing was removed"},
		"complete, Ctrl-C": {[]string{"complete"}, "\x03", 130, "complete: interrupted; nothing was removed"},
		"rollback, y":      {[]string{"rollback", "--force"}, "y\n", 1, `nothing was removed: the answer was "y", and only yes continues`},
		"complete, yes":    {[]string{"complete"}, "yes\n", 0, "The kept bytes of 1 record were removed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := harness.ForTest(t, harness.Embedded, harness.Options{})
			at := server.Address()
			dir := t.TempDir()
			must(t, os.WriteFile(dir+"/one.ndjson", []byte(oneRecord), 0o600))
			for _, args := range [][]string{{"restore", at, "--in", dir + "/one.ndjson"}, {"migrate", at, at + "/new", "--new-queue", "--dialect", "design"}, {"release", at + "/new"}} {
				if code, says := runInProcess(args...); code != 0 {
					t.Fatalf("%q: %s", args, says)
				}
			}
			control, terminal := openTerminal(t, 80, 24)
			cmd := exec.Command("mrtq", append(of.command, at+"/new")...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0"}
			cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that Ctrl-C reaches it
			must(t, cmd.Start())
			terminal.Close()
			defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
			text, asked := "", false
			const question = "\nType yes to continue, or anything else to stop: "
			for chunk := make([]byte, 1000); ; {
				n, err := control.Read(chunk)
				if text += string(chunk[:n]); !asked && strings.Contains(text, question) {
					asked = true
					if _, err := control.WriteString(of.typed); err != nil {
						t.Error(err)
					}
				}
				if err != nil {
					break // EIO when no process has the terminal open
				}
			}
			code, exited := 0, (*exec.ExitError)(nil)
			if err := cmd.Wait(); errors.As(err, &exited) {
				code = exited.ExitCode()
			}
			if left := strings.Join(strings.Fields(shownOn(strings.ReplaceAll(text, "\r\n", "\n"))), " "); !asked || code != of.code || !strings.Contains(left, of.says) {
				t.Errorf("asked: %t; exit code %d, want %d; the terminal is left with\n%s", asked, code, of.code, text)
			}
		})
	}
}

const oneRecord = `{"path":"/","data":""}
{"path":"/ingest","data":""}
{"path":"/ingest/mrtQ-05000000000001","data":"AAAAAY3y4vAAeyJqb2JJRCI6ImppZC0xIiwiYmF0Y2hJRCI6ImJpZC0xIn0="}
`
