package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"mrtq/cmd/mrtq/internal/exit"
)

// Unread returns the error of reading a file that a flag or an argument names. If the file is
// missing or is of another kind, it is a usage error. by names the flag and the file.
func Unread(by string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		return exit.Usagef("%s: %w; check the path", by, reason(err))
	}
	return fmt.Errorf("%s: %w", by, reason(err))
}

func reason(err error) error {
	if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
		return perr.Err
	}
	return err
}
