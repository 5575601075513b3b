package minizk_test

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mrtq/internal/jute"
)

func init() {
	scenarios["create_modes"] = createModes
	scenarios["counters"] = counters
	scenarios["sequence"] = sequence
	scenarios["paths"] = paths
	scenarios["delete"] = deletes
	scenarios["null_and_empty"] = nullAndEmpty
	scenarios["reads"] = reads
	scenarios["limits"] = limits
	scenarios["system_nodes"] = systemNodes
	scenarios[untouched] = untouchedServer
}

func createModes(w *world) {
	a := w.session("A")
	for flags := int32(-1); flags <= 7; flags++ {
		for _, op := range []jute.OpCode{jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer} {
			path := fmt.Sprintf("%s/%s%d", dir, op, flags)
			a.createWith(op, jute.Request{Path: path, Data: []byte("x"), ACL: open, Flags: flags})
			a.read(jute.OpExists, path, false)
		}
		for _, ttl := range []int64{-5, 0, 100000, 0xffffffffff, 0x10000000000} {
			if (flags < 5 || flags > 6) && ttl < 0 {
				continue // the real server would exit: known difference create-ttl-without-mode
			}
			a.createWith(jute.OpCreateTTL, jute.Request{Path: fmt.Sprintf("%s/ttl%d.%d", dir, flags, ttl), ACL: open, Flags: flags, TTL: ttl})
		}
	}
	a.read(jute.OpExists, dir, false)
	a.create(dir+"/create0", "", 0)
	a.create(dir+"/create1/child", "", 0)
	a.create(dir+"/create1/child", "", 2)
	a.create(dir+"/nope/child", "", 0)
	a.create(dir+"/createContainer4/child", "", 0)
	a.read(jute.OpExists, dir+"/createContainer4", false)
}

func counters(w *world) {
	a := w.session("A")
	stat := func() { a.read(jute.OpExists, dir, false) }
	stat()
	a.create(dir+"/a", "1", 0)
	stat()
	a.create(dir+"/a", "1", 0) // refused, but it takes a zxid
	stat()
	a.set(dir+"/a", []byte("22"), 0)
	a.set(dir+"/a", []byte("22"), 0)
	a.set(dir+"/a", []byte("333"), -1)
	a.set(dir+"/a", []byte("333"), -2)
	stat()
	a.create(dir+"/a/b", "", 0)
	stat()
	a.read(jute.OpGetData, dir+"/a", false)
	a.delete(dir+"/a/b", 0)
	a.read(jute.OpGetData, dir+"/a", false)
	a.delete(dir+"/a", 0)
	a.delete(dir+"/a", 2)
	stat()
	a.create(dir+"/a", "", 0)
	stat()
	a.setACL(dir+"/a", open, 0)
	a.setACL(dir+"/a", open, 0)
	a.setACL(dir+"/a", open, -1)
	a.read(jute.OpExists, dir+"/a", false)
	a.settle()
}

func sequence(w *world) {
	a := w.session("A")
	a.create(dir+"/n-", "", 2)
	a.create(dir+"/plain", "", 0)
	a.create(dir+"/e-", "", 3)
	a.delete(dir+"/plain", -1)
	a.create(dir+"/other-", "", 2)
	a.create(dir+"/", "", 2)
	a.create(dir+"/n-0000000006", "", 0) // this takes the number that the next one would get
	a.create(dir+"/n-", "", 2)
	a.create(dir+"/n-", "", 2)
	a.createWith(jute.OpCreate2, jute.Request{Path: dir + "/n-", ACL: open, Flags: 2})
	a.createWith(jute.OpCreateTTL, jute.Request{Path: dir + "/t-", ACL: open, Flags: 6, TTL: 100000})
	a.read(jute.OpGetChildren2, dir, false)
	a.multi(jute.OpMulti, opCreate(dir+"/m-", 2), opCreate(dir+"/m-", 2), opDelete(dir+"/n-0000000000", -1), opCreate(dir+"/m-", 2))
	a.multi(jute.OpMulti, opCreate(dir+"/m-", 2), opCheck(dir+"/nope", -1))
	a.create(dir+"/after-", "", 2)
}

