package migrate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A quarantine file is a dump (one JSON object a line, so that mrtq inspect
// and mrtq restore read it) of the records that could not be decoded, each
// with the reason beside its bytes.
type quarantineLine struct {
	Path  string           `json:"path"`
	Data  *[]byte          `json:"data"`
	Error *quarantineError `json:"error"`
}

type quarantineError struct {
	Kind    legacy.Kind `json:"kind"`
	Offset  int         `json:"offset"`
	Message string      `json:"message"`
}

// Quarantined are the records of a source that could not be decoded.
func Quarantined(src *Source) []Record {
	var bad []Record
	for _, r := range src.Records {
		if r.Err != nil {
			bad = append(bad, r)
		}
	}
	return bad
}

// WriteQuarantine adds the records to a quarantine file. Records that the file
// holds already, with the same bytes, are not added again; nothing is removed.
func WriteQuarantine(path string, records []Record, write func(path string, f func(io.Writer) error) error) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("quarantine file: %w", err)
	}
	kept := map[string][][]byte{}
	if len(old) > 0 {
		if kept, err = ReadQuarantine(path); err != nil {
			return err
		}
	}
	err = write(path, func(w io.Writer) error {
		if _, err := w.Write(old); err != nil {
			return err
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range records {
			if holds(kept, r) {
				continue
			}
			l := quarantineLine{Path: r.Path, Error: &quarantineError{r.Err.Kind, r.Err.Offset, r.Err.Error()}}
			if r.Data != nil {
				l.Data = &r.Data
			}
			if err := enc.Encode(l); err != nil {
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

// holds reports whether the record's bytes are among those kept.
func holds(kept map[string][][]byte, r Record) bool {
	return slices.ContainsFunc(kept[r.Path], func(data []byte) bool { return znode.SameData(data, r.Data) })
}

// ReadQuarantine reads the bytes that a quarantine file keeps, by path: all
// that a record ever had when it was added.
func ReadQuarantine(path string) (map[string][][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("quarantine file: %w", err)
	}
	defer f.Close()
	kept := map[string][][]byte{}
	dec := json.NewDecoder(bufio.NewReader(f))
	for {
		var l quarantineLine
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			return kept, nil
		}
		if err != nil || l.Path == "" {
			return nil, fmt.Errorf("quarantine file %s: at byte %d: want one {\"path\":…,\"data\":…} a line; repair it, or give another --quarantine file: %w", path, dec.InputOffset(), err)
		}
		var data []byte
		if l.Data != nil {
			data = *l.Data
		}
		kept[l.Path] = append(kept[l.Path], data)
	}
}
