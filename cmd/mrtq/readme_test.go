package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/harness"
	"mrtq/internal/goldenfile"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
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
	if err := os.CopyFS(filepath.Join(terminal.dir, "features/testdata"), os.DirFS("../../features/testdata")); err != nil {
		t.Fatal(err)
	}
	if said, code := terminal.run(t, "mrtq restore "+pageServer+" --in features/testdata/deployed.ndjson"); code != 0 {
		t.Fatal(said)
	}
	screens := pageScreens(string(text))
	if len(screens) != 6 {
		t.Errorf("README has %d screens, want one of inspect, plan, rehearse, migrate, verify and rollback each", len(screens))
	}
	for _, s := range screens {
		s.want = strings.TrimSpace(s.want) + "\n"
		if got, _ := terminal.run(t, s.command); !s.matches(got) {
			t.Errorf("$ %s\nprints\n%s\nREADME has\n%s", s.command, got, s.want)
		}
	}
}

// The queue of README's screens is the one that the runbook and the scenarios use.
func TestDeployedQueue(t *testing.T) {
	queue, err := legacyqueue.Deployed()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := znode.WriteDump(&want, queue); err != nil {
		t.Fatal(err)
	}
	goldenfile.Compare(t, "../../features/testdata/deployed.ndjson", want.String(), *update)
}
