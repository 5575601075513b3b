package legacy

import (
	"reflect"
	"strings"
	"testing"

	"mrtq/legacy/javaobj"
)

// plainPayloads together use everything that a plain reader accepts. They are
// short, so that a test can damage each byte in every way.
var plainPayloads = map[Format][]string{
	BeansXML: {
		`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<java version="1.8.0_402" class="java.beans.XMLDecoder">` + "\n" + ` <object class="java.util.Properties">` + "\n" +
			`<void method="put"><string>a</string><string>é &amp;&#x41;<char code="#7"/> b 😀</string></void>` + "\n</object></java>\n",
		`<java version="17" class="java.beans.XMLDecoder"><object class="java.util.Properties"><void method="put"><string>n</string><int>2147483647</int></void>` +
			`<void method="put"><string>l</string><long>-80</long></void><void method="put"><string>b</string><boolean>true</boolean></void></object></java>`,
	},
	PropertiesXML: {
		`<?xml version="1.0" encoding="UTF-8" standalone="no"?>` + "\r\n" + `<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">` + "\n<properties>\n<comment>a test</comment>\n" +
			`<entry key="a&quot;b">é &#xd83d;&#xde00; &lt;` + "\n\t" + `x&#13;&#0;</entry>` + "\n" + `<entry key="e"/><entry key="e">2</entry>` + "\n</properties>\n",
		`<properties version="1.0"><entry key="&#xd83d;&#100;">&#xde00;` + "\U0010fffd" + `</entry></properties>`,
	},
	JSON: {
		`{"a":"b \u000a\n\"\\\/ é😀` + "\U0010fffd" + `","n":-12.50e+3,"t":true,"f":false,"z":null}` + "\n",
		` { "a" : "" , "b" : 0 } `, `{}`,
	},
	Properties: {
		"#a comment = \\\n#Sat Nov 21 01:31:49 UTC 2026\r\na=b\n\nc\\ d\\:\\==http\\://x \\= y\\\\ z # !\n!x\nu=\\u00E9\\uD83D\\uDE00\\t\\n\n" + "a=c\nempty=\nlast=\\ x",
	},
}

// plainStreams are object streams with everything that a plain one may have:
// shared and unshared strings and Booleans, characters beyond ASCII, defaults,
// a key in two Properties, and the string that every stream has.
func plainStreams(t testing.TB) []string {
	t.Helper()
	str := func(s string) *javaobj.String { return &javaobj.String{Text: s} }
	shared, yes, no := str("shared"), &javaobj.Boolean{Value: true}, &javaobj.Boolean{}
	outer, inner := javaobj.New(5), javaobj.New(3)
	outer.Entries = []javaobj.Entry{{Key: str("a"), Value: shared}, {Key: str("é\x00😀\xed\xa0\xbd"), Value: yes}, {Key: shared, Value: str("")},
		{Key: str("t"), Value: yes}, {Key: str("u"), Value: no}}
	inner.Entries = []javaobj.Entry{{Key: str("a"), Value: str("hidden")}, {Key: str("d"), Value: shared}, {Key: str("f"), Value: &javaobj.Boolean{}}}
	outer.Defaults = inner
	var streams []string
	for _, p := range []*javaobj.Properties{outer, inner, javaobj.New(0)} {
		stream, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, string(stream))
	}
	return streams
}

// TestPlain: the plain readers read what the services write, and read it as the
// formats' own readers do.
func TestPlain(t *testing.T) {
	for format, payloads := range plainPayloads {
		for _, payload := range payloads {
			if f, _, ok := decodePlain([]byte(payload)); !ok || f != format {
				t.Errorf("%s isn't plain: %s, %t: %q", format, f, ok, payload)
			}
			checkPlain(t, []byte(payload))
		}
	}
	for _, stream := range plainStreams(t) {
		if !checkPlain(t, []byte(stream)) {
			t.Errorf("isn't plain: %q", stream)
		}
	}
	for _, n := range seeds(t) {
		payload := n.Data[min(headerWidth, len(n.Data)):]
		checkPlain(t, payload)
	}
	for path, data := range corpus(t) {
		r, err := Decode(path[strings.LastIndexByte(path, '/')+1:], data, Options{})
		if err != nil {
			continue
		}
		if _, _, ok := decodePlain(data[headerWidth:]); !ok {
			t.Errorf("%s, which is %s, isn't plain", path, r.Format)
		}
	}
}

