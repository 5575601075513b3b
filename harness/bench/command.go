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
	CPU     float64 `json:"cpu,omitempty"`  // the command's own processor time, in seconds; 0 if no command ran
	Half    float64 `json:"half,omitempty"` // only for a probe: half its waits were no longer than this, and 99 of 100 no longer than Seconds
	Peak    int64   `json:"peak,omitempty"` // the most memory that the command had, in bytes; 0 if that isn't known
}

// since returns a measurement that ends now.
func since(began time.Time) sample { return sample{Seconds: time.Since(began).Seconds()} }

// command runs mrtq in a folder of its own, without the user's settings.
type command struct {
	mrtq string
	dir  string
}

// build builds mrtq from this source into a folder.
func build(ctx context.Context, dir string) (mrtq string, err error) {
	mrtq = filepath.Join(dir, "mrtq")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build mrtq: %w: %s", err, bytes.TrimSpace(said))
	}
	return mrtq, nil
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
