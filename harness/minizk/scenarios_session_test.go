package minizk_test

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
)

func init() {
	scenarios["handshake"] = handshake
	scenarios["resume"] = resume
	scenarios["ephemerals"] = ephemerals
	scenarios["auth"] = auths
	scenarios["unknown_ops"] = unknownOps
	scenarios["expiry"] = expiry
	scenarios["reaping"] = reapings
	scenarios["words"] = fourLetterWords
}

func (c *client) password() []byte { return c.c.Session.Password }

func handshake(w *world) {
	for _, r := range []jute.ConnectRequest{
		{TimeoutMillis: 1}, {TimeoutMillis: -1}, {TimeoutMillis: 10000, HasReadOnly: true}, {TimeoutMillis: 1 << 30, HasReadOnly: true},
		{TimeoutMillis: 10000, ProtocolVersion: 9, HasReadOnly: true, ReadOnly: true, Password: []byte("short")},
		{TimeoutMillis: 10000, SessionID: 0x77, Password: make([]byte, 16), HasReadOnly: true},
		{TimeoutMillis: 10000, SessionID: 0x77, Password: make([]byte, 16)},
		{TimeoutMillis: 10000, LastZxidSeen: 1 << 60, HasReadOnly: true},
	} {
		w.dial("A").connect(r)
	}
	for _, first := range [][]byte{{}, {1}, make([]byte, 20), make([]byte, 27)} {
		c := w.dial("first")
		if err := c.c.WriteFrame(first); err != nil {
			w.t.Fatal(err)
		}
		c.expectEnd()
	}
	for _, n := range []int32{-1, jute.MaxBuffer + 1} {
		c := w.dial("length")
		if _, err := c.c.Write(jute.AppendInt(nil, n)); err != nil {
			w.t.Fatal(err)
		}
		c.expectEnd()
	}
}

func resume(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/eph", "", 1)
	a.read(jute.OpGetData, dir+"/eph", true)
	a2 := w.dial("A2")
	a2.connect(jute.ConnectRequest{TimeoutMillis: 15000, SessionID: a.c.Session.SessionID, Password: a.password(), HasReadOnly: true})
	a.expectEnd()
	b.set(dir+"/eph", []byte("x"), -1) // the watch ended with the connection
	a2.settle()
	a2.ask(jute.OpGetEphemerals, "/")
	wrong := w.dial("wrong")
	wrong.connect(jute.ConnectRequest{TimeoutMillis: 15000, SessionID: a.c.Session.SessionID, Password: make([]byte, 16), HasReadOnly: true})
	a2.expectEnd()
	b.read(jute.OpExists, dir+"/eph", false)
	b.auth("digest", ownerSecret)
	b.do("whoAmI", jute.OpWhoAmI, nil)
	b.resume()
	b.do("whoAmI", jute.OpWhoAmI, nil) // identities belong to the connection
	a3 := w.dial("A3")
	a3.connect(jute.ConnectRequest{TimeoutMillis: 15000, SessionID: a.c.Session.SessionID, Password: a.password(), HasReadOnly: true})
	a3.do("close", jute.OpCloseSession, nil)
	a3.expectEnd()
	b.read(jute.OpExists, dir+"/eph", false)
	a4 := w.dial("A4")
	a4.connect(jute.ConnectRequest{TimeoutMillis: 15000, SessionID: a.c.Session.SessionID, Password: a.password(), HasReadOnly: true})
	b.settle()
}

func ephemerals(w *world) {
	a, b := w.session("A"), w.session("B")
	b.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	b.read(jute.OpGetChildren, dir, true)
	a.create(dir+"/p", "", 0)
	a.create(dir+"/p/one", "", 1)
	b.settle()
	a.create(dir+"/e1", "", 1)
	a.create(dir+"/e2", "", 3)
	a.create(dir+"/gone", "", 1)
	a.delete(dir+"/gone", -1)
	b.create(dir+"/mine", "", 1)
	b.delete(dir+"/e1", -1) // anyone may do it
	a.create(dir+"/e1", "", 1)
	b.settle()
	b.read(jute.OpGetData, dir+"/p/one", true)
	b.read(jute.OpGetChildren, dir+"/p", true)
	a.do("close", jute.OpCloseSession, nil)
	a.expectEnd()
	b.settleSorted()
	b.read(jute.OpGetChildren2, dir, false)
	b.read(jute.OpGetChildren2, dir+"/p", false)
	b.ask(jute.OpGetEphemerals, "/")
}

func auths(w *world) {
	a := w.session("A")
	who := func(c *client) { c.do("whoAmI", jute.OpWhoAmI, nil) }
	who(a)
	a.auth("digest", "user:secret")
	a.auth("digest", "user:secret")
	a.auth("digest", "nocolon")
	a.auth("digest", ":")
	a.auth("digest", "")
	a.auth("ip", "1.2.3.4")
	who(a)
	for _, scheme := range []string{"world", "auth", "sasl", "super", "x509", "", "Digest"} {
		c := w.session("C")
		c.auth(scheme, "x:y")
		if !c.dead {
			c.expectEnd()
		}
	}
	c := w.session("sasl")
	c.do("sasl", jute.OpSasl, jute.AppendBuffer(nil, []byte("token")))
	c.settle()
	c = w.session("auth short")
	c.doXid("auth short", jute.XidAuth, jute.OpAuth, []byte{0, 0})
}

