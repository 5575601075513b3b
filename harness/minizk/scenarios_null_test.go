package minizk_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/harness/minizk/wire"
)

// Strings, buffers and lists can be null in a record. What a null means differs from field to field,
// so these scenarios try every field, alone and with the others of its record. They build the
// records themselves, because they also test how package wire treats null.

func init() {
	scenarios["null_fields"] = nullFields
	scenarios["null_in_multi"] = nullInMulti
	scenarios["null_and_other_faults"] = nullAndOtherFaults
	scenarios["null_acl"] = nullACLs
	scenarios["null_watches"] = nullWatches
	scenarios["null_identities"] = nullIdentities
	scenarios["null_token"] = nullToken
}

// part is a field of a record. One that has a name can be null instead.
type part struct {
	name  string
	bytes []byte // for a list, its length
	inner []part // the elements of a list
}

func fixed(b []byte) part              { return part{bytes: b} }
func text(name, value string) part     { return part{name: name, bytes: wire.AppendString(nil, value)} }
func list(name string, e ...part) part { return part{name, wire.AppendInt(nil, int32(len(e))), e} }

var null = wire.AppendInt(nil, -1)

// entry returns an access list with one entry.
func entry(perms int32, scheme, id string) part {
	return part{"acl", wire.AppendInt(nil, 1), []part{fixed(wire.AppendInt(nil, perms)), text("scheme", scheme), text("id", id)}}
}

// entries returns an access list. A nil scheme or id is null.
func entries(of ...nullableACL) []byte {
	b := wire.AppendInt(nil, int32(len(of)))
	for _, e := range of {
		b = wire.AppendNullString(wire.AppendNullString(wire.AppendInt(b, e.perms), e.scheme), e.id)
	}
	return b
}

type nullableACL struct {
	perms      int32
	scheme, id *string
}

// variant is a record with some of its fields null.
type variant struct {
	nulls []string
	bytes []byte
}

func (v variant) String() string {
	if len(v.nulls) == 0 {
		return "no null"
	}
	return "null " + strings.Join(v.nulls, ", ")
}

// variants returns all variants of a record, with each field present or null.
func variants(parts []part) []variant {
	all := []variant{{}}
	for _, p := range parts {
		var next []variant
		for _, v := range all {
			for _, in := range variants(p.inner) {
				next = append(next, variant{slices.Concat(v.nulls, in.nulls), slices.Concat(v.bytes, p.bytes, in.bytes)})
			}
			if p.name != "" {
				next = append(next, variant{append(slices.Clip(v.nulls), p.name), slices.Concat(v.bytes, null)})
			}
		}
		all = next
	}
	return all
}

// record returns a request's fields. The request is about the given path.
type record struct {
	op    wire.OpCode
	parts func(path string) []part
}

func creation(op wire.OpCode, flags int32, ttl ...int64) record {
	return record{op, func(path string) []part {
		end := wire.AppendInt(nil, flags)
		for _, t := range ttl {
			end = wire.AppendLong(end, t)
		}
		return []part{text("path", path), text("data", "d"), entry(31, "world", "anyone"), fixed(end)}
	}}
}

// pathAnd is a record of a path and something that cannot be null.
func pathAnd(op wire.OpCode, rest ...byte) record {
	return record{op, func(path string) []part { return []part{text("path", path), fixed(rest)} }}
}

func anyVersion(op wire.OpCode) record { return pathAnd(op, wire.AppendInt(nil, -1)...) }
func watching(op wire.OpCode) record   { return pathAnd(op, 1) }

var setting = record{wire.OpSetData, func(path string) []part {
	return []part{text("path", path), text("data", "d"), fixed(wire.AppendInt(nil, -1))}
}}

// changes are the requests that a multi can carry, too.
var changes = []record{
	creation(wire.OpCreate, 0), creation(wire.OpCreate2, 0), creation(wire.OpCreateContainer, 4), creation(wire.OpCreateTTL, 5, 100000),
	setting, anyVersion(wire.OpDelete), anyVersion(wire.OpCheck),
}

func watchLists(op wire.OpCode, names ...string) record {
	return record{op, func(path string) []part {
		parts := []part{fixed(wire.AppendLong(nil, 1<<60))}
		for _, name := range names {
			parts = append(parts, list(name, text("one of "+name, path)))
		}
		return parts
	}}
}

// plain is the valid record. null is the record with a null path.
func (r record) plain(path string) []byte { return variants(r.parts(path))[0].bytes }
func (r record) null() []byte {
	all := variants(r.parts(""))
	return all[slices.IndexFunc(all, func(v variant) bool { return slices.Equal(v.nulls, []string{"path"}) })].bytes
}

