package openfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Replace gives a regular file new content, or makes the file. It writes the content
// to a file beside it, and renames that in the end. So if write fails, or the process
// is killed, the file does not change. A symbolic link stays: the file that it points
// to is replaced. A new file can be read by its owner only.
func Replace(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	folder := filepath.Dir(path)
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(folder), renameio.WithExistingPermissions())
	if err != nil {
		if perr := (*fs.PathError)(nil); errors.As(err, &perr) {
			perr.Path = path // the user does not know the temporary file
		}
		return err
	}
	defer f.Cleanup() // once the file is replaced, there is nothing to clean up
	if err := write(f); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(folder)
}

// syncDir makes sure that a rename survives a power failure.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
