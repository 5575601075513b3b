//go:build unix

package minizk_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// TestFourLetterWords checks the values of the answers, of which the scenario of the words checks the
// lines, and what README.md says of them.
func TestFourLetterWords(t *testing.T) {
	s := run(t, minizk.Options{})
	old := raw(t, s)
	ask := func(word string) string {
		c := plain(t, s)
		write(t, c, []byte(word))
		return string(ended(t, c))
	}
	do(t, old, newNode("/a", "data", 1))
	do(t, old, jute.Request{Op: jute.OpExists, Path: "/b", Watch: true})
	for word, part := range map[string]string{
		"srvr": "\nReceived: 2\nSent: 2\nConnections: 2\nOutstanding: 0\nZxid: 0x2\nMode: standalone\nNode count: 6\n",
		"stat": "Clients:\n /127.0.0.1:",
		"mntr": "zk_znode_count\t6\nzk_ephemerals_count\t1\nzk_approximate_data_size\t49\nzk_watch_count\t1\n",
		"envi": "Environment:\nzookeeper.version=3.8.0-",
		"conf": "conf is not executed because it is not in the whitelist.\n",
	} {
		if got := ask(word); !strings.Contains(got, part) {
			t.Errorf("%s: %q is not in\n%s", word, part, got)
		}
	}
	var keys []string
	for line := range strings.Lines(ask("mntr")) {
		key, _, _ := strings.Cut(line, "\t")
		keys = append(keys, "`"+strings.TrimPrefix(key, "zk_")+"`")
	}
	readme := value(os.ReadFile("README.md"))(t)
	if claim := fmt.Sprintf("answer to `mntr` has %d lines: %s.", len(keys), strings.Join(keys, ", ")); !strings.Contains(strings.Join(strings.Fields(string(readme)), " "), claim) {
		t.Errorf("README.md does not say: %s", claim)
	}
}
