package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mrtq/migrate"
)

// Several migrations write to one quarantine file at the same time, each in its own process,
// with its own source and target. The file ends with the bytes that all of them kept.
func TestQuarantineOfManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const processes, each = 8, 200
	path := func(p, n int) string { return fmt.Sprintf("/ingest/mrtQ-05%05d%05d", p, n) }
	for p := range processes {
		var dump strings.Builder
		dump.WriteString(`{"path":"/ingest","data":""}` + "\n")
		for n := range each {
			fmt.Fprintf(&dump, `{"path":%q,"data":%q}`+"\n", path(p, n), base64.StdEncoding.EncodeToString([]byte("bad")))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.ndjson", p)), []byte(dump.String()), 0o600))
	}
	var all sync.WaitGroup
	for p := range processes {
		all.Go(func() {
			cmd := exec.Command("mrtq", "migrate", fmt.Sprintf("file:%d.ndjson", p), fmt.Sprintf("file:new%d.ndjson", p),
				"--new-queue", "--dialect", "design", "--undecodable", "quarantine", "--quarantine", "shared.ndjson")
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "200, kept in shared.ndjson") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	kept := value(migrate.ReadQuarantine(filepath.Join(dir, "shared.ndjson")))(t)
	lost := 0
	for p := range processes {
		for n := range each {
			if len(kept[path(p, n)]) == 0 {
				lost++
			}
		}
	}
	if lost > 0 {
		t.Errorf("the bytes of %d of %d records are lost", lost, processes*each)
	}
}
