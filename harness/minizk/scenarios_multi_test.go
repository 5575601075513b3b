package minizk_test

import (
	"mrtq/harness/minizk/wire"
)

func init() {
	scenarios["multi"] = multis
	scenarios["multi_fails"] = multiFails
	scenarios["multi_watches"] = multiWatches
	scenarios["malformed"] = malformed
}

func multis(w *world) {
	a := w.session("A")
	a.multi(wire.OpMulti)
	c2, container, ttl := mCreate(dir+"/c2", 0), mCreate(dir+"/cont", 4), mCreate(dir+"/ttl", 5)
	c2.Op, container.Op, ttl.Op, ttl.Create.TTL = wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL, 1000000
	a.multi(wire.OpMulti, mCreate(dir+"/a", 0), c2, container, ttl, mCreate(dir+"/e", 1), mCheck(dir+"/a", 0),
		mSet(dir+"/a", "1", 0), mCheck(dir+"/a", 1), mSet(dir+"/a", "22", 1), mCreate(dir+"/a/b", 0), mDelete(dir+"/a/b", 0))
	a.read(wire.OpGetData, dir+"/a", false)
	a.read(wire.OpGetChildren2, dir, false)
	a.ask(wire.OpGetEphemerals, "/")
	// One transaction creates, deletes and recreates a node, and also a parent.
	a.multi(wire.OpMulti, mDelete(dir+"/a", -1), mCreate(dir+"/a", 0), mCreate(dir+"/a/b", 0), mCreate(dir+"/a/b/c", 2), mSet(dir+"/a", "x", 0))
	a.read(wire.OpGetData, dir+"/a", false)
	a.read(wire.OpGetChildren2, dir+"/a/b", false)
	a.multi(wire.OpMulti, mCheck(dir+"/a", -1))
	a.multi(wire.OpMulti, mRead(wire.OpGetData, dir+"/a"))
	a.multi(wire.OpMulti, mRead(wire.OpGetData, dir+"/a"), mCheck(dir+"/a", -1))
	a.multi(wire.OpMulti, mCheck(dir+"/a", -1), mRead(wire.OpGetData, dir+"/a"))
	a.settle()
}

func multiFails(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "", 0)
	a.create(dir+"/a/b", "", 0)
	a.create(dir+"/eph", "", 1)
	for _, last := range []wire.MultiOp{
		mCreate(dir+"/a", 0), mCreate(dir+"/nope/x", 0), mCreate(dir+"/eph/x", 0), mCreate("bad", 0), mCreate(dir+"/new/", 0), mCreate(dir+"/flags", 9),
		mDelete(dir+"/a", -1), mDelete(dir+"/a", 5), mDelete(dir+"/nope", -1), mDelete("/", -1),
		mSet(dir+"/a", "x", 7), mSet(dir+"/nope", "x", -1), mCheck(dir+"/a", 3), mCheck(dir+"/nope", -1), mCheck("bad", -1),
		{Op: wire.OpCreate, Create: wire.CreateRequest{Path: dir + "/noacl"}},
	} {
		a.multi(wire.OpMulti, mCreate(dir+"/new", 2), mSet(dir+"/a", "changed", -1), mDelete(dir+"/a/b", -1), mDelete(dir+"/eph", -1), mCreate(dir+"/eph2", 1), last, mCreate(dir+"/never", 0))
		a.multi(wire.OpMulti, last)
	}
	// It has changed nothing: data, counters, ephemerals and the next sequence number are as
	// before.
	a.read(wire.OpGetData, dir+"/a", false)
	a.read(wire.OpGetChildren2, dir+"/a", false)
	a.read(wire.OpGetChildren2, dir, false)
	a.ask(wire.OpGetEphemerals, "/")
	a.create(dir+"/seq-", "", 2)
	a.settle()
}

