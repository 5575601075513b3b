package javaobj

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// head is what comes before the number of entries, with the offsets of the package comment.
var head = Magic + "\x73\x72\x00\x14java.util.Properties" + propertiesClass.rest + "\x72\x00\x13java.util.Hashtable" + hashtableClass.rest +
	"\x70\x3f\x40\x00\x00\x00\x00\x00\x02\x77\x08\x00\x00\x00\x03\x00\x00\x00"

func empty() []byte { return []byte(head + "\x00\x78\x70") }

func body(count byte, rest string) []byte { return []byte(head + string(count) + rest) }

const (
	booleanDesc = "\x72\x00\x11java.lang.Boolean\xcd\x20\x72\x80\xd5\x9c\xfa\xee\x02\x00\x01\x5a\x00\x05value\x78\x70"
	str         = "\x74\x00\x01" // and one character
)

func TestRefused(t *testing.T) {
	patch := func(offset int, with string) []byte {
		data := body(1, str+"k"+str+"v\x78\x70")
		copy(data[offset:], with)
		return data
	}
	tests := []struct {
		what string
		data []byte
		want string
	}{
		{"uid", patch(28, "\x00"), "byte 28: class java.util.Properties is not described as in every JDK: byte 0x00, expected 0x39"},
		{"field", patch(42, "D"), "byte 42: class java.util.Properties is not described as in every JDK: byte 0x44, expected 0x64"},
		{"annotation", patch(75, "\x77"), "byte 75: class java.util.Properties is not described as in every JDK: byte 0x77, expected 0x78"},
		{"superclass", patch(79, "K"), `byte 76: class "Kava.util.Hashtable" isn't supported: expected the superclass of java.util.Properties`},
		{"super of super", patch(135, "\x72"), "byte 135: class java.util.Hashtable has a superclass: expected none"},
		{"load factor", patch(136, "\x7f\xc0\x00\x00"), "byte 136: load factor NaN: expected one above zero"},
		{"negative load factor", patch(136, "\xbf"), "byte 136: load factor -0.75: expected one above zero"},
		{"block", patch(144, "\x7a"), "byte 144: bytes 7a 08: expected block data of 8 bytes"},
		{"two billion entries", patch(150, "\x7f\xff\xff\xff"), "byte 150: claims 2147483647 entries, and 10 bytes are left"},
		{"negative entries", patch(150, "\xff\xff\xff\xff"), "byte 150: claims -1 entries, and 10 bytes are left"},
		{"fewer entries", patch(153, "\x00"), "byte 154: code 0x74 after 0 entries: expected end of block data (0x78)"},
		{"reset", patch(4, "\x79"), "byte 4: code 0x79: expected a java.util.Properties"},
		{"exception", patch(4, "\x7b"), "byte 4: code 0x7b: expected a java.util.Properties"},
		{"proxy", patch(5, "\x7d"), `byte 5: class "java.lang.reflect.Proxy" isn't supported: expected a class description`},
		{"null", patch(4, "\x70"), "byte 4: null: expected a java.util.Properties"},
		{"long null key", body(2, "\x70\x70\x70\x70\x70\x70\x70\x70\x70\x70\x70\x70"), "byte 154: code 0x70: expected a string, Boolean, Integer or Long"},
		{"itself as value", body(1, str+"k\x71\x00\x7e\x00\x03\x78\x70"), `byte 158: class "java.util.Properties" isn't supported: expected a string, Boolean, Integer or Long`},
		{"a class as value", body(1, str+"k\x71\x00\x7e\x00\x00\x78\x70"), "byte 158: a reference to the description of class java.util.Properties: expected a string, Boolean, Integer or Long"},
		{"no such handle", body(1, str+"k\x71\x00\x7e\x00\x05\x78\x70"), "byte 159: a reference to handle 0x7e0005: nothing has it"},
		{"handle below", body(1, str+"k\x71\x00\x00\x00\x05\x78\x70"), "byte 159: a reference to handle 0x5: nothing has it"},
		{"handle above", body(1, str+"k\x71\xff\xff\xff\xff\x78\x70"), "byte 159: a reference to handle 0xffffffff: nothing has it"},
		{"key twice", body(2, str+"k"+str+"v"+str+"k"+str+"w\x78\x70"), `byte 162: key "k" a second time`},
		{"Boolean key", body(1, "\x73"+booleanDesc+"\x01"+str+"v\x78\x70"), "byte 154: a key that is a Boolean: expected a string"},
		{"Boolean of 2", body(1, str+"k\x73"+booleanDesc+"\x02\x78\x70"), "byte 200: Boolean value 2: expected 0 or 1"},
		{"class twice", body(2, str+"k\x73"+booleanDesc+"\x01"+str+"l\x73"+booleanDesc+"\x01\x78\x70"), "byte 206: class java.lang.Boolean described a second time"},
		{"cyclic defaults", body(0, "\x78\x71\x00\x7e\x00\x03"), "byte 155: defaults that contain themselves"},
		{"defaults a string", body(0, "\x78"+str+"x"), `byte 155: class "java.lang.String" isn't supported: expected a java.util.Properties`},
		{"short long string", body(1, str+"k\x7c\x00\x00\x00\x00\x00\x00\x00\x01v\x78\x70"), "byte 159: a long string of 1 bytes: expected more than 65535"},
		{"huge long string", body(1, str+"k\x7c\x7f\xff\xff\xff\xff\xff\xff\xffv\x78\x70"), "byte 159: the stream ends: expected a long string of 9223372036854775807 bytes, and 3 are left"},
		{"enum", body(1, str+"k\x7e\x72\x00\x03a.B\x78\x70"), `byte 158: class "a.B" isn't supported: expected a string, Boolean, Integer or Long`},
		{"a byte after it", append(empty(), 0), fmt.Sprintf("byte %d: 1 bytes follow the object: expected none", len(empty()))},
		{"not modified UTF-8", body(1, str+"k"+str+"\xff\x78\x70"), "byte 161: malformed modified UTF-8 in a string"},
	}
	for _, test := range tests {
		p, err := Decode(test.data)
		if p != nil || err == nil || err.Error() != "object stream, "+test.want {
			t.Errorf("%s:\n got %v\nwant object stream, %s", test.what, err, test.want)
		}
	}
}

