package main

import (
	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/help"
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
			err := help.WritePages(cmd.Root(), args[0])
			if err == nil {
				a.Conclude(screen.Good, "Man: the pages are in %s.", args[0])
			}
			return err
		},
	}
}
