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
	"strings"
	"time"
)

// sample is one measurement.
type sample struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu,omitempty"`  // the command's own, in seconds; 0 of what isn't a command
	Half    float64 `json:"half,omitempty"` // of a probe, whose Seconds are what 99 of 100 waits took, what half of them did
	Peak    int64   `json:"peak,omitempty"` // the command's memory at its largest, in bytes; 0 where that isn't known
}

// since is a measurement that has just ended.
func since(began time.Time) sample { return sample{Seconds: time.Since(began).Seconds()} }

// command is mrtq, run in a folder of its own, without the settings of whoever
// runs this.
type command struct {
	mrtq string
	dir  string
}

// build builds mrtq into a folder: what is measured is the source as it is now.
func build(ctx context.Context, dir string) (mrtq string, err error) {
	mrtq = filepath.Join(dir, "mrtq")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build mrtq: %w: %s", err, bytes.TrimSpace(said))
	}
	return mrtq, nil
}

// run runs it to its end, which must be a success.
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
	ended := watchPeak(cmd.Process.Pid)
	err := cmd.Wait()
	s := since(began)
	s.Peak = ended()
	if err != nil {
		return s, fmt.Errorf("mrtq %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	s.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return s, nil
}
