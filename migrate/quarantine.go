package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// quarantineLine is one record in a quarantine file, with its bytes and the reason why it
// could not be decoded. The file is a dump, one JSON object a line, so every program that
// reads dumps can read it.
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

// WriteQuarantine adds records to a quarantine file. It doesn't add a record again that the
// file already has with the same bytes, and it removes nothing. Writers of one file wait
// for each other, also in other processes. write gives the file new content, and may
// replace the file.
func WriteQuarantine(path string, records []Record, write func(path string, f func(io.Writer) error) error) error {
	if err := checkQuarantineFile(path); err != nil {
		return fmt.Errorf("quarantine file %w", err)
	}
	unlock, err := lockFile(path)
	if err != nil {
		return fmt.Errorf("quarantine file: %w", err)
	}
	defer unlock()
	kept, err := ReadQuarantine(path)
	if err != nil {
		return err
	}
	records = slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return isKept(kept, r) })
	if len(records) == 0 {
		return nil
	}
	err = addTo(path, write, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, r := range records {
			if err := enc.Encode(quarantineLine{r.Path, r.Data, quarantineError{r.Err.Kind, r.Err.Offset, r.Err.Error()}}); err != nil {
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

// AddToDump adds znodes to a dump that keeps what decisions remove. It removes nothing from the file. write gives the file new
// content, and may replace it.
func AddToDump(path string, nodes []znode.Node, write func(path string, f func(io.Writer) error) error) error {
	err := addTo(path, write, func(w io.Writer) error {
		d := znode.NewDumpWriter(w)
		for i := range nodes {
			if err := d.Write(&nodes[i]); err != nil {
				return err
			}
		}
		return d.Close()
	})
	if err != nil {
		return fmt.Errorf("file of removed znodes: %w", err)
	}
	return nil
}

// addTo gives a file its old content, if it is there, and what add writes.
func addTo(path string, write func(path string, f func(io.Writer) error) error, add func(io.Writer) error) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return write(path, func(w io.Writer) error {
		if _, err := w.Write(old); err != nil {
			return err
		}
		return add(w)
	})
}

// checkQuarantineFile refuses a path that is not a regular file and can't become one. The
// error wraps [ErrQuarantineFile].
func checkQuarantineFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w; name another", path, ErrQuarantineFile)
	}
	return nil
}

// lockFile locks a file until unlock is called. It creates the file if it isn't there. A
// caller that holds the lock may replace the file. So after lockFile gets a lock, it checks
// that the path still names the locked file.
func lockFile(path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			f.Close()
			return nil, err
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		named, err := os.Stat(path)
		if err == nil && os.SameFile(mine, named) {
			return func() { f.Close() }, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// flock waits for the lock, even if signals interrupt it.
func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// isKept reports whether the record's bytes are among those kept.
func isKept(kept map[string][][]byte, r Record) bool {
	return slices.ContainsFunc(kept[r.Path], func(data []byte) bool { return znode.SameData(data, r.Data) })
}

// ReadQuarantine reads the bytes that a quarantine file keeps, by the record's path. A
// record that was added with different bytes at different times has them all.
func ReadQuarantine(path string) (map[string][][]byte, error) {
	if err := checkQuarantineFile(path); err != nil {
		return nil, fmt.Errorf("quarantine file %w", err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("quarantine file: %w", err)
	}
	kept := map[string][][]byte{}
	err = znode.ScanDump(bytes.NewReader(file), func(n znode.Node) error {
		kept[n.Path] = append(kept[n.Path], n.Data)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("quarantine file %s: %w", path, err)
	}
	return kept, nil
}
