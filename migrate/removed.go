package migrate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"mrtq/internal/znode"
)

// AddToDump adds znodes to a dump that keeps what decisions remove. It removes nothing from the file. write gives the file new
// content, and may replace it.
func AddToDump(path string, nodes []znode.Node, write func(path string, f func(io.Writer) error) error) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("file of removed znodes: %w", err)
	}
	err = write(path, func(w io.Writer) error {
		if _, err := w.Write(old); err != nil {
			return err
		}
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
