package bench

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"mrtq/internal/legacyqueue"
)

var memoryRecords = flag.Int("memory-records", 5_000, "records that TestMemory migrates")

// A command may have aCommand bytes of memory, and aRecord bytes for each record. Most of
// aCommand is garbage that is not collected yet. A tree of the target would need some six
// times aRecord for each record.
const (
	aCommand = 140 << 20
	aRecord  = 600
)

// TestMemory: the memory of each step of a migration hardly grows with the queue, with an
// empty target and with a full one. Both sides are on a server in another process.
func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says how much memory a process had at most")
	}
	dir := t.TempDir()
	writeQueue(t, filepath.Join(dir, "queue.ndjson"), legacyqueue.Options{Records: *memoryRecords, Seed: 1, Consumed: true})
	address := serveQueue(t, dir)
	source, target := address, address+"/new"
	flags := []string{"--new-queue", "--dialect", "mrt-zk", "--undecodable", "quarantine", "--consumed", "failed", "--inventory-records", "migrate", "--unserviceable", "migrate"}
	for _, step := range []struct {
		name  string
		args  []string
		finds int // the exit code
	}{
		{"inspect", []string{"inspect", source}, 0},
		{"plan", append([]string{"plan", source, target, "--out", "plan.json"}, flags...), 0},
		{"migrate", append([]string{"migrate", source, target}, flags...), 0},
		{"plan of a full target", append([]string{"plan", source, target}, flags...), 0},
		{"status", []string{"status", target}, 0},
		{"verify", []string{"verify", target, "--quarantine", "mrtq-quarantine-" + strings.NewReplacer(":", "-", "/", "-").Replace(target) + ".ndjson"}, 0},
		{"release", []string{"release", target}, 0},
		{"check", []string{"check", target}, 1}, // what --unserviceable migrate has migrated
		{"rollback", []string{"rollback", target, "--yes"}, 0},
	} {
		cmd, said := prepare(t.Context(), dir, step.args...)
		peak := watch(t, cmd)
		if cmd.ProcessState.ExitCode() != step.finds {
			t.Fatalf("%s: %s: %s", step.name, cmd.ProcessState, said)
		}
		most := int64(aCommand + *memoryRecords*aRecord)
		t.Logf("%-22s %4d MiB, %v of a processor", step.name, peak>>20, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		if peak > most || peak == 0 {
			t.Errorf("%s took %d MiB, want %d at most", step.name, peak>>20, most>>20)
		}
	}
}

// watch runs a process, and returns the largest resident set that it had, in bytes. The kernel's
// own figure for an ended process (ru_maxrss) is of no use, because it includes the memory of the
// process that started it. What came after the last look may be missed.
func watch(t *testing.T, cmd *exec.Cmd) (most int64) {
	t.Helper()
	must(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its state says how it ended
		close(ended)
	}()
	for {
		select {
		case <-time.After(10 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // nothing if it has just ended
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			field, _, _ := strings.Cut(rest, "kB")
			kb, _ := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
			most = max(most, kb<<10)
		case <-ended:
			return most
		}
	}
}

func serveQueue(t *testing.T, dir string) (address string) {
	t.Helper()
	cmd := exec.Command(mrtq, "zk", "--load", "queue.ndjson")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("mrtq zk said %q: %v", line, err)
	}
	return strings.TrimSpace(line)
}
