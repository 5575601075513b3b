package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// What to do if a file is missing.
const (
	makeDump   = "check the path; mrtq dump SOURCE --out FILE makes a dump"
	makeTarget = "check the path; mrtq migrate makes the file of a TARGET"
	makePlan   = "check the path; mrtq plan SOURCE TARGET --out FILE makes a plan"
)

// noFileError says that a given file or folder is missing, or is of another kind.
type noFileError struct {
	says, next string
	err        error
}

func (e *noFileError) Error() string { return e.says + "; " + e.next }
func (e *noFileError) Unwrap() error { return e.err }

// noFile turns err into a usage error if the file is missing or is a folder. by is the flag
// or argument that names the file, and next says what to do. For any other error, noFile
// returns nil.
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

// noFolder does what noFile does, for the folders of a data directory.
func noFolder(e endpoint, err error) error {
	for _, dir := range e.data.Dirs() {
		if _, serr := os.Stat(dir); errors.Is(serr, fs.ErrNotExist) {
			return &coded{exitUsage, fmt.Errorf("%s: %w", e.text, &noFileError{"there is no folder " + dir, "check the path; give the server's dataDir, or a copy of it", err})}
		}
	}
	return nil
}