// target returns the path that the n-th variant of a record names.
func (r record) target(n int) string {
	switch r.op {
	case wire.OpCreate, wire.OpCreate2, wire.OpCreateContainer, wire.OpCreateTTL:
		return fmt.Sprintf("%s/n%03d", dir, n)
	case wire.OpDelete:
		return dir + "/nope"
	}
	return dir + "/node"
}

// others are all other requests that a client may send and that do not end its
// connection.
var others = []record{
	{wire.OpSetACL, func(path string) []part {
		return []part{text("path", path), entry(31, "world", "anyone"), fixed(wire.AppendInt(nil, -1))}
	}},
	watching(wire.OpExists), watching(wire.OpGetData), watching(wire.OpGetChildren), watching(wire.OpGetChildren2),
	pathAnd(wire.OpExists, 0), pathAnd(wire.OpGetData, 0), pathAnd(wire.OpGetChildren, 0), pathAnd(wire.OpGetChildren2, 0),
	pathAnd(wire.OpGetACL), pathAnd(wire.OpGetAllChildrenNumber), pathAnd(wire.OpGetEphemerals), pathAnd(wire.OpSync),
	pathAnd(wire.OpDeleteContainer),
	pathAnd(wire.OpCheckWatches, 0, 0, 0, 1), pathAnd(wire.OpCheckWatches, 0, 0, 0, 2), pathAnd(wire.OpCheckWatches, 0, 0, 0, 3),
	pathAnd(wire.OpRemoveWatches, 0, 0, 0, 1), pathAnd(wire.OpRemoveWatches, 0, 0, 0, 2), pathAnd(wire.OpRemoveWatches, 0, 0, 0, 3),
	pathAnd(wire.OpAddWatch, 0, 0, 0, 0), pathAnd(wire.OpAddWatch, 0, 0, 0, 1),
	watchLists(wire.OpSetWatches, "data", "exist", "child"),
	watchLists(wire.OpSetWatches2, "data", "exist", "child", "persistent", "recursive"),
	{wire.OpReconfig, func(string) []part {
		return []part{text("joining", "x"), text("leaving", "x"), text("new", "x"), fixed(wire.AppendLong(nil, -1))}
	}},
}

// nullFields sends every variant of every record. Each variant has its own client, so that no
// client has another's watches. After a watch of a null path the real server forgets less than
// it should, so this scenario needs a server of its own.
func nullFields(w *world) {
	a := w.session("A")
	a.create(dir+"/node", "x", 0)
	n := 0
	for _, r := range slices.Concat(changes, others) {
		for i := range variants(r.parts("")) {
			n++
			v := variants(r.parts(r.target(n)))[i]
			if r.op == wire.OpSetWatches2 && len(v.nulls) > 1 {
				continue // there are 243 variants, and setWatches is tried in full
			}
			lines := len(w.lines)
			c := w.session("C")
			w.lines = w.lines[:lines]
			if r.op == wire.OpCheck && len(v.nulls) == 0 {
				c.unanswered("check, no null", r.op, v.bytes)
			} else {
				c.do(fmt.Sprintf("%s, %s", r.op, v), r.op, v.bytes)
			}
			c.hangUp()
		}
	}
	a.read(wire.OpGetChildren2, dir, false)
	a.settle()
}

// in is one operation of a multi.
func in(op wire.OpCode, body []byte) []byte {
	return append(wire.AppendMultiHeader(nil, wire.MultiHeader{Op: op, Err: -1}), body...)
}

