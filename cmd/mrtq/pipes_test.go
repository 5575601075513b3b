package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
)

// Each file that a command reads may be a pipe. If no process writes to the pipe, the command
// says so, and does not wait.
func TestPipeThatNobodyWritesTo(t *testing.T) {
	t.Parallel()
	corpus, err := filepath.Abs("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"inspect": "inspect file:pipe",
		"zk":      "zk --load pipe",
		"plan":    "migrate --plan pipe",
		"config":  "inspect file:" + corpus + " --config pipe",
		"auth":    "inspect localhost:1 --auth-file pipe",
		"CA":      "inspect localhost:1 --tls-ca pipe",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("mrtq", strings.Fields(args)...)
			cmd.Dir = dir
			killed := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			defer killed.Stop()
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != exit.Environment || !strings.Contains(string(out), "this pipe is empty, and no process writes to it") {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
}
