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

// version is the -o json of version.
type version struct {
	Version  string `json:"version"` // of the release, or of the module, or "devel"
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`     // of the revision
	Modified bool   `json:"modified,omitempty"` // files had changed since the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisVersion is what the executable says about its build.
func thisVersion() version {
	v := version{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v version) String() string {
	s := "mrtq " + v.Version
	if v.Revision != "" {
		s += ", revision " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			s += " with changes"
		}
	}
	return fmt.Sprintf("%s, %s, %s", s, v.Go, v.Platform)
}

func (a *app) versionCmd() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Long: `Print the release of mrtq, or the revision that it was built from, the version of Go,
and the platform. mrtq --version prints the same.`,
		Example: `  mrtq version`,
		Args:    args(),
		RunE: func(*cobra.Command, []string) error {
			if output == "json" {
				return a.JSON(thisVersion())
			}
			a.Println(thisVersion())
			return nil
		},
	}
	outputFlag(cmd.Flags(), &output, "json")
	return cmd
}
