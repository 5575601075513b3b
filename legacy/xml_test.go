package legacy

import (
	"reflect"
	"testing"
)

// TestXML has what XML allows and the JDK's encoders don't write.
func TestXML(t *testing.T) {
	entry := func(v string) Payload { return Payload{"k": v} }
	tests := []struct {
		payload string
		want    Payload
	}{
		{"\ufeff \n<?xml version='1.0'?><!-- - --><?p <i?><!DOCTYPE properties SYSTEM 'a[b'><properties ><entry key = 'k' >v</entry ></properties>\n<!---->", entry("v")},
		{`<properties><comment>c</comment><entry key="k"/></properties>`, entry("")},
		{`<properties><entry key="k">1</entry><entry key="k">2</entry></properties>`, entry("2")},
		{"<properties><entry key='k'>a<![CDATA[&amp;<\r]]>b<!-- c -->\r\n\rd</entry></properties>", entry("a&amp;<\nb\n\nd")},
		{"<properties><entry key='k'>&#xd83d;<!-- c -->&#xde00;&#xd83d; &#0;&#13;&#x000041;&apos;></entry></properties>", entry("😀\xed\xa0\xbd \x00\rA'>")},
		{"<properties><entry key='\t\r\n&#10;&#xd83d;&#xde00;\"'>\U0010fffd</entry></properties>", Payload{"  \n😀\"": "\U0010fffd"}},
		{"<?xml version='1.0' encoding='iso-8859-1'?><properties><entry key='k'>\xe9</entry></properties>", entry("é")},
		{`<java><object id="Properties0" class="java.util.Properties"><void method="put"><string>k</string><string>a<char code="#7"></char><char code="65"/> </string></void></object></java>`,
			entry("a\aA ")},
		{`<java/>`, nil}, {`<java><object class="java.util.Properties"/></java>`, Payload{}}, {`<properties/>`, Payload{}},
		{`<properties>x</properties>`, nil}, {`<properties/>&#65;`, nil}, {`<properties/><!DOCTYPE x`, nil}, {`<properties><!DOCTYPE x></properties>`, nil},
		{`<properties><entry key="<">v</entry></properties>`, nil}, {`<properties><entry key="k" key="k"/></properties>`, nil}, {`<properties><entry/></properties>`, nil},
		{`<properties><entry key="k">]]></entry></properties>`, nil}, {"<properties><entry key='k'>\x01</entry></properties>", nil},
		{`<properties><entry key="k">&#x110000;</entry></properties>`, nil}, {`<properties><entry key=k/></properties>`, nil}, {`<properties></properties`, nil},
		{`<?xml version="1.1"?><properties/>`, nil}, {`<properties><!-- -- --></properties>`, nil}, {`<properties><entry key="k"><b/></entry></properties>`, nil}, {``, nil},
	}
	for _, test := range tests {
		_, got, err := DecodePayload([]byte(test.payload))
		if (err == nil) != (test.want != nil) || err == nil && !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q\n got %q, %v\nwant %q", test.payload, got, err, test.want)
		}
	}
}
