// Package openfile opens files that a person named, and does not wait for ever:
// the system's own open waits for the other end of a named pipe as long as it
// takes, and no signal that a program handles ends that.
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
	// ErrNobodyWrites says that nothing came out of a pipe for some seconds, and
	// that nobody has it open to write.
	ErrNobodyWrites = errors.New("nothing came out of this pipe: nobody writes to it")

	// ErrNobodyReads says that a pipe has nobody at its other end.
	ErrNobodyReads = errors.New("nobody reads from this pipe")
)

// File is a file that is open for reading.
type File struct {
	*os.File
	// writerBy is until when a pipe's writer is waited for; zero for a file that
	// is no pipe, or once something came out.
	writerBy time.Time
}

// patience is how long a pipe's reader waits for its writer.
const patience = 5 * time.Second

// Read opens a file for reading. If it is a pipe to which nobody comes to write
// within a few seconds, its first Read fails with [ErrNobodyWrites].
func Read(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
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
			// This is what a pipe without a writer reads as.
			if time.Now().After(f.writerBy) {
				return 0, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrNobodyWrites}
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		f.writerBy = time.Time{}
		return n, err
	}
}

// ReadAll is the content of a file.
func ReadAll(path string) ([]byte, error) {
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Write opens what is there already, a device or a pipe, for writing. The error
// wraps [ErrNobodyReads] for a pipe without a reader.
func Write(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNobodyReads}
	}
	return f, err
}