// checkPlain compares the plain readers with the formats' own, and reports
// whether the payload is plain.
func checkPlain(t testing.TB, payload []byte) bool {
	t.Helper()
	if len(payload) == 0 { // which DecodePayload refuses
		return false
	}
	format, p, ok := decodePlain(payload)
	if !ok {
		return false
	}
	wantFormat, want, err := decodeAny(payload)
	if err != nil {
		t.Fatalf("%q\nplain, as %s: %q\nbut %v", payload, format, p, err)
	}
	if format != wantFormat || !reflect.DeepEqual(p, want) {
		t.Fatalf("%q\nplain, as %s: %q\nwant, as %s: %q", payload, format, p, wantFormat, want)
	}
	return true
}

// A small stream can share one string so often that it stands for a large
// record. Decode refuses it, so a plain reader must not accept it.
func TestPlainIsBounded(t *testing.T) {
	long := &javaobj.String{Text: strings.Repeat("x", 20_000)}
	p := javaobj.New(20)
	for i := range 20 {
		p.Entries = append(p.Entries, javaobj.Entry{Key: &javaobj.String{Text: strings.Repeat("k", i)}, Value: long})
	}
	stream, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := DecodePayload(stream); err == nil || !strings.Contains(err.Error(), "shared strings") {
		t.Errorf("got %v", err)
	}
}

// TestPlainDamaged writes every token that a format treats specially to each
// place of the plain payloads, and every byte to each place of the streams.
func TestPlainDamaged(t *testing.T) {
	tokens := strings.Split("\x00|\t|\n|\r|\r\n|\f| |  |\x1f|\x7f|\u0080|\u00a0|é|\xe9|\xff|\ufeff|\ufffd|\ufffe|\uffff|\u2028|\U0010fffd|\U0010fffdd83d|\xed\xa0\xbd|"+
		`\|\\|\"|\'|\u|\u0|\u00e9|\u+123|\ud83d|\ude00|\uD83D\uDE00|\uDE00\uD83D|\x|\b|"|'|""|`+"`|"+
		`&|&amp;|&amp|&AMP;|&eacute;|&#|&#;|&#x;|&#x41|&#65;|&#x41;|&#X41;|&#0;|&#xd83d;|&#xde00;|&#xffff;|&#x10ffff;|&#x110000;|&#13;|&#00000065;|&#000000065;|&#4294967361;|&#a;|`+
		`<|>|/|</|/>|<!--x-->|<![CDATA[x]]>|]]>|<?x y?>|<?xml version="1.0"?>|<!DOCTYPE properties [<!ENTITY a "b">]>|<!DOCTYPE x>|<x/>|<x>|</x>|<comment/>|<entry key="k"/>|<null/>|<char code="#7"/>|<char code=""/>| id="x"| x="y"|:|`+
		`=|==|!|#|-|+|.|0|00|1|e|E|1e|1.|,|{|}|[|]|[]|{"a":1}|true|nul|$|${a}|a|Z|_|class|UTF-16|standalone`, "|")
	plain, spoilt := 0, 0
	for _, payloads := range plainPayloads {
		for _, payload := range payloads {
			for i := range len(payload) + 1 {
				for _, token := range tokens {
					for _, cut := range []int{0, 1, len(token)} {
						end := min(i+cut, len(payload))
						other := payload[:i] + token + payload[end:]
						spoilt++
						if checkPlain(t, []byte(other)) {
							plain++
						}
					}
				}
				checkPlain(t, []byte(payload[:i]))
			}
		}
	}
	for _, stream := range plainStreams(t) {
		for i := range stream {
			for b := range 256 {
				spoilt++
				other := []byte(stream)
				other[i] = byte(b)
				if checkPlain(t, other) {
					plain++
				}
			}
			checkPlain(t, []byte(stream[:i]))
			checkPlain(t, []byte(stream[:i]+stream[i+1:]))
			checkPlain(t, []byte(stream[:i]+"t\x00\x01a"+stream[i:]))
		}
	}
	t.Logf("%d of %d payloads are still plain", plain, spoilt)
	if plain < 10_000 || spoilt-plain < 10_000 {
		t.Error("too few payloads are still plain for this test to prove anything")
	}
}

// FuzzPlain: what a plain reader accepts, the format's own reader accepts too,
// and reads as the same. The reverse need not hold, because a plain reader may
// give up at anything.
func FuzzPlain(f *testing.F) {
	for _, payloads := range plainPayloads {
		for _, payload := range payloads {
			f.Add([]byte(payload))
		}
	}
	for _, stream := range plainStreams(f) {
		f.Add([]byte(stream))
	}
	for _, n := range seeds(f) {
		f.Add(n.Data[min(headerWidth, len(n.Data)):])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		checkPlain(t, payload)
	})
}