func multiWatches(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	for _, c := range []*client{a, b} {
		c.read(wire.OpGetData, dir+"/a", true)
		c.read(wire.OpExists, dir+"/new", true)
		c.read(wire.OpGetChildren, dir, true)
	}
	a.multi(wire.OpMulti, mSet(dir+"/a", "1", -1), mCreate(dir+"/new", 0), mCheck(dir+"/nope", -1))
	b.settle()
	a.multi(wire.OpMulti, mSet(dir+"/a", "1", -1), mCreate(dir+"/new", 0), mSet(dir+"/new", "2", -1), mDelete(dir+"/a", -1))
	b.settle()
	a.watchOp(wire.OpAddWatch, dir, wire.WatchPersistentRecursive)
	a.multi(wire.OpMulti, mCreate(dir+"/p", 0), mCreate(dir+"/p/q", 0), mSet(dir+"/p", "x", -1), mDelete(dir+"/p/q", -1), mDelete(dir+"/p", -1))
	a.settle()
}

// malformed sends records that end early, have impossible lengths, or are too long.
func malformed(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "x", 0)
	bodies := map[wire.OpCode][]byte{
		wire.OpCreate:               wire.AppendCreateRequest(nil, wire.OpCreate, wire.CreateRequest{Path: dir + "/m", Data: []byte("d"), ACL: open}),
		wire.OpDelete:               wire.AppendPathVersion(nil, wire.PathVersion{Path: dir + "/a", Version: 9}),
		wire.OpSetData:              wire.AppendSetDataRequest(nil, wire.SetDataRequest{Path: dir + "/a", Data: []byte("d"), Version: 9}),
		wire.OpSetACL:               wire.AppendSetACLRequest(nil, wire.SetACLRequest{Path: dir + "/a", ACL: open, Version: 9}),
		wire.OpGetData:              wire.AppendPathWatch(nil, wire.PathWatch{Path: dir + "/a"}),
		wire.OpExists:               wire.AppendPathWatch(nil, wire.PathWatch{Path: dir + "/a"}),
		wire.OpGetChildren:          wire.AppendPathWatch(nil, wire.PathWatch{Path: dir + "/a"}),
		wire.OpGetChildren2:         wire.AppendPathWatch(nil, wire.PathWatch{Path: dir + "/a"}),
		wire.OpGetACL:               wire.AppendString(nil, dir+"/a"),
		wire.OpGetAllChildrenNumber: wire.AppendString(nil, dir+"/a"),
		wire.OpGetEphemerals:        wire.AppendString(nil, dir+"/a"),
		wire.OpSync:                 wire.AppendString(nil, dir+"/a"),
		wire.OpAddWatch:             wire.AppendPathInt(nil, wire.PathInt{Path: dir + "/a", N: 0}),
		wire.OpCheckWatches:         wire.AppendPathInt(nil, wire.PathInt{Path: dir + "/a", N: 3}),
		wire.OpRemoveWatches:        wire.AppendPathInt(nil, wire.PathInt{Path: dir + "/a", N: 3}),
		wire.OpSetWatches:           wire.AppendSetWatchesRequest(nil, wire.OpSetWatches, wire.SetWatchesRequest{RelativeZxid: 1 << 60, Data: watches(dir + "/a"), Exist: watches(), Child: watches()}),
		wire.OpSetWatches2:          wire.AppendSetWatchesRequest(nil, wire.OpSetWatches2, wire.SetWatchesRequest{RelativeZxid: 1 << 60, Data: watches(dir + "/a"), Exist: watches(), Child: watches(), Persistent: watches(), PersistentRecurse: watches()}),
		wire.OpMulti:                wire.AppendMultiOps(nil, []wire.MultiOp{mCheck(dir+"/a", 0)}),
		wire.OpMultiRead:            wire.AppendMultiOps(nil, []wire.MultiOp{mRead(wire.OpGetData, dir+"/a")}),
	}
	for op := wire.OpCode(0); op < 110; op++ {
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
