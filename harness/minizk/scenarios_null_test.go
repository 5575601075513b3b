package minizk_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/jute"
)

// Strings, buffers and lists can be null in a record. What a null means differs from field to field,
// so these scenarios try every field, alone and with the others of its record. They build the
// records themselves, because they also test how package jute treats null.

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
func text(name, value string) part     { return part{name: name, bytes: jute.AppendString(nil, value)} }
func list(name string, e ...part) part { return part{name, jute.AppendInt(nil, int32(len(e))), e} }

var null = jute.AppendInt(nil, -1)

// entry returns an access list with one entry.
func entry(perms int32, scheme, id string) part {
	return part{"acl", jute.AppendInt(nil, 1), []part{fixed(jute.AppendInt(nil, perms)), text("scheme", scheme), text("id", id)}}
}

// entries returns an access list. A nil scheme or id is null.
func entries(of ...nullableACL) []byte {
	b := jute.AppendInt(nil, int32(len(of)))
	for _, e := range of {
		b = jute.AppendNullString(jute.AppendNullString(jute.AppendInt(b, e.perms), e.scheme), e.id)
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
	op    jute.OpCode
	parts func(path string) []part
}

func creation(op jute.OpCode, flags int32, ttl ...int64) record {
	return record{op, func(path string) []part {
		end := jute.AppendInt(nil, flags)
		for _, t := range ttl {
			end = jute.AppendLong(end, t)
		}
		return []part{text("path", path), text("data", "d"), entry(31, "world", "anyone"), fixed(end)}
	}}
}

// pathAnd is a record of a path and something that cannot be null.
func pathAnd(op jute.OpCode, rest ...byte) record {
	return record{op, func(path string) []part { return []part{text("path", path), fixed(rest)} }}
}

func anyVersion(op jute.OpCode) record { return pathAnd(op, jute.AppendInt(nil, -1)...) }
func watching(op jute.OpCode) record   { return pathAnd(op, 1) }

var setting = record{jute.OpSetData, func(path string) []part {
	return []part{text("path", path), text("data", "d"), fixed(jute.AppendInt(nil, -1))}
}}

// changes are the requests that a multi can carry, too.
var changes = []record{
	creation(jute.OpCreate, 0), creation(jute.OpCreate2, 0), creation(jute.OpCreateContainer, 4), creation(jute.OpCreateTTL, 5, 100000),
	setting, anyVersion(jute.OpDelete), anyVersion(jute.OpCheck),
}

func watchLists(op jute.OpCode, names ...string) record {
	return record{op, func(path string) []part {
		parts := []part{fixed(jute.AppendLong(nil, 1<<60))}
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
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		return fmt.Sprintf("%s/n%03d", dir, n)
	case jute.OpDelete:
		return dir + "/nope"
	}
	return dir + "/node"
}

// others are all other requests that a client may send and that do not end its
// connection.
var others = []record{
	{jute.OpSetACL, func(path string) []part {
		return []part{text("path", path), entry(31, "world", "anyone"), fixed(jute.AppendInt(nil, -1))}
	}},
	watching(jute.OpExists), watching(jute.OpGetData), watching(jute.OpGetChildren), watching(jute.OpGetChildren2),
	pathAnd(jute.OpExists, 0), pathAnd(jute.OpGetData, 0), pathAnd(jute.OpGetChildren, 0), pathAnd(jute.OpGetChildren2, 0),
	pathAnd(jute.OpGetACL), pathAnd(jute.OpGetAllChildrenNumber), pathAnd(jute.OpGetEphemerals), pathAnd(jute.OpSync),
	pathAnd(jute.OpDeleteContainer),
	pathAnd(jute.OpCheckWatches, 0, 0, 0, 1), pathAnd(jute.OpCheckWatches, 0, 0, 0, 2), pathAnd(jute.OpCheckWatches, 0, 0, 0, 3),
	pathAnd(jute.OpRemoveWatches, 0, 0, 0, 1), pathAnd(jute.OpRemoveWatches, 0, 0, 0, 2), pathAnd(jute.OpRemoveWatches, 0, 0, 0, 3),
	pathAnd(jute.OpAddWatch, 0, 0, 0, 0), pathAnd(jute.OpAddWatch, 0, 0, 0, 1),
	watchLists(jute.OpSetWatches, "data", "exist", "child"),
	watchLists(jute.OpSetWatches2, "data", "exist", "child", "persistent", "recursive"),
	{jute.OpReconfig, func(string) []part {
		return []part{text("joining", "x"), text("leaving", "x"), text("new", "x"), fixed(jute.AppendLong(nil, -1))}
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
			if r.op == jute.OpSetWatches2 && len(v.nulls) > 1 {
				continue // there are 243 variants, and setWatches is tried in full
			}
			lines := len(w.lines)
			c := w.session("C")
			w.lines = w.lines[:lines]
			if r.op == jute.OpCheck && len(v.nulls) == 0 {
				c.unanswered("check, no null", r.op, v.bytes)
			} else {
				c.do(fmt.Sprintf("%s, %s", r.op, v), r.op, v.bytes)
			}
			c.hangUp()
		}
	}
	a.read(jute.OpGetChildren2, dir, false)
	a.settle()
}

// in is one operation of a multi.
func in(op jute.OpCode, body []byte) []byte {
	return append(jute.AppendMultiHeader(nil, jute.MultiHeader{Op: op, Err: -1}), body...)
}

// nullInMulti puts each variant of a change, and of a read, between operations that succeed, and
// first.
func nullInMulti(w *world) {
	a := w.session("A")
	a.create(dir+"/node", "x", 0)
	a.create(dir+"/count", "x", 0)
	n := 0
	multi := func(op jute.OpCode, what string, ops ...[]byte) {
		a.do(what, op, slices.Concat(slices.Concat(ops...), jute.AppendMultiEnd(nil)))
	}
	count := in(jute.OpSetData, jute.AppendSetDataRequest(nil, jute.SetDataRequest{Path: dir + "/count", Version: -1}))
	for _, r := range changes {
		for i := range variants(r.parts("")) {
			for _, first := range []bool{true, false} {
				n++
				v := variants(r.parts(r.target(n)))[i]
				if first {
					multi(jute.OpMulti, fmt.Sprintf("multi of %s, %s", r.op, v), in(r.op, v.bytes))
				} else {
					multi(jute.OpMulti, fmt.Sprintf("multi of 3, %s, %s", r.op, v), count, in(r.op, v.bytes), count)
				}
			}
		}
	}
	read := in(jute.OpGetData, jute.AppendPathWatch(nil, jute.PathWatch{Path: dir + "/count"}))
	for _, r := range []record{watching(jute.OpGetData), watching(jute.OpGetChildren)} {
		for _, v := range variants(r.parts(dir + "/node")) {
			multi(jute.OpMultiRead, fmt.Sprintf("multiRead of %s, %s", r.op, v), in(r.op, v.bytes))
			multi(jute.OpMultiRead, fmt.Sprintf("multiRead of 3, %s, %s", r.op, v), read, in(r.op, v.bytes), read)
			multi(jute.OpMulti, fmt.Sprintf("multi of %s, %s", r.op, v), in(r.op, v.bytes))
		}
	}
	null := in(jute.OpDelete, anyVersion(jute.OpDelete).null())
	multi(jute.OpMulti, "multi of delete null and getData", null, read)
	multi(jute.OpMulti, "multi of getData and delete null", read, null)
	multi(jute.OpMultiRead, "multiRead of delete null", null)
	multi(jute.OpMulti, "multi of a failure and delete null", in(jute.OpDelete, anyVersion(jute.OpDelete).plain(dir+"/nope")), null)
	a.do("multi of delete null, that does not end", jute.OpMulti, null)
	a.read(jute.OpGetChildren2, dir, false)
	a.read(jute.OpExists, dir+"/count", false)
	a.settle()
}

// nullAndOtherFaults: a request has a null and another mistake. The transcript shows which of them
// the server reports.
func nullAndOtherFaults(w *world) {
	a := w.session("A")
	a.create(dir+"/node", "x", 0)
	path := func(rest ...[]byte) []byte { return append(slices.Clip(null), slices.Concat(rest...)...) }
	anybody, nobody := entries(nullableACL{31, new("world"), new("anyone")}), entries(nullableACL{31, new("nope"), new("x")})
	flags := func(n int32) []byte { return jute.AppendInt(nil, n) }
	for _, t := range []struct {
		what string
		op   jute.OpCode
		body []byte
	}{
		{"create null with no such flags", jute.OpCreate, path(null, anybody, flags(9))},
		{"create null with flags that want a time", jute.OpCreate, path(null, anybody, flags(5))},
		{"create null with a bad list", jute.OpCreate, path(null, nobody, flags(0))},
		{"create null in sequence", jute.OpCreate, path(null, anybody, flags(2))},
		{"createTTL null with a bad time", jute.OpCreateTTL, path(null, anybody, flags(5), jute.AppendLong(nil, 0))},
		{"create null that ends early", jute.OpCreate, path(null, anybody)},
		{"setACL null with a bad list", jute.OpSetACL, path(nobody, flags(-1))},
		{"setACL null with a null list", jute.OpSetACL, path(null, flags(-1))},
		{"setACL null with a bad version", jute.OpSetACL, path(anybody, flags(7))},
		{"setACL of what is not there, null scheme", jute.OpSetACL, append(jute.AppendString(nil, dir+"/nope"), append(entries(nullableACL{31, nil, new("x")}), flags(-1)...)...)},
		{"setACL of what is not there, null id", jute.OpSetACL, append(jute.AppendString(nil, dir+"/nope"), append(entries(nullableACL{31, new("digest"), nil}), flags(-1)...)...)},
		{"create where nothing is, null id", jute.OpCreate, slices.Concat(jute.AppendString(nil, dir+"/nope/x"), null, entries(nullableACL{31, new("ip"), nil}), flags(0))},
		{"create of a bad path, null scheme", jute.OpCreate, slices.Concat(jute.AppendString(nil, dir+"//x"), null, entries(nullableACL{31, nil, nil}), flags(0))},
		{"create with a bad time, null id", jute.OpCreateTTL, slices.Concat(jute.AppendString(nil, dir+"/x"), null, entries(nullableACL{31, new("ip"), nil}), flags(5), jute.AppendLong(nil, 0))},
		{"setData null with a bad version", jute.OpSetData, path(null, flags(7))},
		{"setData null that ends early", jute.OpSetData, path(null)},
		{"delete null with a bad version", jute.OpDelete, path(flags(7))},
		{"check null that ends early", jute.OpCheck, path(nil)},
		{"removeWatches null of no kind", jute.OpRemoveWatches, path(flags(9))},
		{"checkWatches null of no kind", jute.OpCheckWatches, path(flags(9))},
		{"addWatch null in no mode", jute.OpAddWatch, path(flags(9))},
		{"addWatch null that ends early", jute.OpAddWatch, path(nil)},
		{"reconfig null that ends early", jute.OpReconfig, path(nil)},
		{"exists null that ends early", jute.OpExists, path(nil)},
	} {
		a.do(t.what, t.op, t.body)
	}
	a.read(jute.OpGetChildren2, dir, false)
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
			create := slices.Concat(jute.AppendString(nil, path), null, acl, jute.AppendInt(nil, 0))
			c.do("create "+what, jute.OpCreate, create)
			c.ask(jute.OpGetACL, path)
			c.do("multi of create "+what, jute.OpMulti, slices.Concat(in(jute.OpSetData, setting.plain(dir+"/count")),
				in(jute.OpCreate, slices.Concat(jute.AppendString(nil, path+"m"), null, acl, jute.AppendInt(nil, 0))), jute.AppendMultiEnd(nil)))
			c.create(path+"s", "", 0)
			c.do("setACL "+what, jute.OpSetACL, slices.Concat(jute.AppendString(nil, path+"s"), acl, jute.AppendInt(nil, -1)))
			c.ask(jute.OpGetACL, path+"s")
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
	a.read(jute.OpExists, dir+"/count", false)
	a.settle()
}

// nullWatches: a null path can be watched, but nothing ever happens to it. If a list contains a
// null, the watches before it are set. This scenario needs a server of its own, too: see
// nullFields.
func nullWatches(w *world) {
	b := w.session("B")
	for _, mode := range []int32{jute.WatchPersistent, jute.WatchPersistentRecursive} {
		a := w.session("A")
		tell := func(c *client, op jute.OpCode, n int32) {
			c.do(fmt.Sprintf("%s null %d", op, n), op, jute.AppendInt(slices.Clip(null), n))
		}
		a.watchOp(jute.OpAddWatch, dir+"/x", jute.WatchPersistent)
		for kind := int32(0); kind <= 4; kind++ {
			tell(a, jute.OpRemoveWatches, kind)
			tell(a, jute.OpCheckWatches, kind)
		}
		tell(a, jute.OpAddWatch, mode)
		for kind := int32(0); kind <= 4; kind++ {
			tell(a, jute.OpCheckWatches, kind)
			tell(b, jute.OpCheckWatches, kind)
			tell(b, jute.OpRemoveWatches, kind)
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
			body := jute.AppendLong(nil, 1<<60)
			for i, name := range names {
				switch {
				case i == at && whole:
					body = append(body, null...)
					continue
				case i == at:
					body = jute.AppendInt(body, 3)
					body = append(jute.AppendString(body, base+"/"+name+"1"), null...)
				default:
					body = jute.AppendInt(body, 1)
				}
				body = jute.AppendString(body, base+"/"+name+"3")
			}
			what := "setWatches2, null one of " + names[at]
			if whole {
				what = "setWatches2, null " + names[at]
			}
			a.doXid(what, jute.XidSetWatches, jute.OpSetWatches2, body)
			for _, name := range names {
				for _, path := range []string{base + "/" + name + "1", base + "/" + name + "3"} {
					for _, kind := range []int32{jute.WatcherChildren, jute.WatcherData} {
						a.watchOp(jute.OpCheckWatches, path, kind)
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
	who := func() { a.do("whoAmI", jute.OpWhoAmI, nil) }
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
			a.doXid(fmt.Sprintf("auth %s %s", name, data(secret)), jute.XidAuth, jute.OpAuth,
				jute.AppendBuffer(jute.AppendNullString(jute.AppendInt(nil, 0), scheme), secret))
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
	for _, r := range []jute.ConnectRequest{
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
	a.connect(jute.ConnectRequest{TimeoutMillis: 4000, HasReadOnly: true})
	a.create(dir+"/eph", "", 1)
	a.do("sasl", jute.OpSasl, jute.AppendBuffer(nil, []byte("token")))
	if _, err := a.c.Queue(jute.OpSasl, null); err != nil {
		w.t.Fatal(err)
	}
	if _, err := a.c.Queue(jute.OpCreate, createBody(dir+"/never", "", 0)); err != nil {
		w.t.Fatal(err)
	}
	if err := a.c.Flush(); err != nil {
		w.t.Fatal(err)
	}
	b.read(jute.OpExists, dir+"/eph", true)
	w.pass(5 * time.Second)
	b.expectEvent()
	a.expectEnd()
	b.read(jute.OpGetChildren2, dir, false)
	b.settle()
}
