package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// An exit code means the same in every command: 2 if the command line is wrong or a file that it names is not there, 3 if
// the environment failed or a file is damaged, 1 if there is no new queue.
func TestCodesMeanTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	none, damaged := filepath.Join(dir, "none"), file("damaged", "\x1f\x8b no such thing")
	legacyDump := "file:" + file("legacy.ndjson", oneRecord)
	for cause, of := range map[string]struct {
		place string // SOURCE or TARGET
		flag  string // only commands that have it
		value string
		code  int
		not   []string // commands for which the cause means something else
	}{
		"no server":                     {"localhost:1", "", "", 3, nil},
		"no dump":                       {"file:" + none, "", "", 2, nil},
		"a damaged dump":                {"file:" + damaged, "", "", 3, []string{"restore"}},
		"no new queue":                  {legacyDump, "", "", 1, []string{"inspect", "check", "dump", "plan", "migrate", "rehearse", "restore"}},
		"no authorities":                {"localhost:1", "tls-ca", none, 2, nil},
		"a certificate without its key": {"localhost:1", "tls-cert", damaged, 2, nil},
		"damaged authorities":           {"localhost:1", "tls-ca", damaged, 3, nil},
		"no credentials":                {"localhost:1", "auth-file", none, 2, nil},
		"a negative --max-rate":         {"localhost:1", "max-rate", "-1", 2, nil},
		"no time":                       {"localhost:1", "timeout", "0s", 2, nil},
		"no saved plan":                 {"", "plan", none, 2, nil},
		"a damaged plan":                {"", "plan", damaged, 3, nil},
		"no dump to restore":            {"localhost:1", "in", none, 2, nil},
		"a damaged dump to restore":     {"localhost:1", "in", damaged, 3, nil},
		"a folder of --out that is not": {legacyDump, "out", none + "/x", 2, nil},
	} {
		t.Run(cause, func(t *testing.T) {
			t.Parallel()
			for _, c := range newRoot().Commands() {
				if c.Flag("max-rate") == nil && !slices.Contains([]string{"hold", "show"}, c.Name()) || slices.Contains(of.not, c.Name()) ||
					of.flag != "" && c.Flag(of.flag) == nil && c.InheritedFlags().Lookup(of.flag) == nil {
					continue
				}
				args := commandAt(c, of.place, legacyDump)
				if of.flag != "" {
					args = append(args, "--"+of.flag, of.value)
				}
				if of.place == "localhost:1" && of.flag != "timeout" {
					args = append(args, "--timeout", "200ms")
				}
				if code, says := runInProcess(args...); code != of.code {
					t.Errorf("%q: exit code %d, want %d: %s", args, code, of.code, says)
				}
			}
		})
	}
}

// commandAt is a command with what it needs, at a place; "" for none.
func commandAt(c *cobra.Command, place, dump string) []string {
	args := []string{c.Name()}
	if place != "" {
		args = append(args, place)
	}
	switch c.Name() {
	case "plan", "migrate":
		if place != "" {
			target := place + "/new"
			if strings.HasPrefix(place, "file:") {
				target = place + "-new"
			}
			args = append(args, target, "--dialect", "design", "--new-queue")
		}
	case "rehearse":
		args = append(args, "--dialect", "design")
	case "show":
		args = append(args, "ITEM")
	case "restore":
		args = append(args, "--in", strings.TrimPrefix(dump, "file:"))
	}
	return args
}
