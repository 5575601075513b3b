package legacy

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"path"
	"reflect"
	"strings"
	"testing"
)

// TestErrors pins what users see, and which fault of several they see first.
func TestErrors(t *testing.T) {
	const ok = "mrtQ-05000000000001"
	head := string(AppendHeader(nil, Header{}))
	future := "\x00\x7f\xff\xff\xff\xff\xff\xff\xff"
	tests := []struct{ name, data, want string }{
		{"x", "", `bad-key: name "x" doesn't begin with "mrtQ-"`},
		{ok, "", `truncated-header at byte 0: the data ends after 0 bytes: expected a header of 9 (a status byte and an 8-byte time)`},
		{ok, "\x09", `truncated-header at byte 1: the data ends after 1 bytes: expected a header of 9 (a status byte and an 8-byte time)`},
		{ok, "\x06" + future[1:], `unknown-status at byte 0: status byte is 6: expected 0 (pending) to 5 (held)`},
		{ok, future, `empty-payload at byte 9: nothing follows the header: expected a payload`},
		{ok, future + "?\x00", `bad-payload at byte 1: time 9223372036854775807 read as milliseconds is outside the years 1970 to 9999: expected milliseconds or seconds since 1970, or 0 for none`},

		{ok, head + "\x00\x01", `bad-payload at byte 9: byte 0x00 is in no text: expected properties text, XML, JSON or an object stream`},
		{ok, head + "a=b\x00", `bad-payload at byte 12: byte 0x00 is in no text: expected properties text, XML, JSON or an object stream`},
		{ok, head + "a\x07", `bad-payload at byte 10: byte 0x07 in text without = or a colon: expected properties text, XML, JSON or an object stream`},
		{ok, head + "\xde\xad\xbe\xef", `bad-payload at byte 9: byte 0xde in text without = or a colon: expected properties text, XML, JSON or an object stream`},
		{ok, head + "a=b\n  c=x\\\n  y\\u12g4", `bad-payload at byte 23: properties text: \u and "12g4": expected four hexadecimal digits`},
		{ok, head + "a=\\u12", `bad-payload at byte 11: properties text: \u and "12": expected four hexadecimal digits`},

		{ok, head + `{"a": `, `bad-payload at byte 15: JSON: unexpected end of JSON input`},
		{ok, head + `{"a": x}`, `bad-payload at byte 15: JSON: invalid character 'x' looking for beginning of value`},
		{ok, head + `{} {}`, `bad-payload at byte 12: JSON: invalid character '{' after top-level value`},
		{ok, head + `[1]`, `bad-payload at byte 9: JSON array: expected an object`},
		{ok, head + "\ufeff{}", `bad-payload at byte 9: JSON after a byte order mark: expected {`},
		{ok, head + "{\"a\":\"\xff\"}", `bad-payload at byte 15: JSON: byte 0xff isn't UTF-8`},
		{ok, head + `{"a":1,"a":2}`, `bad-payload at byte 19: JSON: name "a" a second time in one object`},
		{ok, head + `{"\ud83d\ud83d":1,"b":{"c":1,"c":2}}`, `bad-payload at byte 41: JSON: name "c" a second time in one object`},

		{ok, head + "<java", `bad-payload at byte 14: XML: XML syntax error on line 1: unexpected EOF`},
		{ok, head + "<html/>", `bad-payload at byte 9: XML root element "html": expected java (XMLEncoder) or properties (storeToXML)`},
		{ok, head + "\xfe\xff\x00<", `bad-payload at byte 13: XML: XML syntax error on line 1: unexpected EOF`},
		{ok, head + "\xff\xfe<\x00a\x00/\x00>\x00", `bad-payload at byte 11: XML root element "a": expected java (XMLEncoder) or properties (storeToXML)`},
		{ok, head + "\xff\xfe \x00\x00\xd8<\x00", `bad-payload at byte 13: XML: a byte that stands for no character in "UTF-16"`},
		{ok, head + "<?xml version='1.0' encoding='EBCDIC'?><java/>", `bad-payload at byte 39: XML in encoding "EBCDIC": expected UTF-8, UTF-16 or another common one, such as ISO-8859-1 or windows-1252`},
		{ok, head + "<?xml version='1.0' encoding='UTF-16'?><java/>", `bad-payload at byte 39: XML in encoding "UTF-16": expected UTF-8, UTF-16 or another common one, such as ISO-8859-1 or windows-1252`},
		{ok, head + "<?xml version='1.0' encoding='Shift_JIS'?><properties><entry key='a'>\x81\x40</entry><b/></properties>", `bad-payload at byte 88: XML: element "b" in properties: expected entry or comment`},
		{ok, head + "<?xml version='1.0' encoding='Shift_JIS'?><properties><entry key='a'>\xff</entry></properties>", `bad-payload at byte 78: XML: a byte that stands for no character in "Shift_JIS"`},
		{ok, head + "<?xml version='1.0' encoding='us-ascii'?><properties>\xc3\xa9</properties>", `bad-payload at byte 62: XML: a byte that stands for no character in "us-ascii"`},
		{ok, head + "<properties>\xff</properties>", `bad-payload at byte 21: XML: byte 0xff isn't UTF-8`},
		{ok, head + "<properties><entry key='&#xd83d;'>x</entry><other/></properties>", `bad-payload at byte 52: XML: element "other" in properties: expected entry or comment`},
		{ok, head + "<?xml version='1.0' encoding='ISO-8859-1'?><properties><!-- \xe9\xe9 --><other/></properties>", `bad-payload at byte 75: XML: element "other" in properties: expected entry or comment`},
		{ok, head + "<!DOCTYPE properties [<!ENTITY e 'x'>]><properties/>", `bad-payload at byte 9: XML: declaration "DOCTYPE properties [<!ENTITY e 'x'>]": expected none, or a document type that only names an external DTD, which isn't read`},
		{ok, head + "<properties><entry key='a'>&e;</entry></properties>", `bad-payload at byte 39: XML: XML syntax error on line 1: invalid character entity &e;`},
		{ok, head + "<properties>&\u202e\u009b;</properties>", `bad-payload at byte 28: XML: XML syntax error on line 1: invalid character entity &\u202e\u009b;`},
		{ok, head + "<properties>&" + strings.Repeat("x", 1000) + ";</properties>", `bad-payload at byte 1023: XML: XML syntax error on line 1: invalid character entity &` + strings.Repeat("x", 146) + "…"},
		{ok, head + "<properties></properties><properties/>", `bad-payload at byte 34: XML: element "properties" after the root element`},
		{ok, head + "<properties><entry key='a'></properties></entry>", `bad-payload: XML: an element isn't closed, or another one is`},
		{ok, head + "<java><object class=\"java.lang.Runtime\"/></java>", `unsupported-class at byte 15: XML: element "object" for class "java.lang.Runtime" isn't supported: expected object class="java.util.Properties"`},
		{ok, head + "<java><object class=\"java.util.Properties\"><void method=\"load\"/></object></java>", `unsupported-class at byte 52: XML: void with method="load" isn't supported: expected method="put"`},

		{ok, head + "\xac\xed\x00\x04", `bad-payload at byte 9: object stream: begins with ac ed 00 04: expected ac ed 00 05`},
		{ok, head + "\xac\xed\x00\x05", `bad-payload at byte 13: object stream: the stream ends: expected a java.util.Properties or null: unexpected EOF`},
		{ok, head + "\xac\xed\x00\x05\x73\x72\x00\x03a.B", `unsupported-class at byte 14: object stream: class "a.B" isn't supported: expected a java.util.Properties of strings, Boolean, Integer and Long`},
	}
	for _, test := range tests {
		r, err := Decode(test.name, []byte(test.data), Options{})
		if err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", test.data, err, test.want)
		}
		if !reflect.DeepEqual(r, Record{}) {
			t.Errorf("%q: a record came with the error: %+v", test.data, r)
		}
	}
}

