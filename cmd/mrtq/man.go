package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"mrtq/cmd/mrtq/internal/screen"
)

func (a *app) manCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "write the man pages",
		Long: `Write a man page for mrtq and for each of its commands to a folder. The folder is
created if it doesn't exist. The pages say the same as --help.`,
		Example: `  mrtq man /usr/local/share/man/man1`,
		Args:    args("FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true // no date: the same version gives the same pages
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			header := &doc.GenManHeader{Title: "MRTQ", Section: "1", Source: "mrtq " + root.Version, Manual: "mrtq"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			a.Conclude(screen.Good, "Man: the pages are in %s.", args[0])
			return nil
		},
	}
}
