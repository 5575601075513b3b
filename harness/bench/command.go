package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is one measurement.
type sample struct {
	seconds float64
	cpu     float64 // the command's own processor time, in seconds; 0 if no command ran
	peak    int64   // the most memory that the command had, in bytes; 0 if that isn't known
}

// command runs mrtq in a folder of its own, without the user's settings.
type command struct {
	mrtq string
	dir  string
}

// build builds mrtq from this source into a folder, where it runs.
func build(ctx context.Context, dir string) (command, error) {
	c := command{mrtq: filepath.Join(dir, "mrtq"), dir: dir}
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", c.mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
		return c, fmt.Errorf("build mrtq: %w: %s", err, bytes.TrimSpace(said))
	}
	return c, nil
}

// run runs mrtq and measures it. If mrtq fails, the error has what it printed.
func (c command) run(ctx context.Context, args ...string) (sample, error) {
	cmd := exec.CommandContext(ctx, c.mrtq, args...)
	cmd.Dir = c.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MRTQ_") })
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	// The kernel's own figure for an ended process (ru_maxrss) is of no use, because it includes
	// the memory of the process that started it. What came after the last look may be missed.
	ended, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			select {
			case <-time.After(10 * time.Millisecond):
				most = max(most, highWater(cmd.Process.Pid))
			case <-ended:
				peak <- most
				return
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s := sample{seconds: time.Since(began).Seconds(), cpu: cpu.Seconds(), peak: <-peak}
	if err != nil {
		return s, fmt.Errorf("mrtq %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return s, nil
}

// highWater returns the largest resident set that a process has had, in bytes. It returns
// 0 if the process has ended. Only Linux knows it.
func highWater(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	field, _, _ := bytes.Cut(rest, []byte("kB"))
	kb, err := strconv.ParseInt(string(bytes.TrimSpace(field)), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
