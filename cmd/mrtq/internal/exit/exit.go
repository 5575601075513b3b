// Package exit has the exit codes of mrtq (docs/commands.md, "Output"), errors that carry one, and
// the signals that interrupt it.
package exit

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	Done        = 0
	Failed      = 1 // a check failed: verify found differences, a plan can't be carried out
	Usage       = 2 // wrong usage; a file that was named is not there
	Environment = 3 // the environment failed: no server, no permission, a damaged file

	Interrupted = 130 // by Ctrl-C, SIGTERM or SIGHUP; a shell has the same for SIGINT
)

type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// With returns err with an exit code.
func With(code int, err error) error { return &coded{code, err} }

// Usagef returns an error about the command line or the settings.
func Usagef(format string, a ...any) error { return With(Usage, fmt.Errorf(format, a...)) }

// Check returns the error of a check that failed.
func Check(err error) error { return With(Failed, err) }

// Code returns the exit code of an error. An error without a code is one of the environment.
func Code(err error) int {
	var c *coded
	switch {
	case err == nil:
		return Done
	case errors.As(err, &c):
		return c.code
	}
	return Environment
}

// Is reports whether an error has this exit code.
func Is(err error, code int) bool { return err != nil && Code(err) == code }
