package jute

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

var (
	acls  = []ACL{{Perms: PermAll, ID: ID{Scheme: "world", Name: "anyone"}}, {Perms: PermRead, ID: ID{Scheme: "digest", Name: "u:h"}}}
	stat  = Stat{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	multi = []MultiOp{
		{Op: OpCreate, Create: CreateRequest{Path: "/a", Data: []byte("x"), ACL: acls, Flags: 2, TTL: -1}},
		{Op: OpCreateTTL, Create: CreateRequest{Path: "/a", ACL: acls, Flags: 5, TTL: 9}},
		{Op: OpDelete, Version: PathVersion{Path: "/a", Version: -1}},
		{Op: OpSetData, Set: SetDataRequest{Path: "/a", Data: []byte{}, Version: 3}},
		{Op: OpCheck, Version: PathVersion{Path: "/a", Version: 1}},
	}
	results = []MultiResult{
		{Op: OpCreate, Path: "/a"}, {Op: OpCreate2, Path: "/b", Stat: stat}, {Op: OpDelete}, {Op: OpCheck}, {Op: OpSetData, Stat: stat},
		{Op: OpGetData, Data: []byte("d"), Stat: stat}, {Op: OpGetChildren, Children: []string{"a", "b"}}, {Op: OpError, Err: NoNode},
	}
)

// These have each optional value, once present and once null.
var (
	again     = SetWatchesRequest{RelativeZxid: 7, Data: []*string{new("/a"), nil, new("")}, Exist: []*string{}, Child: nil}
	again2    = SetWatchesRequest{7, []*string{new("/a")}, nil, []*string{nil}, []*string{new("/p")}, []*string{nil, new("/r")}}
	nullACLs  = []ACL{{Perms: 1, ID: ID{NullScheme: true, Name: "x"}}, {Perms: 2, ID: ID{Scheme: "auth", NullName: true}}, {ID: ID{NullScheme: true, NullName: true}}, {}}
	nullMulti = []MultiOp{
		{Op: OpCreate, Create: CreateRequest{NullPath: true, TTL: -1}}, {Op: OpDelete, Version: PathVersion{NullPath: true}}, {Op: OpCheck, Version: PathVersion{NullPath: true}},
		{Op: OpSetData, Set: SetDataRequest{NullPath: true}}, {Op: OpSetData},
	}
)

// loose are the records with more than one encoding: a true bool is any byte but 0, and Java
// doesn't define the end of a list.
var loose = map[string]bool{
	"connect request": true, "connect request before 3.4": true, "connect response": true,
	"path and watch": true, "multi": true, "multi results": true, "null path and watch": true, "multi of nulls": true,
}

// records has one of each record: its value, how to write it and how to read
// it.
var records = []struct {
	name  string
	value any
	bytes []byte
	read  func(*Decoder) any
}{
	{"connect request", ConnectRequest{1, 2, 3, 4, []byte("password"), true, true}, AppendConnectRequest(nil, ConnectRequest{1, 2, 3, 4, []byte("password"), true, true}), func(d *Decoder) any { return d.ConnectRequest() }},
	{"connect request before 3.4", ConnectRequest{Password: nil}, AppendConnectRequest(nil, ConnectRequest{}), func(d *Decoder) any { return d.ConnectRequest() }},
	{"connect response", ConnectResponse{1, 2, 3, []byte("password"), true, false}, AppendConnectResponse(nil, ConnectResponse{1, 2, 3, []byte("password"), true, false}), func(d *Decoder) any { return d.ConnectResponse() }},
	{"request header", RequestHeader{-2, OpPing}, AppendRequestHeader(nil, RequestHeader{-2, OpPing}), func(d *Decoder) any { return d.RequestHeader() }},
	{"reply header", ReplyHeader{1, 1 << 40, NoNode}, AppendReplyHeader(nil, ReplyHeader{1, 1 << 40, NoNode}), func(d *Decoder) any { return d.ReplyHeader() }},
	{"stat", stat, AppendStat(nil, &stat), func(d *Decoder) any { return d.Stat() }},
	{"acls", acls, AppendACLs(nil, acls), func(d *Decoder) any { return d.ACLs() }},
	{"null acls", []ACL(nil), AppendACLs(nil, nil), func(d *Decoder) any { return d.ACLs() }},
	{"event", WatcherEvent{1, 3, "/a"}, AppendWatcherEvent(nil, WatcherEvent{1, 3, "/a"}), func(d *Decoder) any { return d.WatcherEvent() }},
	{"create", multi[0].Create, AppendCreateRequest(nil, OpCreate, multi[0].Create), func(d *Decoder) any { return d.CreateRequest(OpCreate) }},
	{"createTTL", multi[1].Create, AppendCreateRequest(nil, OpCreateTTL, multi[1].Create), func(d *Decoder) any { return d.CreateRequest(OpCreateTTL) }},
	{"path and version", multi[2].Version, AppendPathVersion(nil, multi[2].Version), func(d *Decoder) any { return d.PathVersion() }},
	{"path and watch", PathWatch{Path: "/a", Watch: true}, AppendPathWatch(nil, PathWatch{Path: "/a", Watch: true}), func(d *Decoder) any { return d.PathWatch() }},
	{"set data", multi[3].Set, AppendSetDataRequest(nil, multi[3].Set), func(d *Decoder) any { return d.SetDataRequest() }},
	{"set acl", SetACLRequest{Path: "/a", ACL: acls, Version: 2}, AppendSetACLRequest(nil, SetACLRequest{Path: "/a", ACL: acls, Version: 2}), func(d *Decoder) any { return d.SetACLRequest() }},
	{"auth", AuthRequest{Type: 1, Scheme: "digest", Auth: []byte("a:b")}, AppendAuthRequest(nil, AuthRequest{Type: 1, Scheme: "digest", Auth: []byte("a:b")}), func(d *Decoder) any { return d.AuthRequest() }},
	{"set watches", again, AppendSetWatchesRequest(nil, OpSetWatches, again), func(d *Decoder) any { return d.SetWatchesRequest(OpSetWatches) }},
	{"set watches 2", again2, AppendSetWatchesRequest(nil, OpSetWatches2, again2), func(d *Decoder) any { return d.SetWatchesRequest(OpSetWatches2) }},
	{"path and int", PathInt{Path: "/a", N: 1}, AppendPathInt(nil, PathInt{Path: "/a", N: 1}), func(d *Decoder) any { return d.PathInt() }},
	{"multi", multi, AppendMultiOps(nil, multi), func(d *Decoder) any { return d.MultiOps() }},
	{"null path and version", PathVersion{NullPath: true}, AppendPathVersion(nil, PathVersion{NullPath: true}), func(d *Decoder) any { return d.PathVersion() }},
	{"null path and watch", PathWatch{NullPath: true}, AppendPathWatch(nil, PathWatch{NullPath: true}), func(d *Decoder) any { return d.PathWatch() }},
	{"null path and int", PathInt{NullPath: true}, AppendPathInt(nil, PathInt{NullPath: true}), func(d *Decoder) any { return d.PathInt() }},
	{"null auth", AuthRequest{NullScheme: true}, AppendAuthRequest(nil, AuthRequest{NullScheme: true}), func(d *Decoder) any { return d.AuthRequest() }},
	{"set null acl", SetACLRequest{NullPath: true}, AppendSetACLRequest(nil, SetACLRequest{NullPath: true}), func(d *Decoder) any { return d.SetACLRequest() }},
	{"acls of nulls", nullACLs, AppendACLs(nil, nullACLs), func(d *Decoder) any { return d.ACLs() }},
	{"multi of nulls", nullMulti, AppendMultiOps(nil, nullMulti), func(d *Decoder) any { return d.MultiOps() }},
	{"multi results", results, AppendMultiResults(nil, results), func(d *Decoder) any { return d.MultiResults() }},
}

// TestRecords writes and reads each record, and reads it truncated at every
// byte.
func TestRecords(t *testing.T) {
	for _, r := range records {
		t.Run(r.name, func(t *testing.T) {
			d := NewDecoder(r.bytes)
			if got := r.read(d); !reflect.DeepEqual(got, r.value) || d.End() != nil {
				t.Errorf("read %+v, %v, want %+v", got, d.Err(), r.value)
			}
			for n := range len(r.bytes) {
				d := NewDecoder(r.bytes[:n])
				r.read(d)
				var e *DecodeError
				if r.name == "connect request" && n == len(r.bytes)-1 || r.name == "connect response" && n == len(r.bytes)-1 {
					continue // this is the valid form without the flag
				}
				if !errors.As(d.Err(), &e) || !errors.Is(e, ErrShort) || e.Off > n {
					t.Errorf("cut to %d of %d bytes: %v, want ErrShort", n, len(r.bytes), d.Err())
				}
			}
			d = NewDecoder(append(bytes.Clone(r.bytes), 0))
			r.read(d)
			if err := d.End(); !errors.Is(err, ErrTrailing) && !strings.HasPrefix(r.name, "connect request before") {
				t.Errorf("with a byte more: %v, want ErrTrailing", err)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []byte
		read func(*Decoder)
		want string
	}{
		{"short int", []byte{1, 2}, func(d *Decoder) { d.Int("xid") }, "zookeeper record: byte 0: xid: ends too early"},
		{"negative length", []byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe}, func(d *Decoder) { d.Int("a"); d.Buffer("data") }, "zookeeper record: byte 4: data: length is out of range"},
		{"long buffer", []byte{0x7f, 0xff, 0xff, 0xff, 1}, func(d *Decoder) { d.Buffer("data") }, "zookeeper record: byte 4: data: ends too early"},
		{"null string", []byte{0xff, 0xff, 0xff, 0xff}, func(d *Decoder) { d.String("path") }, "zookeeper record: byte 0: path: is null"},
		{"negative count", []byte{0xff, 0xff, 0xff, 0xfe}, func(d *Decoder) { d.Strings("names") }, "zookeeper record: byte 0: names: length is out of range"},
		{"great count", []byte{0x7f, 0xff, 0xff, 0xff}, func(d *Decoder) { d.ACLs() }, "zookeeper record: byte 0: acl count: ends too early"},
		{"unknown op in a multi", AppendMultiHeader(nil, MultiHeader{Op: OpPing}), func(d *Decoder) { d.MultiOps() }, "zookeeper record: byte 0: type: operation not allowed here"},
		{"reads and changes", AppendMultiOps(nil, []MultiOp{multi[2], {Op: OpGetData}}), func(d *Decoder) { d.MultiOps() }, "zookeeper record: byte 19: type: operation not allowed here"},
		{"the first error stays", []byte{1}, func(d *Decoder) { d.Long("first"); d.Int("second") }, "zookeeper record: byte 0: first: ends too early"},
	} {
		d := NewDecoder(c.in)
		c.read(d)
		if d.Err() == nil || d.Err().Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, d.Err(), c.want)
		}
	}
}

func TestFrames(t *testing.T) {
	good := AppendBuffer(nil, []byte("hello"))
	if b, err := ReadFrame(bytes.NewReader(good), nil, 5); err != nil || string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
	for n := range len(good) {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if b, err := ReadFrame(bytes.NewReader(good[:n]), nil, 5); !errors.Is(err, want) || b != nil {
			t.Errorf("cut to %d: %q, %v, want %v", n, b, err, want)
		}
	}
	for _, head := range [][]byte{{0, 0, 0, 6}, {0xff, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}} {
		if _, err := ReadFrame(bytes.NewReader(append(head, good...)), nil, 5); !errors.Is(err, ErrFrame) {
			t.Errorf("length %x: %v, want ErrFrame", head, err)
		}
	}
}

func TestNamesAndCodes(t *testing.T) {
	if OpGetChildren2.String() != "getChildren2" || OpCode(77).String() != "op 77" || NoNode.Error() != "zookeeper: NoNode (-101)" || Code(-77).String() != "code -77" {
		t.Error("names")
	}
	for err, want := range map[error]Code{nil: OK, NoAuth: NoAuth, &DecodeError{}: MarshallingError, io.EOF: SystemError} {
		if got := CodeOf(err); got != want {
			t.Errorf("CodeOf(%v) = %v, want %v", err, got, want)
		}
	}
}

// FuzzDecode reads arbitrary bytes as every record. An accepted record must read the same after
// it is written again. If it has only one encoding, the bytes must be the same.
func FuzzDecode(f *testing.F) {
	for i, r := range records {
		f.Add(i, r.bytes)
	}
	write := map[string]func(any) []byte{
		"connect request":  func(v any) []byte { return AppendConnectRequest(nil, v.(ConnectRequest)) },
		"connect response": func(v any) []byte { return AppendConnectResponse(nil, v.(ConnectResponse)) },
		"create":           func(v any) []byte { return AppendCreateRequest(nil, OpCreate, v.(CreateRequest)) },
		"createTTL":        func(v any) []byte { return AppendCreateRequest(nil, OpCreateTTL, v.(CreateRequest)) },
		"set data":         func(v any) []byte { return AppendSetDataRequest(nil, v.(SetDataRequest)) },
		"set acl":          func(v any) []byte { return AppendSetACLRequest(nil, v.(SetACLRequest)) },
		"set watches 2":    func(v any) []byte { return AppendSetWatchesRequest(nil, OpSetWatches2, v.(SetWatchesRequest)) },
		"auth":             func(v any) []byte { return AppendAuthRequest(nil, v.(AuthRequest)) },
		"stat":             func(v any) []byte { s := v.(Stat); return AppendStat(nil, &s) },
		"event":            func(v any) []byte { return AppendWatcherEvent(nil, v.(WatcherEvent)) },
		"request header":   func(v any) []byte { return AppendRequestHeader(nil, v.(RequestHeader)) },
		"reply header":     func(v any) []byte { return AppendReplyHeader(nil, v.(ReplyHeader)) },
		"acls":             func(v any) []byte { return AppendACLs(nil, v.([]ACL)) },
		"path and version": func(v any) []byte { return AppendPathVersion(nil, v.(PathVersion)) },
		"path and watch":   func(v any) []byte { return AppendPathWatch(nil, v.(PathWatch)) },
		"path and int":     func(v any) []byte { return AppendPathInt(nil, v.(PathInt)) },
		"set watches": func(v any) []byte {
			return AppendSetWatchesRequest(nil, OpSetWatches, v.(SetWatchesRequest))
		},
		"multi":         func(v any) []byte { return AppendMultiOps(nil, v.([]MultiOp)) },
		"multi results": func(v any) []byte { return AppendMultiResults(nil, v.([]MultiResult)) },
	}
	write["connect request before 3.4"], write["null acls"] = write["connect request"], write["acls"]
	write["null path and version"], write["null path and watch"], write["null path and int"] = write["path and version"], write["path and watch"], write["path and int"]
	write["null auth"], write["set null acl"], write["acls of nulls"], write["multi of nulls"] = write["auth"], write["set acl"], write["acls"], write["multi"]
	for _, r := range records {
		if write[r.name] == nil {
			f.Fatalf("%s is not written back", r.name)
		}
	}
	f.Fuzz(func(t *testing.T, i int, in []byte) {
		if i < 0 || i >= len(records) {
			return
		}
		r := records[i]
		d := NewDecoder(in)
		v := r.read(d)
		err := d.End()
		if err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Off < 0 || e.Off > len(in) {
				t.Fatalf("%v", err)
			}
			return
		}
		out := write[r.name](v)
		d2 := NewDecoder(out)
		if v2 := r.read(d2); !reflect.DeepEqual(v, v2) || d2.End() != nil {
			t.Fatalf("%s: read %+v, wrote and read %+v (%v)", r.name, v, v2, d2.Err())
		}
		if !loose[r.name] && !bytes.Equal(out, in) {
			t.Fatalf("%s: %x became %x", r.name, in, out)
		}
	})
}
