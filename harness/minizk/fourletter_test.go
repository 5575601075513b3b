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
	for word, parts := range map[string][]string{
		"ruok": {"imok"}, "isro": {"rw"},
		"srvr": {"Zookeeper version: 3.8.0-", "\nLatency min/avg/max: ", "\nReceived: 2\n", "\nZxid: 0x2\n", "\nMode: standalone\n", "\nNode count: 6\n"},
		"stat": {"Zookeeper version: ", "\nClients:\n /127.0.0.1:", "](queued=0,recved=2,", "\n\nLatency", "Node count: 6\n"},
		"mntr": {"zk_version\t3.8.0-", "zk_server_state\tstandalone\n", "zk_znode_count\t6\n", "zk_ephemerals_count\t1\n", "zk_watch_count\t1\n", "zk_num_alive_connections\t"},
		"envi": {"Environment:\nzookeeper.version=3.8.0-"},
		"conf": {"conf is not executed because it is not in the whitelist.\n"},
		"xxxx": {""},
	} {
		got := ask(word)
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s: %q is not in\n%s", word, p, got)
			}
		}
		if len(parts) == 1 && parts[0] == "" && got != "" {
			t.Errorf("%s: %q", word, got)
		}
	}
	well(t, s, old)

	// README.md says which lines of mntr there are.
	var keys []string
	for line := range strings.Lines(ask("mntr")) {
		key, _, _ := strings.Cut(line, "\t")
		keys = append(keys, "`"+strings.TrimPrefix(key, "zk_")+"`")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if claim := fmt.Sprintf("answer to `mntr` has %d lines: %s.", len(keys), strings.Join(keys, ", ")); !strings.Contains(strings.Join(strings.Fields(string(readme)), " "), claim) {
		t.Errorf("README.md does not say: %s", claim)
	}
}
