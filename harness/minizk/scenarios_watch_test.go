package minizk_test

import (
	"mrtq/harness/minizk/wire"
)

func init() {
	scenarios["watch_once"] = watchOnce
	scenarios["watch_order"] = watchOrder
	scenarios["watch_persistent"] = watchPersistent
	scenarios["watch_mixed"] = watchMixed
	scenarios["watch_remove"] = watchRemove
	scenarios["watch_set"] = watchSet
}

func watchOnce(w *world) {
	a, b := w.session("A"), w.session("B")
	b.read(wire.OpExists, dir+"/a", true)
	b.read(wire.OpGetData, dir+"/a", true) // no node, no watch
	b.read(wire.OpGetChildren, dir+"/a", true)
	b.read(wire.OpGetChildren2, dir, true)
	a.create(dir+"/a", "", 0)
	b.settle()
	a.create(dir+"/b", "", 0) // the watches are used up
	b.settle()
	b.read(wire.OpExists, dir+"/a", true)
	b.read(wire.OpGetData, dir+"/a", true)
	b.read(wire.OpGetChildren, dir+"/a", true)
	a.set(dir+"/a", []byte("x"), -1)
	a.set(dir+"/a", []byte("y"), -1)
	b.settle()
	a.create(dir+"/a/k", "", 0)
	b.settle()
	b.read(wire.OpGetData, dir+"/a/k", true)
	b.read(wire.OpGetChildren, dir+"/a/k", true)
	b.read(wire.OpGetChildren, dir+"/a", true)
	a.delete(dir+"/a/k", -1) // one event for the node, although there are two watches
	b.settle()
	b.read(wire.OpGetChildren, dir+"/a", true)
	a.delete(dir+"/a", -1) // a child watch gets its node's deletion
	b.settle()
	b.read(wire.OpGetData, dir+"/b", true)
	a.setACL(dir+"/b", open, -1) // no watch gets this
	b.settle()
	a.set(dir+"/b", []byte("x"), 99) // failures cause no event
	b.settle()
	b.multi(wire.OpMultiRead, wire.MultiOp{Op: wire.OpGetData, Read: wire.PathWatch{Path: dir + "/b", Watch: true}}, wire.MultiOp{Op: wire.OpGetChildren, Read: wire.PathWatch{Path: dir, Watch: true}})
	a.set(dir+"/b", []byte("x"), -1)
	a.delete(dir+"/b", -1)
	b.settle()
}

// watchOrder: the event of one's own change comes before its reply, and before later reads.
func watchOrder(w *world) {
	a := w.session("A")
	a.read(wire.OpExists, dir+"/a", true)
	a.read(wire.OpGetChildren, dir, true)
	a.create(dir+"/a", "", 0)
	a.read(wire.OpGetData, dir+"/a", true)
	a.read(wire.OpGetChildren, dir+"/a", true)
	a.read(wire.OpGetChildren, dir, true)
	a.delete(dir+"/a", -1)
	a.settle()
}

func watchPersistent(w *world) {
	a, b, c := w.session("A"), w.session("B"), w.session("C")
	b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistent)
	c.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistentRecursive)
	c.watchOp(wire.OpAddWatch, dir+"/a/deep/down", wire.WatchPersistentRecursive)
	for range 2 {
		a.create(dir+"/a", "", 0)
		a.set(dir+"/a", []byte("x"), -1)
		a.create(dir+"/a/deep", "", 0)
		a.create(dir+"/a/deep/down", "", 0)
		a.set(dir+"/a/deep/down", []byte("x"), -1)
		a.create(dir+"/ab", "", 0)
		a.delete(dir+"/ab", -1)
		a.delete(dir+"/a/deep/down", -1)
		a.delete(dir+"/a/deep", -1)
		a.delete(dir+"/a", -1)
		b.settle()
		c.settle()
	}
	c.watchOp(wire.OpAddWatch, dir+"/a", 2)
	c.watchOp(wire.OpAddWatch, "bad path", wire.WatchPersistent)
	c.watchOp(wire.OpAddWatch, "", wire.WatchPersistent)
	root := w.session("root")
	root.watchOp(wire.OpAddWatch, "/", wire.WatchPersistentRecursive)
	root.watchOp(wire.OpAddWatch, "/", wire.WatchPersistent)
	a.create(dir+"/x", "", 0)
	root.settle()
	root.watchOp(wire.OpAddWatch, "/", wire.WatchPersistentRecursive)
	a.delete(dir+"/x", -1)
	root.settle()
}

