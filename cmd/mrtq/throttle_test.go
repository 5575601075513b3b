package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/harness"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
)

// Apache's server can throttle: it refuses requests that have waited too long. Each command
// then waits for a while, and ends with the same result.
func TestServerThatThrottles(t *testing.T) {
	t.Parallel()
	server := harness.ForTest(t, harness.JVM, harness.Options{Properties: map[string]string{
		"request_throttle_max_requests": "2", "request_throttle_stall_time": "3", "throttled_op_wait_time": "25",
	}})
	queue := value(legacyqueue.Make(legacyqueue.Options{Records: 300, Seed: 1}))(t)
	path := filepath.Join(t.TempDir(), "queue.ndjson")
	f := value(os.Create(path))(t)
	must(t, znode.WriteDump(f, queue))
	must(t, f.Close())
	source, target := server.Address()+"/old", server.Address()+"/new"
	for _, step := range []struct{ args, verdict string }{
		{"restore " + source + " --in " + path, "Restore: done."},
		{"migrate --new-queue --dialect design " + source + " " + target, "Migrate: done."},
		{"verify " + target, "Verify: passed."},
		{"release " + target, "Release: done. 280 records handed over; "},
		{"verify " + target, "Verify: passed."},
		{"rollback " + target + " --yes", "Rollback: done. run0000000000 in " + target + ": "},
	} {
		var said bytes.Buffer
		if code := run(strings.Fields(step.args), &said, &said); code != 0 || !strings.Contains(said.String(), step.verdict) {
			t.Fatalf("mrtq %s: exit code %d\n%s", step.args, code, said.String())
		}
	}
}
