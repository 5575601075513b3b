package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"mrtq/cmd/mrtq/internal/exit"
)

// What to do if a file is missing.
const (
	MakeDump   = "check the path; mrtq dump SOURCE --out FILE makes a dump"
	MakeTarget = "check the path; mrtq migrate makes the file of a TARGET"
	MakePlan   = "check the path; mrtq plan SOURCE TARGET --out FILE makes a plan"
	CheckPath  = "check the path"
)

// missingError says that a given file or folder is missing, or is of another kind.
type missingError struct {
	says, next string
	err        error
}

func (e *missingError) Error() string { return e.says + "; " + e.next }
func (e *missingError) Unwrap() error { return e.err }

// Missing turns err into a usage error if the file is missing or is a folder. by is the flag
// or argument that names the file, and next says what to do. For any other error, Missing
// returns nil.
func Missing(by, path string, err error, next string) error {
	says := ""
	switch folder := filepath.Dir(path); {
	case errors.Is(err, fs.ErrNotExist):
		says = "there is no such file"
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			says = "there is no folder " + folder
		}
	case errors.Is(err, syscall.ENOTDIR):
		says = folder + " is not a folder"
	case errors.Is(err, syscall.EISDIR):
		says = "this is a folder, and a file is expected"
	default:
		return nil
	}
	return exit.Usagef("%s: %w", by, &missingError{says, next, err})
}

// MissingFolder does what [Missing] does, for the folders of a data directory.
func MissingFolder(by string, folders []string, err error) error {
	for _, dir := range folders {
		if _, serr := os.Stat(dir); errors.Is(serr, fs.ErrNotExist) {
			return exit.Usagef("%s: %w", by, &missingError{"there is no folder " + dir, "check the path; give the server's dataDir, or a copy of it", err})
		}
	}
	return nil
}

// Unnamed returns an error about a file without the operation and the file's name.
func Unnamed(err error) error {
	if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
		return perr.Err
	}
	return err
}