// nullInMulti puts each variant of a change, and of a read, between operations that succeed, and
// first.
func nullInMulti(w *world) {
	a := w.session("A")
	a.create(dir+"/node", "x", 0)
	a.create(dir+"/count", "x", 0)
	n := 0
	multi := func(op wire.OpCode, what string, ops ...[]byte) {
		a.do(what, op, slices.Concat(slices.Concat(ops...), wire.AppendMultiEnd(nil)))
	}
	count := in(wire.OpSetData, wire.AppendSetDataRequest(nil, wire.SetDataRequest{Path: dir + "/count", Version: -1}))
	for _, r := range changes {
		for i := range variants(r.parts("")) {
			for _, first := range []bool{true, false} {
				n++
				v := variants(r.parts(r.target(n)))[i]
				if first {
					multi(wire.OpMulti, fmt.Sprintf("multi of %s, %s", r.op, v), in(r.op, v.bytes))
				} else {
					multi(wire.OpMulti, fmt.Sprintf("multi of 3, %s, %s", r.op, v), count, in(r.op, v.bytes), count)
				}
			}
		}
	}
	read := in(wire.OpGetData, wire.AppendPathWatch(nil, wire.PathWatch{Path: dir + "/count"}))
	for _, r := range []record{watching(wire.OpGetData), watching(wire.OpGetChildren)} {
		for _, v := range variants(r.parts(dir + "/node")) {
			multi(wire.OpMultiRead, fmt.Sprintf("multiRead of %s, %s", r.op, v), in(r.op, v.bytes))
			multi(wire.OpMultiRead, fmt.Sprintf("multiRead of 3, %s, %s", r.op, v), read, in(r.op, v.bytes), read)
			multi(wire.OpMulti, fmt.Sprintf("multi of %s, %s", r.op, v), in(r.op, v.bytes))
		}
	}
	null := in(wire.OpDelete, anyVersion(wire.OpDelete).null())
	multi(wire.OpMulti, "multi of delete null and getData", null, read)
	multi(wire.OpMulti, "multi of getData and delete null", read, null)
	multi(wire.OpMultiRead, "multiRead of delete null", null)
	multi(wire.OpMulti, "multi of a failure and delete null", in(wire.OpDelete, anyVersion(wire.OpDelete).plain(dir+"/nope")), null)
	a.do("multi of delete null, that does not end", wire.OpMulti, null)
	a.read(wire.OpGetChildren2, dir, false)
	a.read(wire.OpExists, dir+"/count", false)
	a.settle()
}

// nullAndOtherFaults: a request has a null and another mistake. The transcript shows which of them
// the server reports.
func nullAndOtherFaults(w *world) {
	a := w.session("A")
	a.create(dir+"/node", "x", 0)
	path := func(rest ...[]byte) []byte { return append(slices.Clip(null), slices.Concat(rest...)...) }
	anybody, nobody := entries(nullableACL{31, new("world"), new("anyone")}), entries(nullableACL{31, new("nope"), new("x")})
	flags := func(n int32) []byte { return wire.AppendInt(nil, n) }
	for _, t := range []struct {
		what string
		op   wire.OpCode
		body []byte
	}{
		{"create null with no such flags", wire.OpCreate, path(null, anybody, flags(9))},
		{"create null with flags that want a time", wire.OpCreate, path(null, anybody, flags(5))},
		{"create null with a bad list", wire.OpCreate, path(null, nobody, flags(0))},
		{"create null in sequence", wire.OpCreate, path(null, anybody, flags(2))},
		{"createTTL null with a bad time", wire.OpCreateTTL, path(null, anybody, flags(5), wire.AppendLong(nil, 0))},
		{"create null that ends early", wire.OpCreate, path(null, anybody)},
		{"setACL null with a bad list", wire.OpSetACL, path(nobody, flags(-1))},
		{"setACL null with a null list", wire.OpSetACL, path(null, flags(-1))},
		{"setACL null with a bad version", wire.OpSetACL, path(anybody, flags(7))},
		{"setACL of what is not there, null scheme", wire.OpSetACL, append(wire.AppendString(nil, dir+"/nope"), append(entries(nullableACL{31, nil, new("x")}), flags(-1)...)...)},
		{"setACL of what is not there, null id", wire.OpSetACL, append(wire.AppendString(nil, dir+"/nope"), append(entries(nullableACL{31, new("digest"), nil}), flags(-1)...)...)},
		{"create where nothing is, null id", wire.OpCreate, slices.Concat(wire.AppendString(nil, dir+"/nope/x"), null, entries(nullableACL{31, new("ip"), nil}), flags(0))},
		{"create of a bad path, null scheme", wire.OpCreate, slices.Concat(wire.AppendString(nil, dir+"//x"), null, entries(nullableACL{31, nil, nil}), flags(0))},
		{"create with a bad time, null id", wire.OpCreateTTL, slices.Concat(wire.AppendString(nil, dir+"/x"), null, entries(nullableACL{31, new("ip"), nil}), flags(5), wire.AppendLong(nil, 0))},
		{"setData null with a bad version", wire.OpSetData, path(null, flags(7))},
		{"setData null that ends early", wire.OpSetData, path(null)},
		{"delete null with a bad version", wire.OpDelete, path(flags(7))},
		{"check null that ends early", wire.OpCheck, path(nil)},
		{"removeWatches null of no kind", wire.OpRemoveWatches, path(flags(9))},
		{"checkWatches null of no kind", wire.OpCheckWatches, path(flags(9))},
		{"addWatch null in no mode", wire.OpAddWatch, path(flags(9))},
		{"addWatch null that ends early", wire.OpAddWatch, path(nil)},
		{"reconfig null that ends early", wire.OpReconfig, path(nil)},
		{"exists null that ends early", wire.OpExists, path(nil)},
	} {
		a.do(t.what, t.op, t.body)
	}
	a.read(wire.OpGetChildren2, dir, false)
	a.settle()
}

