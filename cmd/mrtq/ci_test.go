package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"mrtq/harness"
)

var ciCommand = regexp.MustCompile(`(?m)^ +(?:- )?(mrtq .*)$`)

// TestCIPage: the commands of the pipelines in docs/ci.md succeed as they stand there.
func TestCIPage(t *testing.T) {
	page := value(os.ReadFile("../../docs/ci.md"))(t)
	var commands []string
	for _, m := range ciCommand.FindAllStringSubmatch(string(page), -1) {
		commands = append(commands, m[1])
	}
	slices.Sort(commands)
	if commands = slices.Compact(commands); len(commands) != 3 {
		t.Fatalf("%q", commands)
	}
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	dir := t.TempDir()
	for name, text := range map[string]string{"worker": "#!/bin/sh\nexec mrtq driver\n", "worker.known": "# none\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	legacy := value(filepath.Abs("../../features/testdata/deployed.ndjson"))(t)
	for _, command := range append([]string{"mrtq restore $STAGING --in " + legacy}, commands...) {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "STAGING="+server.Address())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