// watchMixed: several kinds of watch of one connection on one path.
func watchMixed(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	b.read(wire.OpGetData, dir+"/a", true)
	b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistent)
	a.set(dir+"/a", []byte("1"), -1)
	a.set(dir+"/a", []byte("2"), -1)
	b.settle()
	b.read(wire.OpGetData, dir+"/a", true) // a watch that fires once replaces the persistent one
	b.read(wire.OpGetChildren, dir+"/a", true)
	a.set(dir+"/a", []byte("3"), -1)
	a.set(dir+"/a", []byte("4"), -1)
	a.create(dir+"/a/k", "", 0)
	a.create(dir+"/a/k2", "", 0)
	b.settle()
	b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistentRecursive)
	b.read(wire.OpExists, dir+"/a", true)
	a.set(dir+"/a", []byte("5"), -1)
	a.set(dir+"/a", []byte("6"), -1)
	a.create(dir+"/a/k3", "", 0)
	b.settle()
	b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistentRecursive)
	b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistent)
	a.set(dir+"/a/k", []byte("5"), -1)
	a.create(dir+"/a/k4", "", 0)
	b.settle()
}

func watchRemove(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	type kind = int32
	for _, set := range []func(){
		func() { b.read(wire.OpGetData, dir+"/a", true) },
		func() { b.read(wire.OpGetChildren, dir+"/a", true) },
		func() { b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistent) },
		func() { b.watchOp(wire.OpAddWatch, dir+"/a", wire.WatchPersistentRecursive) },
		func() { b.read(wire.OpGetData, dir+"/a", true); b.read(wire.OpGetChildren, dir+"/a", true) },
	} {
		for _, k := range []kind{1, 2, 3, 0, 4, 5, -1} {
			set()
			for check := kind(1); check <= 3; check++ {
				b.watchOp(wire.OpCheckWatches, dir+"/a", check)
			}
			b.watchOp(wire.OpRemoveWatches, dir+"/a", k)
			for check := kind(1); check <= 3; check++ {
				b.watchOp(wire.OpCheckWatches, dir+"/a", check)
			}
			a.set(dir+"/a", nil, -1)
			a.create(dir+"/a/k", "", 0)
			a.delete(dir+"/a/k", -1)
			b.settle()
			b.watchOp(wire.OpRemoveWatches, dir+"/a", wire.WatcherAny)
		}
	}
	b.watchOp(wire.OpCheckWatches, "/bad", 3)
	b.watchOp(wire.OpRemoveWatches, "/bad", 3)
	b.watchOp(wire.OpCheckWatches, dir, 9)
	// Other clients' watches, and a watch on a path above.
	a.read(wire.OpGetData, dir+"/a", true)
	b.watchOp(wire.OpCheckWatches, dir+"/a", 2)
	b.watchOp(wire.OpRemoveWatches, dir+"/a", 2)
	b.watchOp(wire.OpAddWatch, dir, wire.WatchPersistentRecursive)
	a.create(dir+"/below", "", 0)
	b.watchOp(wire.OpCheckWatches, dir+"/below", 3)
	b.watchOp(wire.OpRemoveWatches, dir+"/below", 3)
	a.set(dir+"/a", []byte("spent"), -1)
	b.watchOp(wire.OpCheckWatches, dir+"/a", 2)
}

func watchSet(w *world) {
	a := w.session("A")
	a.create(dir+"/old", "", 0)
	a.create(dir+"/parent", "", 0)
	since := a.must(wire.OpPing, nil).Zxid
	a.create(dir+"/fresh", "", 0)
	a.create(dir+"/parent/kid", "", 0)
	a.create(dir+"/set", "", 0)
	all := watches(dir+"/old", dir+"/parent", dir+"/fresh", dir+"/set", dir+"/nope", dir)
	for i, r := range []wire.SetWatchesRequest{
		{RelativeZxid: since, Data: all}, {RelativeZxid: since, Exist: all}, {RelativeZxid: since, Child: all},
		{RelativeZxid: since, Persistent: all}, {RelativeZxid: since, PersistentRecurse: all},
		{RelativeZxid: since, Data: all, Exist: all, Child: all}, {RelativeZxid: since + 100, Data: all, Exist: all, Child: all},
		{},
	} {
		for _, op := range []wire.OpCode{wire.OpSetWatches, wire.OpSetWatches2} {
			if op == wire.OpSetWatches && i > 2 && i < 5 {
				continue
			}
			c := w.session("C")
			c.setWatches(op, r)
			a.set(dir+"/old", nil, -1)
			a.create(dir+"/parent/k", "", 0)
			a.create(dir+"/nope", "", 0)
			a.delete(dir+"/nope", -1)
			a.delete(dir+"/parent/k", -1)
			c.settle()
			c.do("close", wire.OpCloseSession, nil)
			c.expectEnd()
		}
	}
}