func TestErrorClass(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/ingest/mrtQ-05000000000025", "java.util.Date"},
		{"/mrt.inventory.full/mrtQ-000000025102", "java.lang.Runtime"},
	}
	nodes := corpus(t)
	for _, test := range tests {
		_, err := Decode(path.Base(test.path), nodes[test.path], Options{})
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, UnsupportedClass) || errors.Is(err, BadPayload) || e.Class != test.want {
			t.Errorf("%s: got %v", test.path, err)
		}
	}
}

// kinds of damage that a truncation may be reported as.
var truncated = map[Kind]bool{TruncatedHeader: true, EmptyPayload: true, BadPayload: true}

// TestTruncation cuts every record at every length. Only in properties text can
// the beginning of a payload be a whole payload.
func TestTruncation(t *testing.T) {
	cuts := 0
	for p, data := range corpus(t) {
		name := path.Base(p)
		whole, err := Decode(name, data, Options{})
		if err != nil {
			continue
		}
		for n := range data {
			r, err := Decode(name, data[:n], Options{})
			cuts++
			if err == nil {
				// An XML document may lose the line break at its end.
				if r.Format == Properties || strings.TrimSpace(string(data[n:])) == "" && reflect.DeepEqual(r.Payload, whole.Payload) {
					continue
				}
				t.Errorf("%s cut to %d of %d bytes: accepted as %s", p, n, len(data), r.Format)
				continue
			}
			var e *Error
			if !errors.As(err, &e) || !truncated[e.Kind] || e.Offset > n {
				t.Errorf("%s cut to %d of %d bytes: %v", p, n, len(data), err)
			}
			if want := n < headerWidth; want != (e.Kind == TruncatedHeader) {
				t.Errorf("%s cut to %d: %v", p, n, err)
			}
			if want := n == headerWidth; want != (e.Kind == EmptyPayload) {
				t.Errorf("%s cut to %d: %v", p, n, err)
			}
		}
	}
	if cuts < 3000 {
		t.Errorf("%d cuts: is the corpus whole?", cuts)
	}
}

