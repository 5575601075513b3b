package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// namedFile is a file that a command reads or writes, with the flag or argument that
// names it.
type namedFile struct {
	by, path string
	// kept is true if a later run adds to the file or reads it, so that it must be
	// a regular file.
	kept bool
	// folders are those of a data directory, in which mrtq must not write.
	folders []string
}

// written is the file of an endpoint that a command writes to. Its path is "" if the
// endpoint is no file.
func (e endpoint) written(by string) namedFile { return namedFile{by: by, path: e.file, kept: true} }

// read is the file or the folders of an endpoint that a command reads.
func (e endpoint) read(by string) namedFile {
	n := namedFile{by: by, path: e.file}
	if e.data != nil {
		n.folders = e.data.Dirs()
	}
	return n
}

// checkFiles refuses to write to a file that the command also reads, and to write two
// things to one file, because that would destroy one of them. It also refuses stdout
// instead of a file. It runs before anything is read, and ignores empty paths.
func (a *app) checkFiles(writes []namedFile, reads ...namedFile) error {
	reads = append(reads,
		namedFile{by: "--config", path: a.settingsFile},
		namedFile{by: "--auth-file", path: a.conn.authFile},
		namedFile{by: "--tls-ca", path: a.conn.tls.CA},
		namedFile{by: "--tls-cert", path: a.conn.tls.Cert},
		namedFile{by: "--tls-key", path: a.conn.tls.Key},
	)
	for i, w := range writes {
		switch w.path {
		case "":
			continue
		case stdoutName:
			return usageError("%s -: this must be a file, and can't be stdout; give the name of a file (./- is a file with the name -); nothing was read or written", w.by)
		}
		for _, other := range append(writes[:i:i], reads...) {
			for _, folder := range other.folders {
				if within(w.path, folder) {
					return usageError("%s %s would be written into the data directory %s of %s; give a file elsewhere; nothing was read or written", w.by, w.path, folder, other.by)
				}
			}
			if other.path != "" && sameFile(w.path, other.path) {
				return usageError("%s %s is the same file as %s %s, which would be overwritten; give another file; nothing was read or written", w.by, w.path, other.by, other.path)
			}
		}
		if info, err := os.Stat(w.path); w.kept && err == nil && !info.Mode().IsRegular() {
			return usageError("%s %s is not a regular file, so it can't keep anything; give another file; nothing was read or written", w.by, w.path)
		}
		if err := checkWritable(w.path); err != nil {
			return fmt.Errorf("%s %s can't be written: %w; nothing was read or written", w.by, w.path, err)
		}
	}
	return nil
}

// sameFile reports whether two paths are those of one file, which may not exist yet: two
// spellings, or a symbolic or hard link.
func sameFile(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if aerr == nil || berr == nil {
		return aerr == nil && berr == nil && os.SameFile(ai, bi)
	}
	a, b = resolveLink(a), resolveLink(b)
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
	at, err := os.Stat(filepath.Dir(resolveLink(path)))
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

// resolveLink follows a path that may be a symbolic link to a file that does not exist
// yet.
func resolveLink(path string) string {
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

// checkWritable says why a file can't be written. It is called before the work begins,
// because otherwise hours of work could be lost. It does not check devices and pipes.
func checkWritable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("it is a folder")
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unnamed(err)
	}
	path = resolveLink(path)
	// Create a file in the folder, as writeFile does.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("no file can be created in %s: %w", filepath.Dir(path), unnamed(err))
	}
	f.Close()
	return os.Remove(f.Name())
}
