package minizk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// known is a known difference between minizk and the real server. Its probe runs on
// both, and README.md shows both answers. The test fails if the answers agree, or differ in
// another way.
type known struct {
	name  string
	why   string
	alone bool // the probe needs a real server of its own
	fatal bool // the real server exits
	probe string
}

var differences = []known{
	{name: "create-ttl-without-mode", alone: true, fatal: true,
		why: "If a client sends a createTTL with a negative time to live, and with flags that are not a TTL mode, the real server logs it, fails to apply it and exits. minizk refuses it. No client library sends such a request.",
		probe: `
A session
A createTTL "/s/x" null open 0 -1
`},
	{name: "create-session-request",
		why: "If a client sends createSession as an ordinary request, the real server answers with a second handshake. minizk treats it as an unknown operation.",
		probe: `
A session
A raw createSession "00001388"
`},
	{name: "text",
		why: "Java writes characters beyond the basic plane as surrogates, and replaces what is not UTF-8. minizk returns the bytes unchanged. This shows only in the names of access lists and in the answer to sync, because no node can have such a path.",
		probe: `
A session
A sync "/\U0001F600"
A sync "/a\xff"
A create "/s/x" null [31 "digest" "\U0001F600:x", 31 "digest" "\xff:x", 31 "world" "anyone"] 0
A getACL "/s/x"
`},
	{name: "auth-order",
		why: "Scheme auth expands to the identities of a connection. The real server returns them in the order of a hash table, minizk in the order of authentication.",
		probe: `
A session
A auth "digest" "b:b"
A auth "digest" "o:o"
A auth "digest" "b2:b"
A create "/s/x" null [31 "auth" ""] 0
A getACL "/s/x"
`},
	{name: "order-of-children",
		why: "The real server lists children in the order of a hash table. minizk's order is unsorted but deterministic.",
		probe: `
A session
A multi {create "/s/a" "" open 0; create "/s/b" "" open 0; create "/s/c" "" open 0; create "/s/d" "" open 0}
A unsorted getChildren "/s"
`},
	{name: "order-of-a-session's-end",
		why: "When a session ends, the server deletes its ephemeral nodes in one transaction. The real server deletes them in the order of a hash table, minizk in the order of their paths. Their events come in that order.",
		probe: `
A session
B session
A multi {create "/s/d" "" open 1; create "/s/c" "" open 1; create "/s/b" "" open 1; create "/s/a" "" open 1; create "/s/zz" "" open 1; create "/s/yy" "" open 1}
B addWatch "/s" 1
A closeSession
A ends
B ping
`},
	{name: "watch-path",
		why: "While there is a recursive watch, the real server fails if it has to look for the watches of a path without a slash.",
		probe: `
A session
A addWatch "/s" 1
A checkWatches "bad" 3
`},
	{name: "quotas", alone: true,
		why: "minizk keeps no quotas. Nodes below /zookeeper/quota are ordinary nodes, and nothing updates their statistics.",
		probe: `
A session
A create "/zookeeper/quota/s" "" open 0
A create "/zookeeper/quota/s/zookeeper_limits" "count=5,bytes=-1" open 0
A create "/zookeeper/quota/s/zookeeper_stats" "count=0,bytes=0" open 0
A create "/s/counted" "12345" open 0
A getData "/zookeeper/quota/s/zookeeper_stats"
A delete "/zookeeper/quota/s/zookeeper_stats" -1
A delete "/zookeeper/quota/s/zookeeper_limits" -1
A delete "/zookeeper/quota/s" -1
`},
}

// TestDifferences runs each probe on both servers and compares README.md with the answers. A probe that
// needs a real server of its own runs with -torture or -update.
func TestDifferences(t *testing.T) {
	part := readmeSection(t, "differences", "go test -run TestDifferences -update")
	var all strings.Builder
	for _, d := range differences {
		head := "\n### " + d.name + "\n\n" + d.why + "\n\n```diff\n"
		_, was, known := strings.Cut(part.was, head) // this part needs no Java
		if !known && !*update {
			t.Errorf("README.md says nothing about %s", d.name)
		}
		if d.alone && !*update && !*torture {
			continue
		}
		server := real38
		if d.alone {
			server = &realServer{reap: time.Hour}
			defer func() {
				if err := server.stop(); err != nil && !d.fatal {
					t.Error(err)
				}
			}()
		}
		on := onReal(server.addr(t))
		on.mayDie = d.fatal
		diff := difference(play(t, on, again(d.probe)), play(t, onMini(run(t, minizk.Options{SuperDigest: superDigest})), again(d.probe)))
		if diff == "" {
			t.Errorf("%s: both servers answer the same, so it is no difference", d.name)
		}
		all.WriteString(head + diff + "```\n")
		if was, _, _ = strings.Cut(was, "```\n"); !*update {
			sameLines(t, diff, was)
		}
	}
	if *update {
		part.write(t, all.String()+"\n")
	}
}

// difference returns the lines that differ, the real server's with a minus. It compares the lines by
// their numbers, so a probe must record the same number of lines on both servers.
func difference(theirs, ours string) string {
	var b strings.Builder
	r, m := strings.Split(strings.TrimSpace(theirs), "\n"), strings.Split(strings.TrimSpace(ours), "\n")
	for i := range max(len(r), len(m)) {
		if i < len(r) && i < len(m) && r[i] == m[i] {
			continue
		}
		if i < len(r) {
			fmt.Fprintf(&b, "-real   %s\n", strings.TrimSpace(r[i]))
		}
		if i < len(m) {
			fmt.Fprintf(&b, "+minizk %s\n", strings.TrimSpace(m[i]))
		}
	}
	return b.String()
}
