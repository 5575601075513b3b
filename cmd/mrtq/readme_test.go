package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/harness"
)

// TestReadmeScreens: the commands of README, of the page about the output and of the practice page run as they
// stand there, one after the other, and print what the pages say. -update takes the screens again.
func TestReadmeScreens(t *testing.T) {
	t.Parallel()
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	_, port, err := net.SplitHostPort(server.Address())
	must(t, err)
	terminal := newPageTerminal(t, "localhost:"+port)
	must(t, os.CopyFS(filepath.Join(terminal.dir, "features/testdata"), os.DirFS("../../features/testdata")))
	if said, code := terminal.run(t, "export SAMPLES=features/testdata; mrtq restore "+pageServer+" --in features/testdata/deployed.ndjson"); code != 0 {
		t.Fatal(said)
	}
	for path, least := range map[string]int{"../../README.md": 5, "../../docs/output.md": 6, "../../docs/practice.md": 2} {
		text := value(os.ReadFile(path))(t)
		page := string(text)
		screens := pageScreens(page)
		if len(screens) < least {
			t.Errorf("%s has %d blocks of commands", path, len(screens))
		}
		printed := make([]string, len(screens))
		for i, s := range screens {
			if strings.HasPrefix(s.commands, "make ") {
				continue // .ci/run does this
			}
			got, code := terminal.run(t, s.commands)
			if printed[i] = got; code != 0 || !*update && s.shown && !s.matches(got) {
				t.Errorf("%s\nexit code %d, prints\n%s\n%s has\n%s", s.commands, code, got, path, s.want)
			}
		}
		if *update && !t.Failed() {
			must(t, os.WriteFile(path, []byte(updated(page, screens, printed)), 0o600))
		}
	}
}
