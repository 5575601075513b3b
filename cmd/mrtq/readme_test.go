package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"testing"

	"mrtq/harness"
	"mrtq/internal/goldenfile"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

// TestReadmeScreens: the commands of README and of the practice page run as they stand there, one
// after the other on one server, and print what the pages say.
func TestReadmeScreens(t *testing.T) {
	t.Parallel()
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	_, port, err := net.SplitHostPort(server.Address())
	must(t, err)
	terminal := newPageTerminal(t, "localhost:"+port)
	must(t, os.CopyFS(filepath.Join(terminal.dir, "features/testdata"), os.DirFS("../../features/testdata")))
	if said, code := terminal.run(t, "mrtq restore "+pageServer+" --in features/testdata/deployed.ndjson"); code != 0 {
		t.Fatal(said)
	}
	for page, least := range map[string]int{"README.md": 6, "docs/practice.md": 2} {
		text := value(os.ReadFile("../../" + page))(t)
		screens := pageScreens(string(text))
		if len(screens) < least {
			t.Errorf("%s has %d blocks of commands", page, len(screens))
		}
		for _, s := range screens {
			if got, code := terminal.run(t, s.commands); code != 0 || s.shown && !s.matches(got) {
				t.Errorf("%s\nexit code %d, prints\n%s\n%s has\n%s", s.commands, code, got, page, s.want)
			}
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
