package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// named is a file of a command, with the flag or argument that named it.
type named struct {
	by, path string
	// kept is true if a later run adds to the file or reads it, so that it must be
	// a regular file.
	kept bool
	// folders are those of a data directory, in which mrtq must not write.
	folders []string
}

// written are a side's file, if it is one that a command writes to.
func (e endpoint) written(by string) named { return named{by: by, path: e.file, kept: true} }

// read is a side's file, or its folders, if it is one.
func (e endpoint) read(by string) named {
	n := named{by: by, path: e.file}
	if e.data != nil {
		n.folders = e.data.Dirs()
	}
	return n
}

// apart refuses to write to a file that the command also reads, and to write two
// things to one file, because that often destroys the source. It refuses stdout for
// what must be a file. It runs before anything is read. It ignores empty paths.
func (a *app) apart(writes []named, reads ...named) error {
	reads = append(reads,
		named{by: "--config", path: a.settingsFile},
		named{by: "--auth-file", path: a.conn.authFile},
		named{by: "--tls-ca", path: a.conn.tls.CA},
		named{by: "--tls-cert", path: a.conn.tls.Cert},
		named{by: "--tls-key", path: a.conn.tls.Key},
	)
	for i, w := range writes {
		switch w.path {
		case "":
			continue
		case stdoutName:
			return usageError("%s -: this is kept in a file, and can't go to stdout; name a file (./- is one of that name); nothing was read or written", w.by)
		}
		for _, other := range append(writes[:i:i], reads...) {
			for _, folder := range other.folders {
				if within(w.path, folder) {
					return usageError("%s %s would be written into the data directory %s of %s; name a file elsewhere; nothing was read or written", w.by, w.path, folder, other.by)
				}
			}
			if other.path != "" && sameFile(w.path, other.path) {
				return usageError("%s %s is the same file as %s %s, which would be overwritten; name another file; nothing was read or written", w.by, w.path, other.by, other.path)
			}
		}
		if info, err := os.Stat(w.path); w.kept && err == nil && !info.Mode().IsRegular() {
			return usageError("%s %s is not a regular file, so nothing can be kept in it; name another; nothing was read or written", w.by, w.path)
		}
		if err := writable(w.path); err != nil {
			return fmt.Errorf("%s %s can't be written: %w; nothing was read or written", w.by, w.path, err)
		}
	}
	return nil
}

// sameFile reports whether two paths lead to the same file, or will once it
// exists: written differently, or by a symbolic or hard link.
func sameFile(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if aerr == nil || berr == nil {
		return aerr == nil && berr == nil && os.SameFile(ai, bi)
	}
	a, b = linked(a), linked(b)
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	ai, aerr = os.Stat(filepath.Dir(a))
	bi, berr = os.Stat(filepath.Dir(b))
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}

// within reports whether a file is, or would be, in a data directory or the
// version-2 inside it.
func within(path, folder string) bool {
	at, err := os.Stat(filepath.Dir(linked(path)))
	if err != nil {
		return false
	}
	for _, f := range []string{folder, filepath.Join(folder, "version-2")} {
		if info, err := os.Stat(f); err == nil && os.SameFile(at, info) {
			return true
		}
	}
	return false
}

// linked resolves a path that may be a symbolic link to a file that does not
// exist yet.
func linked(path string) string {
	for range 40 { // as many as the system follows
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// writable says why a file can't be written. It is called before the work that the
// file is for, because hours of work could be lost. It does not check what is not
// a regular file, such as a pipe.
func writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unnamed(err)
	}
	path = linked(path)
	// As writeFile does.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("no file can be created in %s: %w", filepath.Dir(path), unnamed(err))
	}
	f.Close()
	return os.Remove(f.Name())
}
