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
	text := value(os.ReadFile("../../README.md"))(t)
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	_, port, err := net.SplitHostPort(server.Address())
	must(t, err)
	terminal := newPageTerminal(t, "localhost:"+port)
	must(t, os.CopyFS(filepath.Join(terminal.dir, "features/testdata"), os.DirFS("../../features/testdata")))
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
	queue := value(legacyqueue.Deployed())(t)
	var want bytes.Buffer
	must(t, znode.WriteDump(&want, queue))
	goldenfile.Compare(t, "../../features/testdata/deployed.ndjson", want.String(), *update)
}
