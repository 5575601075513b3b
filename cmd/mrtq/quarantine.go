package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
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

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func quarantineFile(target place) string { return fileOf("mrtq-quarantine-", target) }

func defaultQuarantine(target place) string {
	if name := quarantineFile(target); files.IsRegular(name) {
		return name
	}
	return ""
}

func keptBytes(path string, target place) (map[string][][]byte, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, exit.Usagef("--quarantine %s: it is not a regular file. %s", path, wantQuarantine(target))
	}
	return readKept("quarantine file", path)
}

// readKept reads the bytes that a file keeps, by the path of their znode. A znode that was added with
// different bytes at different times has them all. A missing file is empty, because it is created only for the
// first znode.
func readKept(what, path string) (map[string][][]byte, error) {
	kept := map[string][][]byte{}
	file, err := files.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil {
		err = znode.ScanDump(bytes.NewReader(file), func(n znode.Node) error {
			kept[n.Path] = append(kept[n.Path], n.Data)
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, path, err)
	}
	return kept, nil
}

// quarantineLine is one record in a quarantine file, with its bytes and the reason why it could not be decoded. The
// file is a dump, one JSON object a line, so every program that reads dumps can read it.
type quarantineLine struct {
	Path  string          `json:"path"`
	Data  []byte          `json:"data"`
	Error quarantineError `json:"error"`
}

type quarantineError struct {
	Kind    legacy.Kind `json:"kind"`
	Offset  int         `json:"offset"`
	Message string      `json:"message"`
}

// writeQuarantine adds records to a quarantine file. It doesn't add a record again that the file already has with the
// same bytes, and it removes nothing.
func writeQuarantine(path string, records []migration.Record) error {
	kept, err := readKept("quarantine file", path)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(slices.Clone(records), func(r migration.Record) bool {
		return slices.ContainsFunc(kept[r.Path], func(data []byte) bool { return znode.SameData(data, r.Data) })
	})
	if len(records) == 0 {
		return nil
	}
	err = files.Add(path, func(w io.Writer) error {
		for _, r := range records {
			if err := screen.WriteJSONLine(w, quarantineLine{r.Path, r.Data, quarantineError{r.Err.Kind, r.Err.Offset, r.Err.Error()}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("quarantine file: %w", err)
	}
	return nil
}

func wantQuarantine(target place) string {
	return "mrtq migrate wrote " + quarantineFile(target) + " in the folder where it ran, unless you gave it another --quarantine: give that file"
}
