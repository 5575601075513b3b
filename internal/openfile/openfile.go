// Package openfile opens, replaces and unpacks files that the user named. Its errors
// name the file and the reason, and no system call.
package openfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// File is a file that is open for reading.
type File struct{ *os.File }

// Read opens a file for reading. If it is a pipe, Read waits until a process opens it
// for writing.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, plain(err)
	}
	return &File{f}, nil
}

// Read implements [io.Reader].
func (f *File) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	return n, plain(err)
}

// ReadAll returns the content of a file.
func ReadAll(path string) ([]byte, error) {
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ErrNobodyReads says that no process has a pipe open for reading.
var ErrNobodyReads = errors.New("no process reads from this pipe")

// Write opens an existing device or pipe for writing. If it is a pipe that no
// process reads, the error wraps [ErrNobodyReads].
func Write(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNobodyReads}
	}
	if err != nil {
		return nil, plain(err)
	}
	return f, nil
}

// plainError is an [fs.PathError] whose text is the file and the reason, without the
// name of a system call.
type plainError struct{ *fs.PathError }

func (e *plainError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *plainError) Unwrap() error { return e.PathError }

// plain gives an error about a file its plain text. It returns others as they are,
// because a reader's io.EOF must stay io.EOF.
func plain(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return &plainError{e}
	}
	return err
}
