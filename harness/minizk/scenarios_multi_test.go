package minizk_test

import (
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
	c2, container, ttl := mCreate(dir+"/c2", 0), mCreate(dir+"/cont", 4), mCreate(dir+"/ttl", 5)
	c2.Op, container.Op, ttl.Op, ttl.Create.TTL = jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, 1000000
	a.multi(jute.OpMulti, mCreate(dir+"/a", 0), c2, container, ttl, mCreate(dir+"/e", 1), mCheck(dir+"/a", 0),
		mSet(dir+"/a", "1", 0), mCheck(dir+"/a", 1), mSet(dir+"/a", "22", 1), mCreate(dir+"/a/b", 0), mDelete(dir+"/a/b", 0))
	a.read(jute.OpGetData, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir, false)
	a.ask(jute.OpGetEphemerals, "/")
	// One transaction creates, deletes and recreates a node, and also a parent.
	a.multi(jute.OpMulti, mDelete(dir+"/a", -1), mCreate(dir+"/a", 0), mCreate(dir+"/a/b", 0), mCreate(dir+"/a/b/c", 2), mSet(dir+"/a", "x", 0))
	a.read(jute.OpGetData, dir+"/a", false)
	a.read(jute.OpGetChildren2, dir+"/a/b", false)
	a.multi(jute.OpMulti, mCheck(dir+"/a", -1))
	a.multi(jute.OpMulti, mRead(jute.OpGetData, dir+"/a"))
	a.multi(jute.OpMulti, mRead(jute.OpGetData, dir+"/a"), mCheck(dir+"/a", -1))
	a.multi(jute.OpMulti, mCheck(dir+"/a", -1), mRead(jute.OpGetData, dir+"/a"))
	a.settle()
}

func multiFails(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "", 0)
	a.create(dir+"/a/b", "", 0)
	a.create(dir+"/eph", "", 1)
	for _, last := range []jute.MultiOp{
		mCreate(dir+"/a", 0), mCreate(dir+"/nope/x", 0), mCreate(dir+"/eph/x", 0), mCreate("bad", 0), mCreate(dir+"/new/", 0), mCreate(dir+"/flags", 9),
		mDelete(dir+"/a", -1), mDelete(dir+"/a", 5), mDelete(dir+"/nope", -1), mDelete("/", -1),
		mSet(dir+"/a", "x", 7), mSet(dir+"/nope", "x", -1), mCheck(dir+"/a", 3), mCheck(dir+"/nope", -1), mCheck("bad", -1),
		{Op: jute.OpCreate, Create: jute.CreateRequest{Path: dir + "/noacl"}},
	} {
		a.multi(jute.OpMulti, mCreate(dir+"/new", 2), mSet(dir+"/a", "changed", -1), mDelete(dir+"/a/b", -1), mDelete(dir+"/eph", -1), mCreate(dir+"/eph2", 1), last, mCreate(dir+"/never", 0))
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
	a.multi(jute.OpMulti, mSet(dir+"/a", "1", -1), mCreate(dir+"/new", 0), mCheck(dir+"/nope", -1))
	b.settle()
	a.multi(jute.OpMulti, mSet(dir+"/a", "1", -1), mCreate(dir+"/new", 0), mSet(dir+"/new", "2", -1), mDelete(dir+"/a", -1))
	b.settle()
	a.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	a.multi(jute.OpMulti, mCreate(dir+"/p", 0), mCreate(dir+"/p/q", 0), mSet(dir+"/p", "x", -1), mDelete(dir+"/p/q", -1), mDelete(dir+"/p", -1))
	a.settle()
}

// malformed sends records that end early, have impossible lengths, or are too long.
func malformed(w *world) {
	a := w.session("A")
	a.create(dir+"/a", "x", 0)
	bodies := map[jute.OpCode][]byte{
		jute.OpCreate:               jute.AppendCreateRequest(nil, jute.OpCreate, jute.CreateRequest{Path: dir + "/m", Data: []byte("d"), ACL: open}),
		jute.OpDelete:               jute.AppendPathVersion(nil, jute.PathVersion{Path: dir + "/a", Version: 9}),
		jute.OpSetData:              jute.AppendSetDataRequest(nil, jute.SetDataRequest{Path: dir + "/a", Data: []byte("d"), Version: 9}),
		jute.OpSetACL:               jute.AppendSetACLRequest(nil, jute.SetACLRequest{Path: dir + "/a", ACL: open, Version: 9}),
		jute.OpGetData:              jute.AppendPathWatch(nil, jute.PathWatch{Path: dir + "/a"}),
		jute.OpExists:               jute.AppendPathWatch(nil, jute.PathWatch{Path: dir + "/a"}),
		jute.OpGetChildren:          jute.AppendPathWatch(nil, jute.PathWatch{Path: dir + "/a"}),
		jute.OpGetChildren2:         jute.AppendPathWatch(nil, jute.PathWatch{Path: dir + "/a"}),
		jute.OpGetACL:               jute.AppendString(nil, dir+"/a"),
		jute.OpGetAllChildrenNumber: jute.AppendString(nil, dir+"/a"),
		jute.OpGetEphemerals:        jute.AppendString(nil, dir+"/a"),
		jute.OpSync:                 jute.AppendString(nil, dir+"/a"),
		jute.OpAddWatch:             jute.AppendPathInt(nil, jute.PathInt{Path: dir + "/a", N: 0}),
		jute.OpCheckWatches:         jute.AppendPathInt(nil, jute.PathInt{Path: dir + "/a", N: 3}),
		jute.OpRemoveWatches:        jute.AppendPathInt(nil, jute.PathInt{Path: dir + "/a", N: 3}),
		jute.OpSetWatches:           jute.AppendSetWatchesRequest(nil, jute.OpSetWatches, jute.SetWatchesRequest{RelativeZxid: 1 << 60, Data: watches(dir + "/a"), Exist: watches(), Child: watches()}),
		jute.OpSetWatches2:          jute.AppendSetWatchesRequest(nil, jute.OpSetWatches2, jute.SetWatchesRequest{RelativeZxid: 1 << 60, Data: watches(dir + "/a"), Exist: watches(), Child: watches(), Persistent: watches(), PersistentRecurse: watches()}),
		jute.OpMulti:                jute.AppendMultiOps(nil, []jute.MultiOp{mCheck(dir+"/a", 0)}),
		jute.OpMultiRead:            jute.AppendMultiOps(nil, []jute.MultiOp{mRead(jute.OpGetData, dir+"/a")}),
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