func paths(w *world) {
	a := w.session("A")
	a.create(dir+"/p", "", 0)
	for _, p := range []string{
		"", "/", "s", "s/p", "/s/", "/s/p/", "//s", "/s//p", "/s/./p", "/s/../p", "/s/.", "/s/..", "/s/...", "/s/.p", "/s/p.",
		"/s/a\x00b", "/s/a\x01", "/s/a\x1f", "/s/a\t", "/s/ ", "/s/a b", "/s/a\u007f", "/s/a\u009f", "/s/a\u00a0", "/s/é",
		"/s/\ud7ff", "/s/\ue000", "/s/\uf8ff", "/s/\uf900", "/s/\uffef", "/s/\ufff0", "/s/\uffff", "/s/\U0001F600", "/s/a\xff", "/s/" + strings.Repeat("n", 300),
	} {
		a.create(p, "", 0)
		if p != "/" && p != "" { // other scenarios change the root's Stat and sequence
			a.create(p, "", 2)
			a.set(p, []byte("d"), 5)
			a.read(jute.OpGetData, p, false)
			a.read(jute.OpExists, p, false)
			a.read(jute.OpGetChildren2, p, false)
			a.ask(jute.OpGetACL, p)
			a.setACL(p, open, 9)
			a.ask(jute.OpGetAllChildrenNumber, p)
		}
		a.multi(jute.OpMulti, opCheck(p, 7))
		a.delete(p, 9)
		if utf8.ValidString(p) && !strings.Contains(p, "\U0001F600") { // known difference text
			a.ask(jute.OpSync, p)
		}
	}
	// The janitor deletes the root's sequential children.
	kids := a.must(jute.Request{Op: jute.OpGetChildren, Path: "/"})
	for _, name := range jute.NewDecoder(kids.Body).Strings("names") {
		if name != "zookeeper" && name != strings.TrimPrefix(dir, "/") {
			a.must(jute.Request{Op: jute.OpDelete, Path: "/" + name, Version: -1})
		}
	}
}

func deletes(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "", 0)
	a.create(dir+"/a/b", "", 0)
	a.delete(dir+"/a", -1)
	a.delete(dir+"/a", 3) // the version is checked first
	a.delete(dir+"/nope", -1)
	a.delete(dir+"/nope/b", -1)
	a.delete(dir+"/a/b", 1)
	a.delete(dir+"/a/b", 0)
	a.delete(dir+"/a", 0)
	for _, p := range []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config", "/zookeeper/nope"} {
		a.delete(p, -1)
	}
	a.do("deleteContainer", jute.OpDeleteContainer, jute.AppendString(nil, dir))
	a.settle()
}