// nullACLs: every scheme with a null id, by a client with an identity and by one without. It also
// sends lists of two, because the server looks for duplicates first.
func nullACLs(w *world) {
	a, b := w.session("A"), w.session("B")
	b.auth("digest", "b:b")
	a.create(dir+"/node", "x", 0)
	a.create(dir+"/count", "x", 0)
	schemes := []*string{nil, new(""), new("world"), new("auth"), new("digest"), new("ip"), new("super"), new("sasl"), new("x509"), new("nope")}
	name := func(s *string) string {
		if s == nil {
			return "null"
		}
		return fmt.Sprintf("%q", *s)
	}
	n := 0
	tries := func(what string, acl []byte) {
		for _, c := range []*client{a, b} {
			n++
			path := fmt.Sprintf("%s/n%03d", dir, n)
			create := slices.Concat(wire.AppendString(nil, path), null, acl, wire.AppendInt(nil, 0))
			c.do("create "+what, wire.OpCreate, create)
			c.ask(wire.OpGetACL, path)
			c.do("multi of create "+what, wire.OpMulti, slices.Concat(in(wire.OpSetData, setting.plain(dir+"/count")),
				in(wire.OpCreate, slices.Concat(wire.AppendString(nil, path+"m"), null, acl, wire.AppendInt(nil, 0))), wire.AppendMultiEnd(nil)))
			c.create(path+"s", "", 0)
			c.do("setACL "+what, wire.OpSetACL, slices.Concat(wire.AppendString(nil, path+"s"), acl, wire.AppendInt(nil, -1)))
			c.ask(wire.OpGetACL, path+"s")
		}
	}
	for _, scheme := range schemes {
		for _, id := range []*string{nil, new("")} {
			tries(fmt.Sprintf("[%s:%s]", name(scheme), name(id)), entries(nullableACL{31, scheme, id}))
		}
	}
	anybody := nullableACL{31, new("world"), new("anyone")}
	for _, pair := range [][2]nullableACL{
		{anybody, {31, nil, new("x")}}, {anybody, {1, nil, new("x")}}, {{31, nil, new("x")}, anybody}, {{31, nil, new("x")}, {31, nil, new("x")}}, {{31, nil, nil}, {1, nil, nil}},
		{anybody, {31, new("world"), nil}}, {anybody, {1, new("world"), nil}}, {anybody, {31, new("auth"), nil}}, {{31, new("auth"), nil}, anybody},
		{{31, new("auth"), nil}, {31, new("auth"), nil}}, {{31, new("auth"), nil}, {1, new("auth"), nil}}, {{31, new("auth"), new("")}, {31, new("auth"), nil}}, {{31, new("auth"), nil}, {31, new("auth"), new("")}},
		{{31, new("nope"), new("x")}, {31, new("nope"), nil}}, {{31, new("nope"), new("x")}, {31, nil, nil}}, {{31, new("digest"), nil}, {31, nil, nil}}, {{31, new("nope"), nil}, {31, new("ip"), nil}},
		{{31, new("nope"), new("x")}, {1, new("nope"), nil}}, {{1, new("ip"), nil}, {31, new("nope"), nil}},
	} {
		var names []string
		for _, e := range pair {
			names = append(names, fmt.Sprintf("%d %s:%s", e.perms, name(e.scheme), name(e.id)))
		}
		tries(fmt.Sprint(names), entries(pair[:]...))
	}
	tries("[world:anyone twice, null scheme]", entries(anybody, anybody, nullableACL{31, nil, nil}))
	tries("[a:b twice, then null]", entries(nullableACL{31, new("digest"), new("a:b")}, nullableACL{31, new("digest"), new("a:b")}, nullableACL{31, new("auth"), nil}))
	a.read(wire.OpExists, dir+"/count", false)
	a.settle()
}