// TestFlips changes each byte of each record: no panic, and only known errors.
func TestFlips(t *testing.T) {
	for p, data := range corpus(t) {
		for i := range data {
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				damaged := bytes.Clone(data)
				damaged[i] ^= flip
				_, err := Decode(path.Base(p), damaged, Options{})
				var e *Error
				if err != nil && (!errors.As(err, &e) || e.Offset > len(data) || e.Kind == "") {
					t.Fatalf("%s with byte %d flipped: %v", p, i, err)
				}
			}
		}
	}
}

func TestRecordIsACopy(t *testing.T) {
	nodes := corpus(t)
	for p, data := range nodes {
		own := bytes.Clone(data)
		r, err := Decode(path.Base(p), own, Options{})
		if err != nil {
			continue
		}
		before := AppendJSON(nil, r.Payload)
		clear(own)
		if !bytes.Equal(AppendJSON(nil, r.Payload), before) {
			t.Errorf("%s: the payload changed with the data", p)
		}
		if r.SHA256 != sha256.Sum256(data) {
			t.Errorf("%s: hash %x", p, r.SHA256)
		}
	}
}

// TestFormatIsDetected: how a payload begins decides its format. Of a payload that is
// refused, the error says which format it was taken for.
func TestFormatIsDetected(t *testing.T) {
	const stream, bean, xml, json, text = "object stream: ", `<object class="java.util.Properties"/>`, "XML", "JSON", "properties text"
	tests := []struct {
		payload string
		want    Format
		refused string
	}{
		{"\xac\xed\x00\x05", "", stream}, {"\xac\xed", "", stream}, {"\xac=", Properties, ""},
		{"{", "", json}, {" \r\n\t{}", JSON, ""}, {"[]", "", json}, {"\ufeff{}", "", json},
		{"<java>" + bean + "</java>", BeansXML, ""}, {" <java>" + bean + "</java>", BeansXML, ""},
		{"\ufeff<?xml version='1.0'?><!-- " + strings.Repeat("x", 1000) + " --><java id='b'>" + bean + "</java>", BeansXML, ""},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><properties/>", PropertiesXML, ""}, {"<!DOCTYPE properties SYSTEM 'x'>\n<properties/>", PropertiesXML, ""},
		{"<html/>", "", xml}, {"<", "", xml}, {"<x:java/>", "", xml}, {"\xff\xfe<\x00", "", xml},
		{"a=b", Properties, ""}, {"#<java/>", Properties, ""}, {" ", Properties, ""}, {"\f{}", Properties, ""}, {"a\\u", "", text},
	}
	for _, test := range tests {
		got, _, err := DecodePayload([]byte(test.payload))
		if e, _ := err.(*Error); got != test.want || (e != nil) != (test.refused != "") || e != nil && !strings.HasPrefix(e.Msg, test.refused) {
			t.Errorf("%q: got %q, %v, want %q or %q", test.payload, got, err, test.want, test.refused)
		}
	}
}

// TestReferencesOfXML: a reference to what XML forbids is read wherever it is a
// reference, and white space in an attribute's value only from a reference.
func TestReferencesOfXML(t *testing.T) {
	const ref = "&#xd83d;&#xde00;"
	for payload, want := range map[string]Payload{
		"<!DOCTYPE properties SYSTEM '<? <![CDATA[ <!-- \">'><properties><entry key='a'>" + ref + "</entry></properties>": {"a": "😀"},
		"<properties><entry key='a'><![CDATA[" + ref + "]]><!-- " + ref + " -->" + ref + "</entry></properties>":          {"a": ref + "😀"},
		"<properties>&#10;<entry key='a\tb\r\nc\nd&#9;e&#13;&#10;'/></properties>&#10;":                                   {"a b c d\te\r\n": ""},
	} {
		if _, p, err := DecodePayload([]byte(payload)); err != nil || !reflect.DeepEqual(p, want) {
			t.Errorf("%q\n got %q, %v\nwant %q", payload, p, err, want)
		}
	}
}