func nullAndEmpty(w *world) {
	a := w.session("A")
	for _, d := range [][]byte{nil, {}, {0}} {
		path := fmt.Sprintf("%s/%s", dir, strings.Trim(data(d), `"\`))
		if len(d) == 0 && d != nil {
			path = dir + "/empty"
		}
		a.createWith(jute.OpCreate, jute.Request{Path: path, Data: d, ACL: open})
		a.read(jute.OpGetData, path, false)
		a.set(path, nil, -1)
		a.read(jute.OpGetData, path, false)
		a.set(path, []byte{}, -1)
		a.read(jute.OpGetData, path, false)
		a.multi(jute.OpMultiRead, opRead(jute.OpGetData, path))
	}
	null := opCreate(dir+"/m", 0)
	null.Data = nil
	a.multi(jute.OpMulti, null)
	a.multi(jute.OpMultiRead, opRead(jute.OpGetData, dir+"/m"))
}

func reads(w *world) {
	a, b := w.session("A"), w.session("B")
	for _, p := range []string{"/a", "/a/b", "/a/b/c", "/ab", "/x"} {
		a.create(dir+p, p, 0)
	}
	a.create(dir+"/a/eph", "", 1)
	a.create(dir+"/eph2", "", 1)
	b.create(dir+"/a/ephB", "", 1)
	for _, p := range []string{"", "/a", "/a/b", "/a/b/c", "/nope", "/a/eph"} {
		for _, op := range []jute.OpCode{jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2} {
			b.read(op, dir+p, false)
		}
		b.ask(jute.OpGetAllChildrenNumber, dir+p)
		b.ask(jute.OpGetACL, dir+p)
	}
	for _, prefix := range []string{"", "/", " ", "/s/a", "/s/a/", "/s/e", "s", "/nope"} {
		a.ask(jute.OpGetEphemerals, prefix)
	}
	a.ask(jute.OpSync, "/nope")
	a.multi(jute.OpMultiRead, opRead(jute.OpGetData, dir+"/a"), opRead(jute.OpGetChildren, dir+"/a"), opRead(jute.OpGetData, dir+"/nope"), opRead(jute.OpGetChildren, dir+"/x"))
	a.multi(jute.OpMultiRead)
	a.multi(jute.OpMultiRead, opCheck(dir, -1))
	a.multi(jute.OpMultiRead, opRead(jute.OpGetData, dir+"/a"), opCheck(dir, -1))
	a.settle()
}

func limits(w *world) {
	a := w.session("A")
	empty := newNode(dir+"/big", "", 0)
	head := len(jute.AppendRequest(jute.AppendRequestHeader(nil, jute.RequestHeader{}), &empty))
	for _, over := range []int{-1, 0, 1} {
		c := w.session(fmt.Sprintf("C%d", over))
		c.createWith(jute.OpCreate, jute.Request{Path: dir + "/big", Data: make([]byte, jute.MaxBuffer-head+over), ACL: open})
		a.settle()
	}
	a.read(jute.OpGetData, dir+"/big", false)
	for _, n := range []int32{-1, -1 << 31, 1<<31 - 1, jute.MaxBuffer + 1} {
		c := w.session("length")
		if _, err := c.c.Write(jute.AppendInt(nil, n)); err != nil {
			w.t.Fatal(err)
		}
		c.expectEnd()
	}
	c := w.session("empty")
	if err := c.c.WriteFrame(nil); err != nil {
		w.t.Fatal(err)
	}
	c.expectEnd()
	c = w.session("half header")
	if err := c.c.WriteFrame([]byte{0, 0, 0, 1, 0, 0}); err != nil {
		w.t.Fatal(err)
	}
	c.expectEnd()
	a.settle()
}

func systemNodes(w *world) {
	a := w.session("A")
	for _, p := range []string{"/zookeeper/quota", "/zookeeper/config"} {
		a.read(jute.OpGetData, p, false)
		a.read(jute.OpGetChildren2, p, false)
		a.ask(jute.OpGetACL, p)
	}
	a.set("/zookeeper/config", []byte("x"), -1)
	a.create("/zookeeper/config/x", "", 0)
	a.setACL("/zookeeper/config", open, -1)
	a.create("/zookeeper", "", 0)
}

// untouchedServer reads a new server that only the janitor has used. It also asks for TTL
// nodes, which are off by default.
func untouchedServer(w *world) {
	a := w.session("A")
	for _, p := range []string{"/", "", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		a.read(jute.OpGetData, p, false)
		a.read(jute.OpGetChildren2, p, false)
		a.ask(jute.OpGetACL, p)
		a.ask(jute.OpGetAllChildrenNumber, p)
	}
	for flags := int32(4); flags <= 6; flags++ {
		a.createWith(jute.OpCreate, jute.Request{Path: dir + "/a", ACL: open, Flags: flags})
		a.createWith(jute.OpCreateTTL, jute.Request{Path: dir + "/b", ACL: open, Flags: flags, TTL: 5})
		ttl := opCreate(dir+"/c", flags)
		ttl.Op, ttl.TTL = jute.OpCreateTTL, 5
		a.multi(jute.OpMulti, ttl)
	}
	a.create("/", "", 2)
	a.read(jute.OpExists, "/", false)
	a.set("/", []byte("root"), -1)
	a.setACL("/", open, -1)
	a.read(jute.OpGetData, "", false)
	root := w.session("root")
	root.read(jute.OpGetChildren, "/", true)
	root.read(jute.OpGetData, "/", true)
	a.delete("/0000000001", -1)
	a.set("/", nil, -1)
	root.settle()
	a.settle()
}