// nullWatches: a null path can be watched, but nothing ever happens to it. If a list contains a
// null, the watches before it are set. This scenario needs a server of its own, too: see
// nullFields.
func nullWatches(w *world) {
	b := w.session("B")
	for _, mode := range []int32{wire.WatchPersistent, wire.WatchPersistentRecursive} {
		a := w.session("A")
		tell := func(c *client, op wire.OpCode, n int32) {
			c.do(fmt.Sprintf("%s null %d", op, n), op, wire.AppendInt(slices.Clip(null), n))
		}
		a.watchOp(wire.OpAddWatch, dir+"/x", wire.WatchPersistent)
		for kind := int32(0); kind <= 4; kind++ {
			tell(a, wire.OpRemoveWatches, kind)
			tell(a, wire.OpCheckWatches, kind)
		}
		tell(a, wire.OpAddWatch, mode)
		for kind := int32(0); kind <= 4; kind++ {
			tell(a, wire.OpCheckWatches, kind)
			tell(b, wire.OpCheckWatches, kind)
			tell(b, wire.OpRemoveWatches, kind)
		}
		b.create(dir+"/x", "", 0)
		b.delete(dir+"/x", -1)
		a.settle()
	}
	names := []string{"data", "exist", "child", "persistent", "recursive"}
	for at := range names {
		for _, whole := range []bool{false, true} {
			a := w.session("A")
			base := fmt.Sprintf("%s/%d%v", dir, at, whole)
			for _, suffix := range []string{"", "/data1", "/data3", "/child1", "/child3"} {
				b.create(base+suffix, "", 0)
			}
			body := wire.AppendLong(nil, 1<<60)
			for i, name := range names {
				switch {
				case i == at && whole:
					body = append(body, null...)
					continue
				case i == at:
					body = wire.AppendInt(body, 3)
					body = append(wire.AppendString(body, base+"/"+name+"1"), null...)
				default:
					body = wire.AppendInt(body, 1)
				}
				body = wire.AppendString(body, base+"/"+name+"3")
			}
			what := "setWatches2, null one of " + names[at]
			if whole {
				what = "setWatches2, null " + names[at]
			}
			a.doXid(what, wire.XidSetWatches, wire.OpSetWatches2, body)
			for _, name := range names {
				for _, path := range []string{base + "/" + name + "1", base + "/" + name + "3"} {
					for _, kind := range []int32{wire.WatcherChildren, wire.WatcherData} {
						a.watchOp(wire.OpCheckWatches, path, kind)
					}
				}
			}
			b.set(base+"/data1", []byte("1"), -1)
			b.set(base+"/data3", []byte("3"), -1)
			a.settle()
		}
	}
}

// nullIdentities: nulls in a client's identities.
func nullIdentities(w *world) {
	a := w.session("A")
	who := func() { a.do("whoAmI", wire.OpWhoAmI, nil) }
	for _, scheme := range []*string{nil, new(""), new("digest"), new("ip"), new("world"), new("auth"), new("super"), new("sasl"), new("x509"), new("nope")} {
		for _, secret := range [][]byte{nil, {}, []byte("u:p")} {
			name := "null"
			if scheme != nil {
				name = fmt.Sprintf("%q", *scheme)
			}
			if a.dead {
				a.hangUp()
				a = w.session("A")
			}
			a.doXid(fmt.Sprintf("auth %s %s", name, data(secret)), wire.XidAuth, wire.OpAuth,
				wire.AppendBuffer(wire.AppendNullString(wire.AppendInt(nil, 0), scheme), secret))
			if scheme != nil && (*scheme == "digest" || *scheme == "ip") && secret != nil || a.dead {
				continue
			}
			if scheme != nil && *scheme == "ip" {
				continue
			}
			a.expectEnd()
		}
	}
	a = w.session("A")
	who()
	for _, r := range []wire.ConnectRequest{
		{TimeoutMillis: 10000, HasReadOnly: true}, {TimeoutMillis: 10000, SessionID: 0x77, HasReadOnly: true}, {TimeoutMillis: 10000},
		{TimeoutMillis: 10000, SessionID: a.c.Session.SessionID, HasReadOnly: true},
	} {
		w.dial("null password").connect(r)
	}
	a.expectEnd()
}

// nullToken: after a null SASL token a server ignores the connection. It does not answer, does no
// requests, and closes the connection only when the session expires.
func nullToken(w *world) {
	a, b := w.dial("A"), w.session("B")
	a.connect(wire.ConnectRequest{TimeoutMillis: 4000, HasReadOnly: true})
	a.create(dir+"/eph", "", 1)
	a.do("sasl", wire.OpSasl, wire.AppendBuffer(nil, []byte("token")))
	if _, err := a.c.Queue(wire.OpSasl, null); err != nil {
		w.t.Fatal(err)
	}
	if _, err := a.c.Queue(wire.OpCreate, createBody(dir+"/never", "", 0)); err != nil {
		w.t.Fatal(err)
	}
	if err := a.c.Flush(); err != nil {
		w.t.Fatal(err)
	}
	b.read(wire.OpExists, dir+"/eph", true)
	w.pass(5 * time.Second)
	b.expectEvent()
	a.expectEnd()
	b.read(wire.OpGetChildren2, dir, false)
	b.settle()
}
