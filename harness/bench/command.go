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

// sample is one measurement, in seconds.
type sample struct {
	seconds float64
	cpu     float64 // the command's own processor time; 0 if no command ran
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

// prepare returns a process of mrtq. If it fails, said has what it printed.
func (c command) prepare(ctx context.Context, args ...string) (cmd *exec.Cmd, said *bytes.Buffer) {
	cmd, said = exec.CommandContext(ctx, c.mrtq, args...), &bytes.Buffer{}
	cmd.Dir = c.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MRTQ_") })
	cmd.Stdout, cmd.Stderr = io.Discard, said
	return cmd, said
}

// run runs mrtq and measures it.
func (c command) run(ctx context.Context, args ...string) (sample, error) {
	cmd, said := c.prepare(ctx, args...)
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("mrtq %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return sample{time.Since(began).Seconds(), cpu.Seconds()}, nil
}
