package zkconn

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// text is a length and that many bytes.
func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// bodyOfAll are answers without their headers, with their decoded values.
var bodyOfAll = []struct {
	op   int32
	body []byte
	want reply
}{
	{opGetData, slices.Concat(text("data"), statBytes), reply{data: []byte("data"), stat: statRead}},
	{opGetData, slices.Concat(text(""), statBytes), reply{data: []byte{}, stat: statRead}},
	{opGetData, slices.Concat([]byte("\xff\xff\xff\xff"), statBytes), reply{stat: statRead}},
	{opGetChildren, slices.Concat([]byte{0, 0, 0, 2}, text("b"), text("ä")), reply{names: []string{"b", "ä"}}},
	{opGetACL, slices.Concat([]byte{0, 0, 0, 1, 0, 0, 0, 31}, text("digest"), text("u:h")), reply{acl: []znode.ACL{{Perms: 31, Scheme: "digest", ID: "u:h"}}}},
}

var (
	statBytes = []byte("\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x04" +
		"\x00\x00\x00\x05\x00\x00\x00\x06\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x09\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x0b")
	statRead = znode.Stat{Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7, EphemeralOwner: 8, DataLength: 9, NumChildren: 10, Pzxid: 11}
)

// An answer that ends too early is refused, wherever it ends.
func TestAnswersAreReadWhole(t *testing.T) {
	for _, tc := range bodyOfAll {
		if got := readAnswer(tc.op, 0, tc.body); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("operation %d: got %+v, want %+v", tc.op, got, tc.want)
		}
		for cut := range tc.body {
			if got := readAnswer(tc.op, 0, tc.body[:cut]); got.err != errAnswer || got.data != nil || got.names != nil || got.acl != nil {
				t.Errorf("operation %d, cut after %d bytes: %+v", tc.op, cut, got)
			}
		}
	}
	long := readAnswer(opGetChildren, 0, []byte("\x7f\xff\xff\xff\x00\x00\x00\x01a"))
	if long.err != errAnswer {
		t.Errorf("a list of two thousand million names: %+v", long)
	}
}

// TestAnswersOfErrors: errors about a znode are known. For any other error the
// library repeats the request.
func TestAnswersOfErrors(t *testing.T) {
	for code, want := range map[int32]error{-101: zk.ErrNoNode, -102: zk.ErrNoAuth, -115: otherError(-115)} {
		if got := readAnswer(opGetData, code, nil); !errors.Is(got.err, want) {
			t.Errorf("%d: %v, want %v", code, got.err, want)
		}
	}
}

// TestMultiReadAnswersAreReadWhole: the answer to several questions is refused if it ends
// too early, wherever it ends, or answers another question.
func TestMultiReadAnswersAreReadWhole(t *testing.T) {
	part := func(op int32, body ...byte) []byte { return append(appendMultiHeader(nil, op, false, 0), body...) }
	asked := request{{opGetData, "/a"}, {opGetChildren, "/b"}, {opGetData, "/none"}, {opGetChildren, "/c"}, {opGetData, "/keeper"}}
	names := slices.Concat([]byte{0, 0, 0, 2}, text("b"), text("ä"))
	body := slices.Concat(part(opGetData, slices.Concat(text("data"), statBytes)...), part(opGetNames, names...),
		part(-1, binary.BigEndian.AppendUint32(nil, 0xffffff9b)...), part(opGetNames, 0, 0, 0, 0), appendMultiHeader(nil, opGetData, false, -102), appendMultiHeader(nil, -1, true, -1))
	want := []reply{{data: []byte("data"), stat: statRead}, {names: []string{"b", "ä"}}, {err: zk.ErrNoNode}, {names: []string{}}, {err: zk.ErrNoAuth}}
	if got := asked.read(0, body); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for cut := range body {
		if got := asked.read(0, body[:cut]); got != nil {
			t.Errorf("cut after %d bytes: %+v", cut, got)
		}
	}
	other := slices.Clone(asked)
	other[1], other[2] = other[2], other[1]
	for name, got := range map[string][]reply{
		"other questions": other.read(0, body), "more questions": append(slices.Clone(asked), asked[0]).read(0, body),
		"fewer questions": asked[:3].read(0, body), "an error": asked.read(-6, nil),
	} {
		if got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
