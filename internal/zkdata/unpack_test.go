package zkdata

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/snappy"
)

// framed is data in the framing of snappy-java, in blocks of so many bytes.
func framed(data []byte, block int) []byte {
	out := append([]byte("\x82SNAPPY\x00"), 0, 0, 0, 1, 0, 0, 0, 1)
	for b := range slices.Chunk(data, block) {
		packed := snappy.Encode(nil, b)
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(packed))), packed...)
	}
	return out
}

func TestUnpack(t *testing.T) {
	data := []byte(strings.Repeat("some bytes that repeat and 0123456789 ", 3000))
	whole := framed(data, 32<<10)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		file   string
		packed []byte
		want   int // times data
		err    string
	}{
		{"plain", "snapshot.1", data, 1, ""},
		{"gzip", "snapshot.1.gz", zipped.Bytes(), 1, ""},
		{"gzip in capitals", "snapshot.1.GZ", zipped.Bytes(), 1, ""},
		{"snappy", "snapshot.1.snappy", whole, 1, ""},
		{"one block", "snapshot.1.snappy", framed(data, len(data)), 1, ""},
		{"no block", "snapshot.1.snappy", framed(nil, 1), 0, ""},
		{"two streams", "snapshot.1.snappy", append(slices.Clone(whole), whole...), 2, ""},
		{"no snappy", "snapshot.1.snappy", data, 0, "bad snappy data: it begins with 73 6f 6d 65 20 62 79 74, want 82 53 4e 41 50 50 59 00"},
		{"half a header", "snapshot.1.snappy", whole[:10], 0, "bad snappy data: the header is cut short: unexpected EOF"},
		{"a later version", "snapshot.1.snappy", append(append(slices.Clone(whole[:15]), 2), whole[16:]...), 0, "bad snappy data: version 2 of snappy-java's framing, want 1"},
		{"half a length", "snapshot.1.snappy", whole[:18], 0, "bad snappy data: a block's length is cut short: unexpected EOF"},
		{"half a block", "snapshot.1.snappy", whole[:50], 0, "bad snappy data: a block is cut short: EOF"},
		{"a huge block", "snapshot.1.snappy", append(slices.Clone(whole[:16]), 0x7f, 0xff, 0xff, 0xff), 0, "bad snappy data: a block of 2147483647 bytes, want at most 16777216"},
		{"a block that unpacks to much", "snapshot.1.snappy", append(slices.Clone(whole[:16]), 0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), 0, "bad snappy data: a block of 4294967295 bytes unpacked, want at most 16777216"},
		{"a damaged block", "snapshot.1.snappy", append(slices.Clone(whole[:16]), 0, 0, 0, 2, 9, 9), 0, "bad snappy data: s2: corrupt input"},
		{"no gzip", "snapshot.1.gz", data, 0, "gzip: invalid header"},
		{"half of gzip", "snapshot.1.gz", zipped.Bytes()[:zipped.Len()/2], 0, "unexpected EOF"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []byte
			r, err := unpacked(tc.file, iotest.OneByteReader(bytes.NewReader(tc.packed)))
			if err == nil {
				got, err = io.ReadAll(r)
			}
			if tc.err != "" {
				if err == nil || err.Error() != tc.err || !damaged(err) {
					t.Errorf("%v, want %s", err, tc.err)
				}
				return
			}
			if err != nil || !bytes.Equal(got, bytes.Repeat(data, tc.want)) {
				t.Errorf("%d bytes, %v; want %d", len(got), err, tc.want*len(data))
			}
		})
	}
}
