// Package openfile opens a file that the user named, without waiting for ever.
// If the file is a named pipe, the system's own open waits without limit until
// another process opens the other end, and a signal that the program handles
// does not interrupt it.
package openfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

var (
	// ErrNobodyWrites says that a pipe was empty for some seconds, and that no
	// process has it open for writing.
	ErrNobodyWrites = errors.New("this pipe is empty, and no process writes to it")

	// ErrNobodyReads says that no process has a pipe open for reading.
	ErrNobodyReads = errors.New("no process reads from this pipe")
)

// File is a file that is open for reading.
type File struct {
	*os.File
	// writerBy is when to stop waiting for a pipe's writer. It is zero if the
	// file is not a pipe, or after the first data has come.
	writerBy time.Time
}

// patience is how long a pipe's reader waits for its writer.
const patience = 5 * time.Second

// Read opens a file for reading. If it is a pipe and no process opens it for
// writing within a few seconds, the first Read fails with [ErrNobodyWrites].
func Read(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, plain(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	file := &File{File: f}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		file.writerBy = time.Now().Add(patience)
	}
	return file, nil
}

// Read implements [io.Reader].
func (f *File) Read(b []byte) (int, error) {
	for {
		n, err := f.File.Read(b)
		if n == 0 && err == io.EOF && !f.writerBy.IsZero() {
			// Reading a pipe without a writer returns EOF.
			if time.Now().After(f.writerBy) {
				return 0, plain(&fs.PathError{Op: "read", Path: f.Name(), Err: ErrNobodyWrites})
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		f.writerBy = time.Time{}
		return n, plain(err)
	}
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
