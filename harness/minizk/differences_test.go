package minizk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// known is a known difference between minizk and the real server. Its probe runs on
// both, and README.md shows both answers. The test fails if the answers agree, or differ in
// another way.
type known struct {
	name  string
	why   string
	alone bool // the probe needs a real server of its own
	fatal bool // the real server exits
	probe func(*world)
}

var differences = []known{
	{name: "create-ttl-without-mode", alone: true, fatal: true,
		why: "If a client sends a createTTL with a negative time to live, and with flags that are not a TTL mode, the real server logs it, fails to apply it and exits. minizk refuses it. No client library sends such a request.",
		probe: func(w *world) {
			a := w.session("A")
			a.createWith(jute.OpCreateTTL, jute.Request{Path: dir + "/x", ACL: open, TTL: -1})
		}},
	{name: "create-session-request",
		why: "If a client sends createSession as an ordinary request, the real server answers with a second handshake. minizk treats it as an unknown operation.",
		probe: func(w *world) {
			a := w.session("A")
			xid, err := a.c.Queue(jute.OpCreateSession, jute.AppendInt(nil, 5000))
			if err == nil {
				err = a.c.Flush()
			}
			p, err2 := a.c.ReadPacket()
			w.note("A createSession: answered by a reply to it: %v (%v, %v)", p.Xid == xid, err, err2)
			a.dead = true
		}},
	{name: "text",
		why: "Java writes characters beyond the basic plane as surrogates, and replaces what is not UTF-8. minizk returns the bytes unchanged. This shows only in the names of access lists and in the answer to sync, because no node can have such a path.",
		probe: func(w *world) {
			a := w.session("A")
			a.ask(jute.OpSync, "/\U0001F600")
			a.ask(jute.OpSync, "/a\xff")
			a.createWith(jute.OpCreate, jute.Request{Path: dir + "/x", ACL: []znode.ACL{acl(31, "digest", "\U0001F600:x"), acl(31, "digest", "\xff:x"), acl(31, "world", "anyone")}})
			p := a.must(jute.Request{Op: jute.OpGetACL, Path: dir + "/x"})
			for _, e := range jute.NewDecoder(p.Body).ACLs() {
				w.note("A getACL: %q", e.ID)
			}
			a.must(jute.Request{Op: jute.OpDelete, Path: dir + "/x", Version: -1})
		}},
	{name: "auth-order",
		why: "Scheme auth expands to the identities of a connection. The real server returns them in the order of a hash table, minizk in the order of authentication.",
		probe: func(w *world) {
			a := w.session("A")
			a.auth("digest", "b:b")
			a.auth("digest", ownerSecret)
			a.auth("digest", "b2:b")
			a.createWith(jute.OpCreate, jute.Request{Path: dir + "/x", ACL: []znode.ACL{acl(31, "auth", "")}})
			a.ask(jute.OpGetACL, dir+"/x")
		}},
	{name: "order-of-children",
		why: "The real server lists children in the order of a hash table. minizk's order is neither sorted nor the order of creation, but it is the same each time.",
		probe: func(w *world) {
			a := w.session("A")
			for _, name := range []string{"a", "b", "c", "d"} {
				a.create(dir+"/"+name, "", 0)
			}
			p := a.must(jute.Request{Op: jute.OpGetChildren, Path: dir})
			w.note("A getChildren as it comes: %v", jute.NewDecoder(p.Body).Strings("names"))
		}},
	{name: "order-of-a-session's-end",
		why: "When a session ends, the server deletes its ephemeral nodes in one transaction. The real server deletes them in the order of a hash table, minizk in the order of their paths. Their events come in that order.",
		probe: func(w *world) {
			a, b := w.session("A"), w.session("B")
			for _, name := range []string{"d", "c", "b", "a", "zz", "yy"} {
				a.create(dir+"/"+name, "", 1)
			}
			b.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
			a.do("close", jute.OpCloseSession, nil)
			a.expectEnd()
			b.settle()
		}},
	{name: "watch-path",
		why: "While there is a recursive watch, the real server fails if it has to look for the watches of a path without a slash.",
		probe: func(w *world) {
			a := w.session("A")
			a.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
			a.watchOp(jute.OpCheckWatches, "bad", jute.WatcherAny)
		}},
	{name: "quotas", alone: true,
		why: "minizk keeps no quotas. Nodes below /zookeeper/quota are ordinary nodes, and nothing updates their statistics.",
		probe: func(w *world) {
			a := w.session("A")
			q := "/zookeeper/quota" + dir
			stats := q + "/zookeeper_stats"
			a.create(q, "", 0)
			a.create(q+"/zookeeper_limits", "count=5,bytes=-1", 0)
			a.create(stats, "count=0,bytes=0", 0)
			a.create(dir+"/counted", "12345", 0)
			p := a.must(jute.Request{Op: jute.OpGetData, Path: stats})
			d := jute.NewDecoder(p.Body)
			w.note("A getData %s: %s", stats, data(d.Buffer("data")))
			for _, path := range []string{stats, q + "/zookeeper_limits", q} {
				a.must(jute.Request{Op: jute.OpDelete, Path: path, Version: -1})
			}
		}},
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
		diff := difference(play(t, on, d.probe), play(t, onMini(run(t, minizk.Options{})), d.probe))
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
			fmt.Fprintf(&b, "-real   %s\n", r[i])
		}
		if i < len(m) {
			fmt.Fprintf(&b, "+minizk %s\n", m[i])
		}
	}
	return b.String()
}
