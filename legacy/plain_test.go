package legacy

import (
	"iter"
	"reflect"
	"strings"
	"testing"
)

// plainPayloads together use everything that a plain reader of XML accepts. They
// are short, so that a test can damage each byte in every way.
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
}

// TestPlain: the plain readers read what the services write, and read it as the
// formats' own readers do.
func TestPlain(t *testing.T) {
	for format, payloads := range plainPayloads {
		for _, payload := range payloads {
			if f, _, ok := decodePlainXML([]byte(payload)); !ok || f != format {
				t.Errorf("%s isn't plain: %s, %t: %q", format, f, ok, payload)
			}
			checkPlain(t, []byte(payload))
		}
	}
	for _, n := range seeds(t) {
		payload := n.Data[min(headerWidth, len(n.Data)):]
		checkPlain(t, payload)
	}
	for path, data := range corpus(t) {
		r, err := Decode(path[strings.LastIndexByte(path, '/')+1:], data, Options{})
		if err != nil || r.Format != BeansXML && r.Format != PropertiesXML {
			continue
		}
		if _, _, ok := decodePlainXML(data[headerWidth:]); !ok {
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
	format, p, ok := decodePlainXML(payload)
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

// TestPlainDamaged writes every token that a format treats specially to each
// place of the plain payloads.
func TestPlainDamaged(t *testing.T) {
	plain, spoilt := 0, 0
	for _, payloads := range plainPayloads {
		for _, payload := range payloads {
			for other := range damaged(payload) {
				spoilt++
				if checkPlain(t, []byte(other)) {
					plain++
				}
			}
		}
	}
	t.Logf("%d of %d payloads are still plain", plain, spoilt)
	if plain < 1_000 || spoilt-plain < 10_000 {
		t.Error("too few payloads are still plain for this test to prove anything")
	}
}

// damaged yields payload with every token that a format treats specially written to
// each of its places: instead of nothing, of one byte, and of as many bytes as the
// token has. And it yields each beginning of payload.
func damaged(payload string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(payload) + 1 {
			for _, token := range damagingTokens {
				for _, cut := range []int{0, 1, len(token)} {
					if !yield(payload[:i] + token + payload[min(i+cut, len(payload)):]) {
						return
					}
				}
			}
			if !yield(payload[:i]) {
				return
			}
		}
	}
}

var damagingTokens = strings.Split("\x00|\t|\n|\r|\r\n|\f| |  |\x1f|\x7f|\u0080|\u00a0|é|\xe9|\xff|\ufeff|\ufffd|\ufffe|\uffff|\u2028|\U0010fffd|\U0010fffdd83d|\xed\xa0\xbd|"+
	`\|\\|\"|\'|\u|\u0|\u00e9|\u+123|\ud83d|\ude00|\uD83D\uDE00|\uDE00\uD83D|\x|\b|"|'|""|`+"`|"+
	`&|&amp;|&amp|&AMP;|&eacute;|&#|&#;|&#x;|&#x41|&#65;|&#x41;|&#X41;|&#0;|&#xd83d;|&#xde00;|&#xffff;|&#x10ffff;|&#x110000;|&#13;|&#00000065;|&#000000065;|&#4294967361;|&#a;|`+
	`<|>|/|</|/>|<!--x-->|<![CDATA[x]]>|]]>|<?x y?>|<?xml version="1.0"?>|<!DOCTYPE properties [<!ENTITY a "b">]>|<!DOCTYPE x>|<x/>|<x>|</x>|<comment/>|<entry key="k"/>|<null/>|<char code="#7"/>|<char code=""/>| id="x"| x="y"|:|`+
	`=|==|!|#|-|+|.|0|00|1|e|E|1e|1.|,|{|}|[|]|[]|{"a":1}|true|nul|$|${a}|a|Z|_|class|UTF-16|standalone`, "|")

// FuzzPlain: what a plain reader accepts, the format's own reader accepts too,
// and reads as the same. The reverse need not hold, because a plain reader may
// give up at anything.
func FuzzPlain(f *testing.F) {
	for _, payloads := range plainPayloads {
		for _, payload := range payloads {
			f.Add([]byte(payload))
		}
	}
	for _, n := range seeds(f) {
		f.Add(n.Data[min(headerWidth, len(n.Data)):])
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		checkPlain(t, payload)
	})
}
