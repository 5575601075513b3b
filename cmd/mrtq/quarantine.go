package main

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/migrate"
)

// fileOf is the default name of a file that a command keeps about a target. It contains the
// target's name. So two migrations rarely share a file, and a command that is run again uses
// the same file.
func fileOf(prefix string, target place) string {
	name := target.Text
	if target.File != "" {
		name = strings.TrimSuffix(strings.TrimSuffix(target.File, ".gz"), ".ndjson")
	}
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-.")
	return prefix + name + ".ndjson"
}

// unfit are characters that a file's name should not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// quarantineFile is the default name of a migration's quarantine file.
func quarantineFile(target place) string { return fileOf("mrtq-quarantine-", target) }

// defaultQuarantine is the default quarantine file, if it is in this folder, else "".
func defaultQuarantine(target place) string {
	if name := quarantineFile(target); files.IsRegular(name) {
		return name
	}
	return ""
}

// keptBytes reads a quarantine file. It is nil if no file is given. A missing file counts as
// empty, because migrate creates it only for the first record.
func keptBytes(path string, target place) (map[string][][]byte, error) {
	if path == "" {
		return nil, nil
	}
	kept, err := migrate.ReadQuarantine(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string][][]byte{}, nil
	case errors.Is(err, migrate.ErrQuarantineFile):
		return nil, exit.Usagef("--quarantine %s: it is not a regular file. %s", path, wantQuarantine(target))
	}
	return kept, err
}

// wantQuarantine says which file to give.
func wantQuarantine(target place) string {
	return "mrtq migrate wrote " + quarantineFile(target) + " in the folder where it ran, unless you gave it another --quarantine: give that file"
}