func TestModifiedUTF8(t *testing.T) {
	good := []struct{ modified, text string }{
		{"", ""}, {"plain", "plain"}, {"\xc0\x80", "\x00"}, {"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf", "\u0080\u07ff\u0800\uffff"},
		{"\xed\xa0\xbd\xed\xb8\x80", "😀"}, {"\xed\xa0\xbd", "\xed\xa0\xbd"}, {"\xed\xb8\x80\xed\xa0\xbd", "\xed\xb8\x80\xed\xa0\xbd"},
		{"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", "\xed\xa0\xbd😀"}, {"\xed\xaf\xbf\xed\xbf\xbf", "\U0010ffff"}, {"\xed\xa0\x80\xed\xb0\x80", "\U00010000"},
	}
	for _, test := range good {
		text, _, err := fromModified([]byte(test.modified))
		if err != nil || text != test.text {
			t.Errorf("% x: got % x, %v", test.modified, text, err)
		}
	}
	bad := []struct {
		modified string
		offset   int
	}{
		{"\x00", 0}, {"ab\x80", 2}, {"a\xc1\x81", 1}, {"\xc2", 0}, {"\xc2a", 0}, {"\xe0\x80\x80", 0}, {"\xe1\x80", 0}, {"\xe1\x80a", 0},
		{"\xf0\x9f\x98\x80", 0}, {"\xff", 0}, {"\xed\xa0\xbd\xed", 3},
	}
	for _, test := range bad {
		if text, offset, err := fromModified([]byte(test.modified)); err == nil || text != "" || offset != test.offset {
			t.Errorf("% x: got %q, %d, %v", test.modified, text, offset, err)
		}
	}
}

// TestBounded: what a stream claims costs nothing. What it holds costs a small
// multiple of its size.
func TestBounded(t *testing.T) {
	fits := func(what string, data []byte) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", what)
		}
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(64<<10+40*len(data)); got > limit {
			t.Errorf("%s: allocated %d for %d bytes", what, got, len(data))
		}
	}
	claim := empty()
	copy(claim[150:], "\x7f\xff\xff\xff")
	fits("two billion entries", claim)
	fits("a long string of 2^62", body(1, str+"k\x7c\x40\x00\x00\x00\x00\x00\x00\x00v\x78\x70"))

	var nested bytes.Buffer
	nested.Write(empty()[:154])
	for range 3000 {
		nested.WriteString("\x78\x73\x71\x00\x7e\x00\x00\x3f\x40\x00\x00\x00\x00\x00\x02\x77\x08\x00\x00\x00\x03\x00\x00\x00\x00")
	}
	fits("3000 deep", nested.Bytes())
	if _, err := Decode(nested.Bytes()); err == nil || !strings.Contains(err.Error(), "defaults nested more than 64 deep") {
		t.Errorf("3000 deep: %v", err)
	}

	// One string of 30000 bytes, and 30000 references to it.
	const n = 30000
	var bomb bytes.Buffer
	bomb.Write(body(0, ""))
	bomb.Truncate(150)
	bomb.Write([]byte{0, 0, n >> 8, n & 0xff})
	bomb.WriteString("\x74\x00\x01k\x74" + string([]byte{n >> 8, n & 0xff}) + strings.Repeat("x", n))
	for i := range n - 1 {
		bomb.WriteString("\x74\x00\x03" + string([]byte{'a' + byte(i>>10), '0' + byte(i>>5&31), '0' + byte(i&31)}) + "\x71\x00\x7e\x00\x05")
	}
	bomb.WriteString("\x78\x70")
	fits("references to one string", bomb.Bytes())
	if _, err := Decode(bomb.Bytes()); err == nil || !strings.Contains(err.Error(), "shared strings stand for more than 8 times the record's size") {
		t.Errorf("references to one string: %v", err)
	}
}
