package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// failed adds to err what was being done and where, unless err already names the
// place or is about the command line.
func failed(doing, where string, err error) error {
	var conn *zkconn.ConnectError
	switch {
	case err == nil, exit.Is(err, exit.Usage), errors.As(err, &conn):
		return err
	}
	return fmt.Errorf("%s %s: %w", doing, where, err)
}

// checks are the errors of package migrate and of sides that mean that a check failed, and
// not that the environment did.
var checks = []error{
	migrate.ErrBlocked, migrate.ErrStale, migrate.ErrTakenOver, migrate.ErrContended, migrate.ErrRefused, migrate.ErrRolledBack,
	migrate.ErrUndecided, migrate.ErrAtWork, migrate.ErrNotReleased, migrate.ErrHeld, migrate.ErrFollowed, migrate.ErrLeft, migrate.ErrCompleted, migrate.ErrOtherSource, migrate.ErrTwoEnsembles, migrate.ErrNoPermission,
	migrate.ErrDamaged, migrate.ErrRestored, migrate.ErrNoRun, migrate.ErrNoQueue,
	migrate.ErrUnfinished, migrate.ErrNotVerified, migrate.ErrNotFound, migrate.ErrHoldsChanged,
	sides.ErrOverwritten,
}

// ofCommand gives an error of package migrate that has no exit code its own, and adds the command unless err is about
// the command line.
func ofCommand(name string, err error) error {
	if err == nil || exit.Is(err, exit.Usage) {
		return err
	}
	if exit.Is(err, exit.Environment) && slices.ContainsFunc(checks, func(c error) bool { return errors.Is(err, c) }) {
		err = exit.Check(err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

type advised struct {
	error
	next advice.Next
}

func (e *advised) Unwrap() error { return e.error }

func adviceOf(err error) advice.Next {
	if with := (*advised)(nil); errors.As(err, &with) {
		return with.next
	}
	return advice.Next{}
}

func withWayOut(a *app, err error, at advice.Situation) error {
	if next := a.advice.WayOut(err, at); len(next.Lines()) > 0 {
		return &advised{err, next}
	}
	return err
}

// wayOut is withWayOut for an error about a target. It reads where the migration stands, or what is there instead of a
// queue, if what to do depends on that.
func (a *app) wayOut(ctx context.Context, p place, err error) error {
	at := advice.Situation{Target: p.Text}
	noQueue, unfinished := errors.Is(err, migrate.ErrNoQueue), errors.Is(err, migrate.ErrUnfinished)
	if !noQueue && !unfinished && !errors.Is(err, migrate.ErrTwoEnsembles) && !errors.Is(err, migrate.ErrRolledBack) {
		return withWayOut(a, err, at)
	}
	switch status := a.statusOf(ctx, p); {
	case status == nil:
	case noQueue && status.NoQueue != nil:
		at.NoQueue = status.NoQueue
		return exit.Check(&advised{fmt.Errorf("%s. Nothing was done", view.NoQueue(p.Text, status.NoQueue)), a.advice.Next(status.Step, at)})
	case status.Current() != nil:
		at.Run = &status.Current().Run
		if unfinished {
			return &advised{err, a.advice.Next(status.Step, at)}
		}
	}
	return withWayOut(a, err, at)
}

// statusOf reads where a migration stands, for the text of an error; nil if that can't be
// read.
func (a *app) statusOf(ctx context.Context, p place) *migrate.Status {
	side, err := a.open(ctx, p, true)
	if err != nil {
		return nil
	}
	defer side.Close()
	status, err := migrate.ReadStatus(ctx, side.Reader)
	if err != nil {
		return nil
	}
	return status
}

// wasCutShort reports whether a command ended early through no fault of its own: by Ctrl-C, a lost
// connection, or a file that can't be written.
func wasCutShort(err error) bool {
	var file *fs.PathError
	return errors.Is(err, zkconn.ErrSessionLost) || errors.Is(err, migrate.ErrInterrupted) || errors.As(err, &file)
}

// writing are the commands that write. After Ctrl-C, SIGTERM or a closed terminal they are run again.
var writing = []string{"migrate", "release", "follow", "rollback", "complete", "restore", "hold"}

const runAgain = "; run the same command again to finish"

// interruption returns the error of a command that Ctrl-C or SIGTERM ended, which has its
// own exit code. It leaves out what the command was doing at that moment, because that
// does not help. If the command ended for another reason, it returns err.
func interruption(ctx context.Context, command string, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, migrate.ErrInterrupted) {
		return err
	}
	text := command + ": interrupted"
	if how := (*partlyDone)(nil); errors.As(err, &how) {
		text += "; " + how.done
	} else if slices.Contains(writing, command) {
		text += runAgain
	}
	if file := (*unchangedError)(nil); errors.As(err, &file) {
		text += fmt.Sprintf("; %s was not changed", file.path)
	}
	return exit.With(exit.Interrupted, errors.New(text))
}

type partlyDone struct {
	err  error
	done string
}

func (e *partlyDone) Error() string { return e.err.Error() + ". " + e.done }
func (e *partlyDone) Unwrap() error { return e.err }

type unchangedError struct {
	err  error
	path string
}

func (e *unchangedError) Error() string { return fmt.Sprintf("%v; %s was not changed", e.err, e.path) }
func (e *unchangedError) Unwrap() error { return e.err }

func lostOutput(concluded string, err error) error {
	if concluded == "" {
		return err
	}
	return fmt.Errorf("the output could not be written: %w. What the command did: %s", err, concluded)
}
