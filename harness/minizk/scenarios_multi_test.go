package minizk_test

import (
	"cmp"

	"mrtq/internal/jute"
)

func init() {
	scenarios["multi"] = multis
	scenarios["multi_fails"] = multiFails
	scenarios["multi_watches"] = multiWatches
	scenarios["malformed"] = malformed
}

func multis(w *world) {
	a := w.session("A")
	a.multi(jute.OpMulti)
	c2, container, ttl := opCreate(dir+"/c2", 0), opCreate(dir+"/cont", 4), opCreate(dir+"/ttl", 5)
	c2.Op, container.Op, ttl.Op, ttl.TTL = jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, 1000000
	a.multi(jute.OpMulti, opCreate(dir+"/a", 0), c2, container, ttl, opCreate(dir+"/e", 1), opCheck(dir+"/a", 0),
		opSet(dir+"/a", "1", 0), opCheck(dir+"/a", 1), opSet(dir+"/a", "22", 1), opCreate(dir+"/a/b", 0), opDelete(dir+"/a/b", 0))
	a.read(jute.OpGetData, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir, false)
	a.ask(jute.OpGetEphemerals, "/")
	// One transaction creates, deletes and recreates a node, and also a parent.
	a.multi(jute.OpMulti, opDelete(dir+"/a", -1), opCreate(dir+"/a", 0), opCreate(dir+"/a/b", 0), opCreate(dir+"/a/b/c", 2), opSet(dir+"/a", "x", 0))
	a.read(jute.OpGetData, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir+"/a/b", false)
	a.multi(jute.OpMulti, opCheck(dir+"/a", -1))
	a.multi(jute.OpMulti, opRead(jute.OpGetData, dir+"/a"))
	a.multi(jute.OpMulti, opRead(jute.OpGetData, dir+"/a"), opCheck(dir+"/a", -1))
	a.multi(jute.OpMulti, opCheck(dir+"/a", -1), opRead(jute.OpGetData, dir+"/a"))
	a.settle()
}

func multiFails(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "", 0)
	a.create(dir+"/a/b", "", 0)
	a.create(dir+"/eph", "", 1)
	for _, last := range []jute.Request{
		opCreate(dir+"/a", 0), opCreate(dir+"/nope/x", 0), opCreate(dir+"/eph/x", 0), opCreate("bad", 0), opCreate(dir+"/new/", 0), opCreate(dir+"/flags", 9),
		opDelete(dir+"/a", -1), opDelete(dir+"/a", 5), opDelete(dir+"/nope", -1), opDelete("/", -1),
		opSet(dir+"/a", "x", 7), opSet(dir+"/nope", "x", -1), opCheck(dir+"/a", 3), opCheck(dir+"/nope", -1), opCheck("bad", -1),
		{Op: jute.OpCreate, Path: dir + "/noacl"},
	} {
		a.multi(jute.OpMulti, opCreate(dir+"/new", 2), opSet(dir+"/a", "changed", -1), opDelete(dir+"/a/b", -1), opDelete(dir+"/eph", -1), opCreate(dir+"/eph2", 1), last, opCreate(dir+"/never", 0))
		a.multi(jute.OpMulti, last)
	}
	// It has changed nothing: data, counters, ephemerals and the next sequence number are as
	// before.
	a.read(jute.OpGetData, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir, false)
	a.ask(jute.OpGetEphemerals, "/")
	a.create(dir+"/seq-", "", 2)
	a.settle()
}

func multiWatches(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	for _, c := range []*client{a, b} {
		c.read(jute.OpGetData, dir+"/a", true)
		c.read(jute.OpExists, dir+"/new", true)
		c.read(jute.OpGetChildren, dir, true)
	}
	a.multi(jute.OpMulti, opSet(dir+"/a", "1", -1), opCreate(dir+"/new", 0), opCheck(dir+"/nope", -1))
	b.settle()
	a.multi(jute.OpMulti, opSet(dir+"/a", "1", -1), opCreate(dir+"/new", 0), opSet(dir+"/new", "2", -1), opDelete(dir+"/a", -1))
	b.settle()
	a.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	a.multi(jute.OpMulti, opCreate(dir+"/p", 0), opCreate(dir+"/p/q", 0), opSet(dir+"/p", "x", -1), opDelete(dir+"/p/q", -1), opDelete(dir+"/p", -1))
	a.settle()
}

// malformed sends records that end early, have impossible lengths, or are too long.
func malformed(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "x", 0)
	bodies := map[jute.OpCode][]byte{}
	for _, r := range []jute.Request{
		{Op: jute.OpCreate, Path: dir + "/m", Data: []byte("d"), ACL: open}, {Op: jute.OpDelete, Version: 9}, {Op: jute.OpSetData, Data: []byte("d"), Version: 9},
		{Op: jute.OpSetACL, ACL: open, Version: 9}, {Op: jute.OpGetData}, {Op: jute.OpExists}, {Op: jute.OpGetChildren}, {Op: jute.OpGetChildren2},
		{Op: jute.OpGetACL}, {Op: jute.OpGetAllChildrenNumber}, {Op: jute.OpGetEphemerals}, {Op: jute.OpSync},
		{Op: jute.OpAddWatch}, {Op: jute.OpCheckWatches, Kind: 3}, {Op: jute.OpRemoveWatches, Kind: 3},
		{Op: jute.OpSetWatches, Since: 1 << 60, Watches: [][]string{{dir + "/a"}}}, {Op: jute.OpSetWatches2, Since: 1 << 60, Watches: [][]string{{dir + "/a"}}},
		{Op: jute.OpMulti, Ops: []jute.Request{opCheck(dir+"/a", 0)}}, {Op: jute.OpMultiRead, Ops: []jute.Request{opRead(jute.OpGetData, dir+"/a")}},
	} {
		r.Path = cmp.Or(r.Path, dir+"/a")
		bodies[r.Op] = jute.AppendRequest(nil, &r)
	}
	for op := jute.OpCode(0); op < 110; op++ {
		body, ok := bodies[op]
		if !ok {
			continue
		}
		name := op.String()
		for cut := range len(body) {
			if cut > 12 && cut < len(body)-9 {
				continue
			}
			a.do(name+" cut", op, body[:cut])
		}
		huge := append([]byte{0x7f, 0xff, 0xff, 0xff}, body[min(4, len(body)):]...)
		a.do(name+" huge", op, huge)
		negative := append([]byte{0xff, 0xff, 0xff, 0xfe}, body[min(4, len(body)):]...)
		a.do(name+" negative", op, negative)
		a.do(name+" longer", op, append(append([]byte(nil), body...), 1, 2, 3))
	}
	a.settle()
}
