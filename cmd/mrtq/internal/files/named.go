package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mrtq/cmd/mrtq/internal/exit"
)

// Named is a file that a command reads or writes, with the flag or argument that
// names it.
type Named struct {
	By, Path string
	// Regular is true if a later run adds to the file or reads it, so that it must be
	// a regular file.
	Regular bool
	// New is true if the file must not be there yet: somebody may need the one that is.
	New bool
}

// Check refuses to write to a file that the command also reads, and to write two
// things to one file, because that would destroy one of them. It also refuses to replace
// a file that must be new, and stdout instead of a file. It runs before anything is read, and ignores empty paths.
func Check(writes, reads []Named) error {
	for i, w := range writes {
		switch w.Path {
		case "":
			continue
		case "-":
			return exit.Usagef("%s -: give the name of a file, or ./- for a file with the name -; nothing was read or written", w.By)
		}
		for _, other := range append(writes[:i:i], reads...) {
			if other.Path != "" && Same(w.Path, other.Path) {
				return exit.Usagef("%s %s is the same file as %s %s, which would be overwritten; give another file; nothing was read or written", w.By, w.Path, other.By, other.Path)
			}
		}
		if w.New && IsRegular(w.Path) {
			return exit.Usagef("%s %s: the file exists; give another name, or --force to replace it; nothing was read or written", w.By, w.Path)
		}
		if info, err := os.Stat(w.Path); w.Regular && err == nil && !info.Mode().IsRegular() {
			return exit.Usagef("%s %s is not a regular file, so it can't keep anything; give another file; nothing was read or written", w.By, w.Path)
		}
		err := checkWritable(w.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return exit.Usagef("%s %s can't be written: %w; check the path; nothing was read or written", w.By, w.Path, err)
		}
		if err != nil {
			return fmt.Errorf("%s %s can't be written: %w; nothing was read or written", w.By, w.Path, err)
		}
	}
	return nil
}

// Same reports whether two paths are those of one file, which may not exist yet: two
// spellings, or a symbolic or hard link.
func Same(a, b string) bool {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	if aerr == nil || berr == nil {
		return aerr == nil && berr == nil && os.SameFile(ai, bi)
	}
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	ai, aerr = os.Stat(filepath.Dir(a))
	bi, berr = os.Stat(filepath.Dir(b))
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
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
		return reason(err)
	}
	// Create a file in the folder, as [Write] does.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("no file can be created in %s: %w", filepath.Dir(path), reason(err))
	}
	f.Close()
	return os.Remove(f.Name())
}
