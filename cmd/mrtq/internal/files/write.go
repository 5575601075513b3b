// Package files has what commands do with the files that an operator names: they refuse to
// destroy one, they say what to do if one is missing, and they replace it as a whole.
package files

import (
	"compress/gzip"
	"io"
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
	content := write
	if IsGzip(path) {
		content = func(w io.Writer) error {
			z := gzip.NewWriter(w)
			if err := write(z); err != nil {
				return err
			}
			return z.Close()
		}
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return writeDevice(path, content)
	}
	return openfile.Replace(path, content)
}

// writeDevice writes to a file that can't be replaced: a device or a pipe.
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
