package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// If Ctrl-C or SIGTERM ends a command, it says so, and what to do, with its own exit code.
func TestInterruption(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	reading := fmt.Errorf("verify: source localhost: list /ingest: %w", context.Canceled)
	for _, c := range []struct {
		name    string
		ctx     context.Context
		command string
		err     error
		want    string
		code    int
	}{
		{"reading", ended, "plan", reading, "plan: interrupted", exit.Interrupted},
		{"at a transaction's edge", ended, "migrate", fmt.Errorf("migrate: %w", migrate.ErrInterrupted), "migrate: interrupted; run the same command again to finish", exit.Interrupted},
		{"before anything was written", ended, "migrate", reading, "migrate: interrupted; run the same command again to finish", exit.Interrupted},
		{"a rollback that removed nothing", ended, "rollback", &partlyDone{reading, "nothing was removed"}, "rollback: interrupted; nothing was removed", exit.Interrupted},
		{"on the way", ended, "accept", reading, "accept: interrupted", exit.Interrupted},
		{"too late", ended, "plan", nil, "", exit.Done},
		{"an error of its own", ended, "plan", exit.Usagef("no"), "no", exit.Usage},
		{"it was not interrupted", t.Context(), "plan", reading, reading.Error(), exit.Environment},
	} {
		err := interruption(c.ctx, c.command, c.err)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || exit.Code(err) != c.code {
			t.Errorf("%s: %q, code %d; want %q, code %d", c.name, got, exit.Code(err), c.want, c.code)
		}
	}
}

// A full disk ends a rollback before anything is removed, or in the middle.
func TestFullDisk(t *testing.T) {
	sides := value(parseTarget([]string{"localhost:1/new"}))(t)
	full := error(&fs.PathError{Op: "write", Path: "removed.ndjson", Err: syscall.ENOSPC})
	for want, err := range map[string]error{
		"target localhost:1/new: write removed.ndjson: no space left on device. nothing was removed": (&rollbackCmd{}).fail(t.Context(), nil, sides, nil, full),
		"target localhost:1/new: write removed.ndjson: no space left on device. run0000000000 is not completely rolled back: this call removed 3 jobs, 0 access requests and 1 batch. Run the same command again to finish": (&rollbackCmd{}).fail(t.Context(), nil, sides,
			&migrate.RollbackResult{Run: "run0000000000", Transactions: 2, Removes: migration.Counts{Jobs: 3, Batches: 1}}, full),
	} {
		if err == nil || err.Error() != want || exit.Code(err) != exit.Environment {
			t.Errorf("%v, code %d\nwant %s", err, exit.Code(err), want)
		}
	}
}

// Ctrl-C, SIGTERM and a closed terminal end each command that waits for a server.
func TestInterruptedCommands(t *testing.T) {
	t.Parallel()
	// If the tests run with nohup, the commands would ignore SIGHUP, as they should.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	corpus := value(filepath.Abs("testdata/legacy.ndjson"))(t)
	for args, want := range map[string]string{
		"plan SILENT file:new.ndjson":        "mrtq: plan: interrupted\n",
		"verify SILENT":                      "mrtq: verify: interrupted\n",
		"verify file:" + corpus + " SILENT":  "mrtq: verify: interrupted\n",
		"status SILENT":                      "mrtq: status: interrupted\n",
		"migrate SILENT file:new.ndjson":     "mrtq: migrate: interrupted; run the same command again to finish\n",
		"migrate file:" + corpus + " SILENT": "mrtq: migrate: interrupted; run the same command again to finish\n",
		"rollback SILENT":                    "mrtq: rollback: interrupted; run the same command again to finish\n",
		"complete SILENT":                    "mrtq: complete: interrupted; run the same command again to finish\n",
		"migrate SILENT":                     "mrtq: migrate: interrupted; run the same command again to finish\n",
		"status SILENT --every 10s":          "mrtq: status: interrupted\n",
		"show SILENT jid1":                   "mrtq: show: interrupted\n",
		"check SILENT":                       "mrtq: check: interrupted\n",
		"hold SILENT":                        "mrtq: hold: interrupted; run the same command again to finish\n",
		"release SILENT":                     "mrtq: release: interrupted; run the same command again to finish\n",
		"restore SILENT --in " + corpus:      "mrtq: restore: interrupted; run the same command again to finish\n",
		"dump SILENT --out dump.ndjson":      "mrtq: dump: interrupted\n",
		"accept --backend SILENT --tags @J9": "mrtq: accept: interrupted\n",
		"inspect SILENT --status failed -v":  "mrtq: inspect: interrupted\n",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			address, called := silent(t)
			cmd := exec.Command("mrtq", append(strings.Fields(strings.ReplaceAll(args, "SILENT", address)), "--timeout", "1m")...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			must(t, cmd.Start())
			killed := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
			defer killed.Stop()
			<-called
			sent := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[len(args)%3]
			must(t, cmd.Process.Signal(sent))
			if sent == syscall.SIGHUP { // the kernel and the shell each send one
				_ = cmd.Process.Signal(sent) // it may have ended
			}
			_ = cmd.Wait() // its exit code tells
			if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted || !strings.HasSuffix(stderr.String(), want) {
				t.Errorf("exit code %d: %q, want %q", code, stderr.String(), want)
			}
		})
	}
}

// silent is a server that accepts connections and never answers. called is closed after the
// first connection.
func silent(t *testing.T) (address string, called <-chan struct{}) {
	t.Helper()
	l := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	came := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if first {
				close(came)
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), came
}

// A release that loses its session says what stays done, also if that is no record that was handed over.
func TestReleaseThatIsCutShort(t *testing.T) {
	res := &migrate.ReleaseResult{Withdrawn: 2, Transactions: 2}
	err := (&releaseCmd{}).refuse(t.Context(), nil, pair{}, res, migrate.ErrSessionLost)
	const want = "this call: 2 jobs withdrawn (the legacy queue has their work); no hold was lifted; run the same command again to finish"
	if how := (*partlyDone)(nil); !errors.As(err, &how) || how.done != want {
		t.Errorf("%v", err)
	}
}
