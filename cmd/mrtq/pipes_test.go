package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/exit"
)

// If the program that reads the output of a command that writes has ended, the command still
// ends its work, says on stderr what it did, and exits with 3.
func TestNobodyReadsTheOutput(t *testing.T) {
	t.Parallel()
	corpus := value(os.ReadFile("testdata/legacy.ndjson"))(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "new.ndjson"), corpus, 0o600))
	for _, c := range []struct{ args, did string }{
		{"migrate file:new.ndjson file:new.ndjson --new-queue --dialect design --consumed pending --undecodable quarantine --quarantine kept.ndjson",
			"Migrate: done. The new queues are held."},
		{"hold file:new.ndjson --by alice -o json", "Hold: done. Held by alice: ingest, accessSmall, accessLarge."},
		{"release file:new.ndjson --workers-stopped 3 --others -o json", "Release: done. 11 records handed over; 3 holds lifted"},
		{"rollback file:new.ndjson --yes -o json", "Rollback: done. run0000000000 in file:new.ndjson: 9 jobs"},
	} {
		r, w, err := os.Pipe()
		must(t, err)
		r.Close()
		cmd := exec.Command("mrtq", strings.Fields(c.args)...)
		cmd.Dir, cmd.Stdout = dir, w
		var stderr strings.Builder
		cmd.Stderr = &stderr
		_ = cmd.Run() // its exit code tells
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != exit.Environment || !strings.Contains(stderr.String(), "What the command did: "+c.did) {
			t.Errorf("%s: exit code %d: %s", c.args, code, stderr.String())
		}
	}
}
