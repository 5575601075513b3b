package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mrtq/harness"
)

// readmeServer is the address of the disposable server in README.
const readmeServer = "localhost:2281"

// The screens in README are what its commands print, one after the other on one server. A
// line … stands for any number of lines.
func TestReadmeScreens(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	_, port, err := net.SplitHostPort(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	here := "localhost:" + port
	toHere := strings.NewReplacer(readmeServer, here, fileName(readmeServer), fileName(here))
	toReadme := strings.NewReplacer(here, readmeServer, fileName(here), fileName(readmeServer))
	corpus, err := filepath.Abs("../../features/testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mrtq := func(args ...string) string {
		cmd := exec.Command("mrtq", args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
		out, _ := cmd.CombinedOutput() // its last line says how it ended
		return string(out)
	}
	if said := mrtq("restore", here, "--in", corpus); !strings.Contains(said, "Restore: ") {
		t.Fatal(said)
	}
	screens := regexp.MustCompile("(?m)^\\$ mrtq (.*)\n((?:[^$`\n].*\n|\n[^$`])*)").FindAllStringSubmatch(string(text), -1)
	if len(screens) != 5 {
		t.Errorf("README has %d screens, want one of inspect, plan, migrate, verify and rollback each", len(screens))
	}
	for _, s := range screens {
		command, want := s[1], strings.TrimSpace(s[2])
		got := strings.TrimSpace(toReadme.Replace(mrtq(strings.Fields(toHere.Replace(command))...)))
		var parts []string
		for _, part := range strings.Split(varied(want), "…\n") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		if !regexp.MustCompile(`\A` + strings.Join(parts, `(?:.*\n)*`) + `\z`).MatchString(varied(got)) {
			t.Errorf("$ mrtq %s\nprints\n%s\nREADME has\n%s", command, got, want)
		}
	}
}

// fileName is an address as it is in the names of files.
func fileName(address string) string { return unfit.ReplaceAllString(address, "-") }

// varied replaces what differs from run to run by placeholders.
func varied(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}
