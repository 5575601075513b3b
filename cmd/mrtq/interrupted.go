package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// readers are the commands that write nothing to either side.
var readers = []string{"inspect", "dump", "plan", "verify", "status", "show", "states"}

// resumable are the commands that you finish by running them again.
var resumable = []string{"migrate", "rollback", "restore", "rebuild"}

// interruption is the error of a command that Ctrl-C or SIGTERM ended, with its own
// exit code. It leaves out what the command was just doing, because that says
// nothing. If the command ended for another reason, the result is err.
func interruption(ctx context.Context, command string, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, migrate.ErrInterrupted) {
		return err
	}
	text := command + ": interrupted"
	how := (*partly)(nil)
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
	if file := (*unchanged)(nil); errors.As(err, &file) {
		text += fmt.Sprintf("; %s is as it was", file.path)
	}
	return &coded{exitInterrupted, errors.New(text)}
}

// partly is an error with what the command did before it, and what to do now.
type partly struct {
	err  error
	done string
}

func (e *partly) Error() string { return e.err.Error() }
func (e *partly) Unwrap() error { return e.err }

// unchanged is an error after which the file is as it was before the command.
type unchanged struct {
	err  error
	path string
}

func (e *unchanged) Error() string { return fmt.Sprintf("%v; %s is as it was", e.err, e.path) }
func (e *unchanged) Unwrap() error { return e.err }

// lost adds to the error of a lost session how far the run is, and what to do. total
// is how many records the run has to migrate.
func lost(err error, run string, done migrate.Done, total int) error {
	if !errors.Is(err, zkconn.ErrLost) {
		return err
	}
	return fmt.Errorf("%w. %s is not finished: this call made %d of %s; when a server can be reached, run the same command again to finish",
		err, run, done.Jobs+done.Access+done.Rewritten, count(total, "job or request", "jobs and requests"))
}
