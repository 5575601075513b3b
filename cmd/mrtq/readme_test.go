package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/harness"
)

// The screens in README are what its commands print, one after the other on one server.
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
	terminal := newPageTerminal(t, "localhost:"+port)
	corpus, err := filepath.Abs("../../features/testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if said, code := terminal.run(t, "mrtq restore "+pageServer+" --in "+corpus); code != 0 {
		t.Fatal(said)
	}
	screens := pageScreens(string(text))
	if len(screens) != 5 {
		t.Errorf("README has %d screens, want one of inspect, plan, migrate, verify and rollback each", len(screens))
	}
	for _, s := range screens {
		s.want = strings.TrimSpace(s.want) + "\n"
		if got, _ := terminal.run(t, s.command); !s.matches(got) {
			t.Errorf("$ %s\nprints\n%s\nREADME has\n%s", s.command, got, s.want)
		}
	}
}
