package help

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// WritePages writes a man page for a program and for each of its commands to a folder, which it
// creates if it doesn't exist. The error comes from writing.
func WritePages(root *cobra.Command, folder string) error {
	root.DisableAutoGenTag = true // no date: the same version gives the same pages
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	header := &doc.GenManHeader{Title: "MRTQ", Section: "1", Source: "mrtq " + root.Version, Manual: "mrtq"}
	return doc.GenManTree(root, header, folder)
}
