package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of a release, set when one is built
// (-ldflags '-X main.release=v1.2.3').
var release string

// built is what this mrtq is, and what it was built with.
type built struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() built {
	b := built{release, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && b.Version == "" {
		b.Version = info.Main.Version
	}
	return b
}

func (b built) String() string {
	return fmt.Sprintf("mrtq %s, %s, %s/%s", b.Version, b.Go, b.OS, b.Arch)
}

func (a *app) versionCmd() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use: "version", Short: "print the version",
		Long: "Print the version of mrtq, and of the Go that built it.", Example: "  mrtq version", Args: args(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "json" {
				a.JSON(thisBuild())
				return nil
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild())
			return err
		},
	}
	outputFlag(cmd.Flags(), &output, "json")
	return cmd
}
