// Package openfile writes files that the user named: it replaces a file as a whole, or writes to a
// device or a pipe.
package openfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNobodyReads says that no process has a pipe open for reading.
var ErrNobodyReads = errors.New("no process reads from this pipe")

// Write opens an existing device or pipe for writing. If it is a pipe that no
// process reads, the error wraps [ErrNobodyReads].
func Write(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNobodyReads}
	}
	return f, err
}
