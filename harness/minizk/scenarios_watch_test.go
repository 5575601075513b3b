package minizk_test

import (
	"mrtq/internal/jute"
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
	b.read(jute.OpExists, dir+"/a", true)
	b.read(jute.OpGetData, dir+"/a", true) // no node, no watch
	b.read(jute.OpGetChildren, dir+"/a", true)
	b.read(jute.OpGetChildren2, dir, true)
	a.create(dir+"/a", "", 0)
	b.settle()
	a.create(dir+"/b", "", 0) // the watches are used up
	b.settle()
	b.read(jute.OpExists, dir+"/a", true)
	b.read(jute.OpGetData, dir+"/a", true)
	b.read(jute.OpGetChildren, dir+"/a", true)
	a.set(dir+"/a", []byte("x"), -1)
	a.set(dir+"/a", []byte("y"), -1)
	b.settle()
	a.create(dir+"/a/k", "", 0)
	b.settle()
	b.read(jute.OpGetData, dir+"/a/k", true)
	b.read(jute.OpGetChildren, dir+"/a/k", true)
	b.read(jute.OpGetChildren, dir+"/a", true)
	a.delete(dir+"/a/k", -1) // one event for the node, although there are two watches
	b.settle()
	b.read(jute.OpGetChildren, dir+"/a", true)
	a.delete(dir+"/a", -1) // a child watch gets its node's deletion
	b.settle()
	b.read(jute.OpGetData, dir+"/b", true)
	a.setACL(dir+"/b", open, -1) // no watch gets this
	b.settle()
	a.set(dir+"/b", []byte("x"), 99) // failures cause no event
	b.settle()
	b.multi(jute.OpMultiRead, jute.Request{Op: jute.OpGetData, Path: dir + "/b", Watch: true}, jute.Request{Op: jute.OpGetChildren, Path: dir, Watch: true})
	a.set(dir+"/b", []byte("x"), -1)
	a.delete(dir+"/b", -1)
	b.settle()
}

// watchOrder: the event of one's own change comes before its reply, and before later reads.
func watchOrder(w *world) {
	a := w.session("A")
	a.read(jute.OpExists, dir+"/a", true)
	a.read(jute.OpGetChildren, dir, true)
	a.create(dir+"/a", "", 0)
	a.read(jute.OpGetData, dir+"/a", true)
	a.read(jute.OpGetChildren, dir+"/a", true)
	a.read(jute.OpGetChildren, dir, true)
	a.delete(dir+"/a", -1)
	a.settle()
}

func watchPersistent(w *world) {
	a, b, c := w.session("A"), w.session("B"), w.session("C")
	b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistent)
	c.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistentRecursive)
	c.watchOp(jute.OpAddWatch, dir+"/a/deep/down", jute.WatchPersistentRecursive)
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
	c.watchOp(jute.OpAddWatch, dir+"/a", 2)
	c.watchOp(jute.OpAddWatch, "bad path", jute.WatchPersistent)
	c.watchOp(jute.OpAddWatch, "", jute.WatchPersistent)
	root := w.session("root")
	root.watchOp(jute.OpAddWatch, "/", jute.WatchPersistentRecursive)
	root.watchOp(jute.OpAddWatch, "/", jute.WatchPersistent)
	a.create(dir+"/x", "", 0)
	root.settle()
	root.watchOp(jute.OpAddWatch, "/", jute.WatchPersistentRecursive)
	a.delete(dir+"/x", -1)
	root.settle()
}

// watchMixed: several kinds of watch of one connection on one path.
func watchMixed(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	b.read(jute.OpGetData, dir+"/a", true)
	b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistent)
	a.set(dir+"/a", []byte("1"), -1)
	a.set(dir+"/a", []byte("2"), -1)
	b.settle()
	b.read(jute.OpGetData, dir+"/a", true) // a watch that fires once replaces the persistent one
	b.read(jute.OpGetChildren, dir+"/a", true)
	a.set(dir+"/a", []byte("3"), -1)
	a.set(dir+"/a", []byte("4"), -1)
	a.create(dir+"/a/k", "", 0)
	a.create(dir+"/a/k2", "", 0)
	b.settle()
	b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistentRecursive)
	b.read(jute.OpExists, dir+"/a", true)
	a.set(dir+"/a", []byte("5"), -1)
	a.set(dir+"/a", []byte("6"), -1)
	a.create(dir+"/a/k3", "", 0)
	b.settle()
	b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistentRecursive)
	b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistent)
	a.set(dir+"/a/k", []byte("5"), -1)
	a.create(dir+"/a/k4", "", 0)
	b.settle()
}

