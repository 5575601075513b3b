package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/features"
	"mrtq/internal/znode"
)

// A plan of 200 ordinary records fits a terminal of 80 columns and 40 lines.
func TestPlanFitsTheScreen(t *testing.T) {
	t.Parallel()
	one := value(znode.ReadDump(strings.NewReader(features.Deployed)))(t).Get("/ingest/mrtQ-05000000000001")
	queue := znode.NewTree()
	for i := range 200 {
		id := fmt.Sprintf("%08d-", 1000+i)
		must(t, queue.Put(znode.Node{Path: fmt.Sprintf("/ingest/mrtQ-05000000%06d", 1000+i), Data: bytes.ReplaceAll(one.Data, []byte("00000001-"), []byte(id))}))
	}
	dir := t.TempDir()
	f := value(os.Create(filepath.Join(dir, "queue.ndjson")))(t)
	must(t, znode.WriteDump(f, queue))
	must(t, f.Close())
	text, err := terminalRun{columns: 80}.run(t, dir, strings.Fields("plan file:queue.ndjson file:new.ndjson --new-queue --dialect mrt-zk --failed held")...)
	shown := strings.TrimSpace(shownOn(strings.ReplaceAll(text, "\r\n", "\n")))
	if n := strings.Count(shown, "\n") + 1; err != nil || n > 40 || !strings.Contains(shown, "all         200") {
		t.Errorf("%v; %d lines:\n%s", err, n, shown)
	}
}
