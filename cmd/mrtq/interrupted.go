package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// readers are the commands that never write to a side.
var readers = []string{"inspect", "dump", "plan", "verify", "status", "show", "states"}

// resumable are the commands that you finish by running them again.
var resumable = []string{"migrate", "rollback", "restore", "rebuild"}

// interruption returns the error of a command that Ctrl-C or SIGTERM ended, which has its
// own exit code. It leaves out what the command was doing at that moment, because that
// does not help. If the command ended for another reason, it returns err.
func interruption(ctx context.Context, command string, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, migrate.ErrInterrupted) {
		return err
	}
	text := command + ": interrupted"
	how := (*partlyDone)(nil)
	switch {
	case errors.As(err, &how):
		text += "; " + how.done
	case slices.Contains(readers, command):
		text += "; nothing was written"
	case slices.Contains(resumable, command):
		text += "; run the same command again to finish"
	case command == "hold" || command == "release":
		text += "; mrtq status TARGET shows which holds are set"
	}
	if file := (*unchangedError)(nil); errors.As(err, &file) {
		text += fmt.Sprintf("; %s was not changed", file.path)
	}
	return &coded{exitInterrupted, errors.New(text)}
}

// partlyDone is an error of a command, with what it did before, and what to do now.
type partlyDone struct {
	err  error
	done string
}

func (e *partlyDone) Error() string { return e.err.Error() }
func (e *partlyDone) Unwrap() error { return e.err }

// unchangedError is an error of a command that did not change its file.
type unchangedError struct {
	err  error
	path string
}

func (e *unchangedError) Error() string {
	return fmt.Sprintf("%v; %s was not changed", e.err, e.path)
}
func (e *unchangedError) Unwrap() error { return e.err }

// lostSession adds to the error of a lost session how far the run is, and what to do.
// total is how many records the run has to migrate.
func lostSession(err error, run string, done migrate.Done, total int) error {
	if !errors.Is(err, zkconn.ErrLost) {
		return err
	}
	return fmt.Errorf("%w. %s is not finished: this call created %d of %s; when a server can be reached, run the same command again to finish",
		err, run, done.Jobs+done.Access+done.Rewritten, count(total, "job or request", "jobs and requests"))
}