func watchRemove(w *world) {
	a, b := w.session("A"), w.session("B")
	a.create(dir+"/a", "", 0)
	type kind = int32
	for _, set := range []func(){
		func() { b.read(jute.OpGetData, dir+"/a", true) },
		func() { b.read(jute.OpGetChildren, dir+"/a", true) },
		func() { b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistent) },
		func() { b.watchOp(jute.OpAddWatch, dir+"/a", jute.WatchPersistentRecursive) },
		func() { b.read(jute.OpGetData, dir+"/a", true); b.read(jute.OpGetChildren, dir+"/a", true) },
	} {
		for _, k := range []kind{1, 2, 3, 0, 4, 5, -1} {
			set()
			for check := kind(1); check <= 3; check++ {
				b.watchOp(jute.OpCheckWatches, dir+"/a", check)
			}
			b.watchOp(jute.OpRemoveWatches, dir+"/a", k)
			for check := kind(1); check <= 3; check++ {
				b.watchOp(jute.OpCheckWatches, dir+"/a", check)
			}
			a.set(dir+"/a", nil, -1)
			a.create(dir+"/a/k", "", 0)
			a.delete(dir+"/a/k", -1)
			b.settle()
			b.watchOp(jute.OpRemoveWatches, dir+"/a", jute.WatcherAny)
		}
	}
	b.watchOp(jute.OpCheckWatches, "/bad", 3)
	b.watchOp(jute.OpRemoveWatches, "/bad", 3)
	b.watchOp(jute.OpCheckWatches, dir, 9)
	// Other clients' watches, and a watch on a path above.
	a.read(jute.OpGetData, dir+"/a", true)
	b.watchOp(jute.OpCheckWatches, dir+"/a", 2)
	b.watchOp(jute.OpRemoveWatches, dir+"/a", 2)
	b.watchOp(jute.OpAddWatch, dir, jute.WatchPersistentRecursive)
	a.create(dir+"/below", "", 0)
	b.watchOp(jute.OpCheckWatches, dir+"/below", 3)
	b.watchOp(jute.OpRemoveWatches, dir+"/below", 3)
	a.set(dir+"/a", []byte("spent"), -1)
	b.watchOp(jute.OpCheckWatches, dir+"/a", 2)
}

func watchSet(w *world) {
	a := w.session("A")
	a.create(dir+"/old", "", 0)
	a.create(dir+"/parent", "", 0)
	since := a.must(jute.Request{Op: jute.OpPing}).Zxid
	a.create(dir+"/fresh", "", 0)
	a.create(dir+"/parent/kid", "", 0)
	a.create(dir+"/set", "", 0)
	all := []string{dir + "/old", dir + "/parent", dir + "/fresh", dir + "/set", dir + "/nope", dir}
	for i, lists := range [][][]string{{all}, {nil, all}, {nil, nil, all}, {nil, nil, nil, all}, {nil, nil, nil, nil, all}, {all, all, all}, {all, all, all}, nil} {
		from := since + []int64{0, 0, 0, 0, 0, 0, 100, -since}[i]
		for _, op := range []jute.OpCode{jute.OpSetWatches, jute.OpSetWatches2} {
			if op == jute.OpSetWatches && i > 2 && i < 5 {
				continue
			}
			c := w.session("C")
			c.setWatches(op, from, lists...)
			a.set(dir+"/old", nil, -1)
			a.create(dir+"/parent/k", "", 0)
			a.create(dir+"/nope", "", 0)
			a.delete(dir+"/nope", -1)
			a.delete(dir+"/parent/k", -1)
			c.settle()
			c.do("close", jute.OpCloseSession, nil)
			c.expectEnd()
		}
	}
}
