package legacyqueue

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mrtq/legacy"
)

var formats = []struct {
	format legacy.Format
	write  func(legacy.Payload) []byte
}{
	{legacy.JavaSerialized, javaStream},
	{legacy.BeansXML, beansXML},
	{legacy.PropertiesXML, propertiesXML},
	{legacy.JSON, func(p legacy.Payload) []byte { return legacy.AppendJSON(nil, p) }},
	{legacy.Properties, propertiesText},
}

// Encode returns a record's data as a service wrote it. It writes what the records of
// tests hold. The error says that the format can't hold the payload, or that Encode
// can't write it.
func Encode(h legacy.Header, format legacy.Format, p legacy.Payload) ([]byte, error) {
	for _, f := range formats {
		if f.format != format {
			continue
		}
		data := f.write(p)
		if found, back, err := legacy.DecodePayload(data); err == nil && found == format && reflect.DeepEqual(back, p) {
			return append(legacy.AppendHeader(nil, h), data...), nil
		}
	}
	return nil, fmt.Errorf("can't write %s as %s", legacy.AppendJSON(nil, p), format)
}

func entries(p legacy.Payload, write func(key, value string)) {
	for _, key := range slices.Sorted(maps.Keys(p)) {
		value, _ := p.Text(key)
		write(key, value)
	}
}

// What an object stream of a Properties has around its entries, and around the value of
// its first Boolean. Package javaobj explains it.
const (
	javaHead = "\xac\xed\x00\x05\x73\x72\x00\x14java.util.Properties\x39\x12\xd0\x7a\x70\x36\x3e\x98\x02\x00\x01L\x00\x08defaults\x74\x00\x16Ljava/util/Properties;\x78" +
		"\x72\x00\x13java.util.Hashtable\x13\xbb\x0f\x25\x21\x4a\xe4\xb8\x03\x00\x02F\x00\x0aloadFactorI\x00\x09threshold\x78\x70" +
		"\x3f\x40\x00\x00\x00\x00\x00\x08\x77\x08\x00\x00\x00\x0b"
	javaBoolean = "\x73\x72\x00\x11java.lang.Boolean\xcd\x20\x72\x80\xd5\x9c\xfa\xee\x02\x00\x01Z\x00\x05value\x78\x70"
	javaTail    = "\x78\x70"
)

func javaStream(p legacy.Payload) []byte {
	out := binary.BigEndian.AppendUint32([]byte(javaHead), uint32(len(p)))
	entries(p, func(key, value string) {
		out = appendJava(out, key)
		switch p[key] {
		case true:
			out = append(out, javaBoolean+"\x01"...)
		case false:
			out = append(out, javaBoolean+"\x00"...)
		default:
			out = appendJava(out, value)
		}
	})
	return append(out, javaTail...)
}

// appendJava writes a string in modified UTF-8, which has two surrogates for a character beyond
// U+FFFF.
func appendJava(dst []byte, s string) []byte {
	var text []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r > 0xffff {
			for _, half := range surrogates(r) {
				text = append(text, 0xe0|byte(half>>12), 0x80|byte(half>>6)&0x3f, 0x80|byte(half)&0x3f)
			}
		} else {
			text = append(text, s[:n]...)
		}
		s = s[n:]
	}
	dst = binary.BigEndian.AppendUint16(append(dst, 0x74), uint16(len(text)))
	return append(dst, text...)
}

func surrogates(r rune) []rune {
	high, low := utf16.EncodeRune(r)
	return []rune{high, low}
}

// xmlText and beansText write text in XML. They know the one unpaired surrogate of [titles].
var (
	xmlText   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;", cut, "&#xd83d;")
	beansText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\t", "&#9;", "\n", "&#10;", "\r", "&#13;", cut, `<char code="#d83d"/>`)
)

func beansXML(p legacy.Payload) []byte {
	out := []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<java version=\"1.8.0\" class=\"java.beans.XMLDecoder\">\n <object class=\"java.util.Properties\">\n")
	entries(p, func(key, value string) {
		kind := "string"
		if _, is := p[key].(bool); is {
			kind = "boolean"
		}
		out = fmt.Appendf(out, "  <void method=\"put\">\n   <string>%s</string>\n   <%s>%s</%[2]s>\n  </void>\n", beansText.Replace(key), kind, beansText.Replace(value))
	})
	return append(out, " </object>\n</java>\n"...)
}

func propertiesXML(p legacy.Payload) []byte {
	out := []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE properties SYSTEM \"http://java.sun.com/dtd/properties.dtd\">\n<properties>\n")
	entries(p, func(key, value string) {
		out = fmt.Appendf(out, "<entry key=\"%s\">%s</entry>\n", xmlText.Replace(key), xmlText.Replace(value))
	})
	return append(out, "</properties>\n"...)
}

// propertiesText begins with a comment, because without one a key could make the text look like
// another format.
func propertiesText(p legacy.Payload) []byte {
	out := []byte("#mrtq\n")
	entries(p, func(key, value string) {
		out = append(appendProperty(out, key, true), '=')
		out = append(appendProperty(out, value, false), '\n')
	})
	return out
}

// appendProperty escapes what Properties.store escapes. It escapes a blank only in a key or at
// the beginning of a value.
func appendProperty(dst []byte, s string, key bool) []byte {
	for i, r := range s {
		switch {
		case strings.HasPrefix(s[i:], cut):
			dst = append(dst, `\uD83D`...)
		case r == utf8.RuneError: // a byte of what was cut
		case r == ' ' && (key || i == 0), strings.ContainsRune("=:#!\\", r):
			dst = append(dst, '\\', byte(r))
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r > 0xffff:
			for _, half := range surrogates(r) {
				dst = fmt.Appendf(dst, `\u%04X`, half)
			}
		default:
			dst = fmt.Appendf(dst, `\u%04X`, r)
		}
	}
	return dst
}
