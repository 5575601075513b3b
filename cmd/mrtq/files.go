package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	// Write the file that a symbolic link points to, not the link.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceFile(path, 0o600, content)
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return replaceFile(path, info.Mode().Perm(), content)
	}
	return writeDevice(path, content)
}

// replaceFile writes a file beside path, and renames it to path.
func replaceFile(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
			perr.Path = path // the user does not know the temporary file
		}
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes sure that a rename survives a power failure.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
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
