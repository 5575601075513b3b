// Package files has what commands do with the files that an operator names: they refuse to
// destroy one, they say what to do if one is missing, and they replace it as a whole.
package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"mrtq/internal/openfile"
)

// IsGzip reports whether a file is a gzip file, by its name.
func IsGzip(path string) bool { return strings.HasSuffix(path, ".gz") }

// IsRegular reports whether path names a regular file.
func IsRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Write gives a file new content, with gzip if its name ends in .gz. It replaces
// the file as a whole: if write fails, the file does not change.
func Write(path string, write func(io.Writer) error) error {
	content := packed(path, write)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return writeDevice(path, content)
	}
	return openfile.Replace(path, content)
}

// Add is [Write], but a file that is there keeps its content, and what is written follows it.
func Add(path string, write func(io.Writer) error) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return openfile.Replace(path, func(w io.Writer) error {
		if _, err := w.Write(old); err != nil {
			return err
		}
		return packed(path, write)(w) // a gzip file may have several members
	})
}

func packed(path string, write func(io.Writer) error) func(io.Writer) error {
	if !IsGzip(path) {
		return write
	}
	return func(w io.Writer) error {
		z := gzip.NewWriter(w)
		if err := write(z); err != nil {
			return err
		}
		return z.Close()
	}
}

// Read returns the content of a file, unpacked if its name ends in .gz.
func Read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil || !IsGzip(path) {
		return content, err
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(z)
	}
	if err != nil {
		return nil, fmt.Errorf("this is no gzip file, or it was cut: %w", err)
	}
	return content, nil
}

func writeDevice(path string, write func(io.Writer) error) error {
	f, err := openfile.Write(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
