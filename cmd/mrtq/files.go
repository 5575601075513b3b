package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"mrtq/internal/openfile"
	"mrtq/internal/znode"
)

// isGzip reports whether a file is a gzip file, by its name.
func isGzip(path string) bool { return strings.HasSuffix(path, ".gz") }

// errLacking follows the path of a znode that a dump lacks.
var errLacking = errors.New("which could not be read when it was made: make another one with credentials that may read everything")

// readDump reads a complete dump from a file; see [readLackingDump].
func readDump(path string) (*znode.Tree, error) {
	tree, err := readLackingDump(path)
	if err != nil {
		return nil, err
	}
	if lacks := tree.Unreadable(); len(lacks) > 0 {
		return nil, fmt.Errorf("the dump lacks the data of %s, %w", lacks[0].Path, errLacking)
	}
	return tree, nil
}

// readLackingDump reads a dump from a file, and unpacks it if its name ends in .gz.
// Znodes may be marked as unreadable. The caller adds the file's name to errors.
func readLackingDump(path string) (*znode.Tree, error) {
	f, err := openfile.Read(path)
	if err != nil {
		return nil, unnamed(err)
	}
	defer f.Close()
	var r io.Reader = f
	if isGzip(path) {
		z, err := openfile.Unpack(f)
		if err != nil {
			return nil, unnamed(err)
		}
		defer z.Close()
		r = z
	}
	tree, err := znode.ReadDump(r)
	return tree, unnamed(err)
}

// unnamed returns an error about a file without the operation and the file's name.
func unnamed(err error) error {
	if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
		return perr.Err
	}
	return err
}

// writeFile gives a file new content, with gzip if its name ends in .gz. It replaces
// the file as a whole: if write fails, the file does not change.
func writeFile(path string, write func(io.Writer) error) error {
	content := write
	if isGzip(path) {
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