func unknownOps(w *world) {
	for _, op := range []jute.OpCode{-99, -12, -1, 0, 10, 23, 55, 99, 108, 1000} {
		c := w.session("A")
		c.do(op.String(), op, nil)
		if !c.dead {
			c.expectEnd()
		}
	}
	a := w.session("B")
	a.do("reconfig empty", jute.OpReconfig, nil)
	a.do("reconfig", jute.OpReconfig, jute.AppendLong(jute.AppendString(jute.AppendString(jute.AppendString(nil, ""), ""), ""), -1))
	a.send("check wrong version", jute.Request{Op: jute.OpCheck, Path: dir, Version: 7})
	a.send("check missing", jute.Request{Op: jute.OpCheck, Path: dir + "/nope", Version: -1})
	a.unanswered("check", jute.Request{Op: jute.OpCheck, Path: dir, Version: 0})
	a.read(jute.OpExists, dir, false)
	a.doXid("ping with xid 9", 9, jute.OpPing, nil)
}

// expiry: a silent session ends, with its nodes and its connection.
func expiry(w *world) {
	a, b := w.dial("A"), w.session("B")
	a.connect(jute.ConnectRequest{TimeoutMillis: 4000, HasReadOnly: true})
	a.create(dir+"/eph", "", 1)
	b.read(jute.OpExists, dir+"/eph", true)
	w.pass(5 * time.Second)
	b.expectEvent()
	b.read(jute.OpExists, dir+"/eph", false)
	a.expectEnd()
	again := w.dial("again")
	again.connect(jute.ConnectRequest{TimeoutMillis: 4000, SessionID: a.c.Session.SessionID, Password: a.password(), HasReadOnly: true})
	b.settle()
}

// reapings: a container is removed after its last child is deleted, but not before it had one. A
// TTL node is removed if it has no children and was not set for its time to live.
func reapings(w *world) {
	a, b := w.session("A"), w.session("B")
	never := jute.Request{Path: dir + "/never", ACL: open, Flags: 4}
	a.createWith(jute.OpCreateContainer, never)
	used := jute.Request{Path: dir + "/used", ACL: open, Flags: 4}
	a.createWith(jute.OpCreateContainer, used)
	a.create(dir+"/used/kid", "", 0)
	b.read(jute.OpExists, dir+"/used", true)
	w.pass(time.Second)
	b.settle()
	a.delete(dir+"/used/kid", -1)
	w.pass(time.Second)
	b.expectEvent()
	a.settle()
	b.read(jute.OpExists, dir+"/used", false)
	a.createWith(jute.OpCreateTTL, jute.Request{Path: dir + "/ttl", ACL: open, Flags: 5, TTL: 300})
	a.create(dir+"/ttl/kid", "", 0)
	b.read(jute.OpExists, dir+"/ttl", true)
	w.pass(time.Second)
	b.settle()
	a.delete(dir+"/ttl/kid", -1)
	w.pass(time.Second)
	b.expectEvent()
	b.read(jute.OpGetChildren2, dir, false)
	a.createWith(jute.OpCreateTTL, jute.Request{Path: dir + "/long", ACL: open, Flags: 5, TTL: 1 << 30})
	w.pass(time.Second)
	b.settle()
}

// number matches numbers, which differ between servers and between runs.
var number = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+([.:][0-9]+)*`)

// monitored are the lines of mntr that minizk has; a real server has hundreds.
var monitored = []string{
	"zk_server_state", "zk_znode_count", "zk_ephemerals_count", "zk_approximate_data_size", "zk_watch_count",
	"zk_num_alive_connections", "zk_global_sessions", "zk_outstanding_requests", "zk_packets_received", "zk_packets_sent",
	"zk_min_latency", "zk_avg_latency", "zk_max_latency", "zk_uptime",
}

// fourLetterWords: the answers line by line, without numbers.
func fourLetterWords(w *world) {
	a := w.session("A")
	a.read(jute.OpExists, dir, true)
	for _, word := range []string{"ruok", "isro", "srvr", "stat", "mntr", "xxxx"} {
		var lines []string
		for line := range strings.Lines(w.say(word)) {
			line = strings.TrimSuffix(line, "\n")
			key, _, _ := strings.Cut(line, "\t")
			if strings.HasPrefix(line, "Zookeeper version") || word == "mntr" && !slices.Contains(monitored, key) {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s: %q", word, number.ReplaceAllString(line, "N")))
		}
		if word == "mntr" {
			slices.Sort(lines) // a hash table's order
		}
		w.lines = append(w.lines, slices.Compact(lines)...) // one line for all clients
		w.note("%s ends", word)
	}
}

// say sends a four-letter word.
func (w *world) say(word string) string {
	c := w.dial(word)
	if err := c.c.SetDeadline(time.Now().Add(sessionTimeout)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.c.Write([]byte(word)); err != nil {
		w.t.Fatal(err)
	}
	answer, err := io.ReadAll(c.c)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(answer)
}
