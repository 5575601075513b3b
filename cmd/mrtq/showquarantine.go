package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

// quarantined says why a record was not migrated, and which file keeps its bytes.
type quarantined struct {
	Kind    legacy.Kind `json:"kind"`
	Message string      `json:"message"`
	File    string      `json:"file"` // the file that was read; "" if none is known
	Kept    bool        `json:"kept"` // the file holds the record's bytes
}

// inQuarantine reports whether an item is a record that was not migrated because it
// can't be decoded.
func inQuarantine(it *migrate.Item) bool {
	return it.Run == "" && it.Root == "" && it.Record != nil && it.Record.Err != nil
}

// lookIntoQuarantine looks for a record's bytes in the given quarantine file, or else in
// the default one, if it exists in this folder.
func lookIntoQuarantine(r migrate.Record, file string, target endpoint) (*quarantined, error) {
	q := &quarantined{Kind: r.Err.Kind, Message: r.Err.Error(), File: file}
	if name := quarantineFile(target); file == "" && regular(name) {
		q.File = name
	}
	if q.File == "" {
		return q, nil
	}
	kept, err := migrate.ReadQuarantine(q.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return q, nil
	case errors.Is(err, migrate.ErrQuarantineFile):
		return nil, usageError("--quarantine %s %w; give another file", q.File, migrate.ErrQuarantineFile)
	case err != nil:
		return nil, fmt.Errorf("show: %w", err)
	}
	q.Kept = slices.ContainsFunc(kept[r.Path], func(data []byte) bool { return znode.SameData(data, r.Data) })
	return q, nil
}

// where says where the bytes are kept.
func (q *quarantined) where() string {
	switch {
	case q.File == "":
		return "Which file keeps its bytes is unknown: give the file that migrate named, with --quarantine FILE"
	case q.Kept:
		return q.File + " keeps its bytes"
	}
	return fmt.Sprintf("%s does not hold its bytes: run the same mrtq migrate again with --quarantine %s, which adds them", q.File, shellWord(q.File))
}
