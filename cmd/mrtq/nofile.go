package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// What to do if a file is not there.
const (
	makeDump     = "check the path; mrtq dump SOURCE --out FILE makes a dump"
	migrateFirst = "check the path; mrtq migrate makes the file of a TARGET"
	makePlan     = "check the path; mrtq plan SOURCE TARGET --out FILE makes a plan"
)

// noFileError says that a file or folder that the user named is not there, or is of
// another kind.
type noFileError struct {
	says, next string
	err        error
}

func (e *noFileError) Error() string { return e.says + "; " + e.next }
func (e *noFileError) Unwrap() error { return e.err }

// noFile makes a usage error of err if the file that the user named by is not there or is a
// folder. next says what to do then. Otherwise it returns nil.
func noFile(by, path string, err error, next string) error {
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
		says = "this is a folder, and a file is wanted"
	default:
		return nil
	}
	return &coded{exitUsage, fmt.Errorf("%s: %w", by, &noFileError{says, next, err})}
}

// noFolder is noFile for the folders of a data directory.
func noFolder(e endpoint, err error) error {
	for _, dir := range e.data.Dirs() {
		if _, serr := os.Stat(dir); errors.Is(serr, fs.ErrNotExist) {
			return &coded{exitUsage, fmt.Errorf("%s: %w", e.text, &noFileError{"there is no folder " + dir, "check the path; give the server's dataDir, or a copy of it", err})}
		}
	}
	return nil
}
