package jute

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"mrtq/internal/znode"
)

var (
	acls = []znode.ACL{{Perms: znode.PermAll, Scheme: "world", ID: "anyone"}, {Perms: znode.PermRead, Scheme: "digest", ID: "u:h"}}
	stat = znode.Stat{Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7, EphemeralOwner: 8, DataLength: 9, NumChildren: 10, Pzxid: 11}
)

type record struct {
	name  string
	value any
	write func(any) []byte
	read  func(*Decoder) any
	loose bool // it has more than one encoding: a true bool is any byte but 0, and Java doesn't define the end of a list
}

func of[T any](name string, loose bool, value T, write func([]byte, T) []byte, read func(*Decoder) T) record {
	return record{name, value, func(v any) []byte { return write(nil, v.(T)) }, func(d *Decoder) any { return read(d) }, loose}
}

var records = func() []record {
	return []record{
		of("connect request", true, ConnectRequest{1, 2, 3, 4, []byte("password"), true, true}, AppendConnectRequest, (*Decoder).ConnectRequest),
		of("connect request before 3.4", true, ConnectRequest{}, AppendConnectRequest, (*Decoder).ConnectRequest),
		of("connect response", true, ConnectResponse{1, 2, 3, []byte("password"), true, false}, AppendConnectResponse, (*Decoder).ConnectResponse),
		of("request header", false, RequestHeader{-2, OpPing}, AppendRequestHeader, (*Decoder).RequestHeader),
		of("reply header", false, ReplyHeader{1, 1 << 40, NoNode}, AppendReplyHeader, (*Decoder).ReplyHeader),
		of("stat", false, stat, func(b []byte, s znode.Stat) []byte { return AppendStat(b, &s) }, (*Decoder).Stat),
		of("acls", true, acls, AppendACLs, (*Decoder).ACLs),
		of("null acls", true, nil, AppendACLs, (*Decoder).ACLs),
		of("event", false, WatcherEvent{1, 3, "/a"}, AppendWatcherEvent, (*Decoder).WatcherEvent),
		of("multi results", true, []Result{
			{Op: OpCreate, Path: "/a"}, {Op: OpCreate2, Path: "/b", Stat: stat}, {Op: OpDelete}, {Op: OpCheck}, {Op: OpSetData, Stat: stat}, {Op: OpError, Err: NoNode},
		}, func(b []byte, rs []Result) []byte {
			for i := range rs {
				b = AppendMultiResult(b, &rs[i])
			}
			return AppendMultiEnd(b)
		}, (*Decoder).MultiResults),
	}
}()

// TestRecords writes and reads each record, and reads it truncated at every
// byte.
func TestRecords(t *testing.T) {
	for _, r := range records {
		t.Run(r.name, func(t *testing.T) {
			whole := r.write(r.value)
			d := NewDecoder(whole)
			if got := r.read(d); !reflect.DeepEqual(got, r.value) || d.Err() != nil || d.Len() != 0 {
				t.Errorf("read %+v, %v, want %+v", got, d.Err(), r.value)
			}
			for n := range len(whole) {
				d := NewDecoder(whole[:n])
				r.read(d)
				var e *DecodeError
				if r.name == "connect request" && n == len(whole)-1 || r.name == "connect response" && n == len(whole)-1 {
					continue // this is the valid form without the flag
				}
				if !errors.As(d.Err(), &e) || !errors.Is(e, ErrShort) || e.Off > n {
					t.Errorf("cut to %d of %d bytes: %v, want ErrShort", n, len(whole), d.Err())
				}
			}
			d = NewDecoder(append(whole, 0))
			r.read(d)
			if !strings.HasPrefix(r.name, "connect request before") && (d.Err() != nil || d.Len() != 1) {
				t.Errorf("with a byte more: %v, and %d bytes are left", d.Err(), d.Len())
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
		{"unknown op in a multi", AppendMultiHeader(nil, MultiHeader{Op: OpPing}), func(d *Decoder) { d.Request(OpMulti, &Request{}) }, "zookeeper record: byte 0: type: operation not allowed here"},
		{"reads and changes", AppendMultiHeader(AppendInt(AppendString(AppendMultiHeader(nil, MultiHeader{Op: OpDelete}), "/a"), -1), MultiHeader{Op: OpGetData}), func(d *Decoder) { d.Request(OpMulti, &Request{}) }, "zookeeper record: byte 19: type: operation not allowed here"},
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
	for err, want := range map[error]Code{nil: OK, NoAuth: NoAuth, io.EOF: SystemError} {
		if got := CodeOf(err); got != want {
			t.Errorf("CodeOf(%v) = %v, want %v", err, got, want)
		}
	}
}

// FuzzDecode reads arbitrary bytes as every record. An accepted record must read the same after
// it is written again. If it has only one encoding, the bytes must be the same.
func FuzzDecode(f *testing.F) {
	for i, r := range records {
		f.Add(i, r.write(r.value))
	}
	f.Fuzz(func(t *testing.T, i int, in []byte) {
		if i < 0 || i >= len(records) {
			return
		}
		r := records[i]
		d := NewDecoder(in)
		v := r.read(d)
		if err := d.Err(); err != nil {
			var e *DecodeError
			if !errors.As(err, &e) || e.Off < 0 || e.Off > len(in) {
				t.Fatalf("%v", err)
			}
			return
		}
		if d.Len() > 0 {
			return // what follows a record may be anything
		}
		out := r.write(v)
		d2 := NewDecoder(out)
		if v2 := r.read(d2); !reflect.DeepEqual(v, v2) || d2.Err() != nil || d2.Len() != 0 {
			t.Fatalf("%s: read %+v, wrote and read %+v (%v)", r.name, v, v2, d2.Err())
		}
		if !r.loose && !bytes.Equal(out, in) {
			t.Fatalf("%s: %x became %x", r.name, in, out)
		}
	})
}
