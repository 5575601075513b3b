package legacy

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// Format names how a payload is encoded.
type Format string

// The formats (docs/legacy-format.md, "The payload").
const (
	JavaSerialized Format = "java-serialized" // an object stream of a java.util.Properties
	BeansXML       Format = "beans-xml"       // java.beans.XMLEncoder
	PropertiesXML  Format = "properties-xml"  // Properties.storeToXML
	JSON           Format = "json"            // one object
	Properties     Format = "properties"      // Properties.store
)

// codec decodes and encodes one format. decode's offsets count from the payload.
type codec struct {
	format Format
	decode func([]byte) (Payload, *Error)
	encode func(Payload) ([]byte, error)
}

var codecs = [...]codec{
	{JavaSerialized, decodeJava, encodeJava},
	{BeansXML, decodeBeans, encodeBeans},
	{PropertiesXML, decodePropertiesXML, encodePropertiesXML},
	{JSON, decodeJSON, encodeJSON},
	{Properties, decodeProperties, encodeProperties},
}

// codecOf returns the codec of a format, or nil for an unknown format.
func codecOf(format Format) *codec {
	for i := range codecs {
		if codecs[i].format == format {
			return &codecs[i]
		}
	}
	return nil
}

// Formats returns every format.
func Formats() []Format {
	formats := make([]Format, len(codecs))
	for i, c := range codecs {
		formats[i] = c.format
	}
	return formats
}

const (
	streamMagic = "\xac\xed"
	utf8BOM     = "\ufeff"
)

// DetectFormat returns a payload's format, which it finds by the content. It
// returns "" for XML whose root element is missing or unknown.
//
// White space before JSON and XML is skipped, as org.json and the JDK's parser
// for properties skip it. A byte order mark counts as XML's or JSON's (the
// JDK's parsers take it before XML; decoding refuses it before JSON, as
// org.json does). An array is JSON too: it isn't a record, and as properties
// text it would be one odd key. Everything else is properties text, which
// decoding refuses if it isn't text.
func DetectFormat(payload []byte) Format {
	if bytes.HasPrefix(payload, []byte(streamMagic)) {
		return JavaSerialized
	}
	text := trimSpace(bytes.TrimPrefix(payload, []byte(utf8BOM)))
	switch {
	case len(text) == 0:
		return Properties
	case text[0] == '{', text[0] == '[':
		return JSON
	case text[0] == '<':
		return xmlFormats[xmlRoot(text)]
	case utf16BOM(payload):
		return ""
	}
	return Properties
}

// xmlFormats are the formats by root element.
var xmlFormats = map[string]Format{"java": BeansXML, "properties": PropertiesXML}

func trimSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// utf16BOM reports whether b begins as UTF-16 text does. Only XML could be
// meant: the other formats have one encoding.
func utf16BOM(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0xfe, 0xff, 0, '<'}) || bytes.HasPrefix(b, []byte{0xff, 0xfe, '<', 0})
}

// xmlRoot returns the name of the first element, or "".
func xmlRoot(text []byte) string {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = asIs
	for {
		token, err := d.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Space == "" {
			return start.Name.Local
		}
	}
}

// DecodePayload decodes what follows a record's header. Every error is an
// [*Error], with an offset from the payload's beginning.
func DecodePayload(payload []byte) (Format, Payload, error) {
	if len(payload) == 0 {
		return "", nil, &Error{Kind: EmptyPayload, Offset: 0, Msg: "nothing is there: expected a payload"}
	}
	if format, p, ok := decodePlainXML(payload); ok {
		return format, p, nil
	}
	return decodeAny(payload)
}

// decodeAny decodes a payload that needn't be plain XML.
func decodeAny(payload []byte) (Format, Payload, error) {
	format := DetectFormat(payload)
	if format == "" {
		return "", nil, unknownXML(payload)
	}
	p, err := codecOf(format).decode(payload)
	if err != nil {
		return "", nil, err
	}
	return format, p, nil
}

// EncodePayload encodes p, in an order that depends on nothing but p. It fails
// for an unknown format, for a string that isn't WTF-8, and for a value that
// the format can't hold: properties text and XML hold only strings, and only
// JSON holds null, arrays, objects, and numbers beyond 64 bits.
func EncodePayload(f Format, p Payload) ([]byte, error) {
	c := codecOf(f)
	if c == nil {
		return nil, fmt.Errorf("encode: format %q is unknown: expected one of %q", f, Formats())
	}
	b, err := c.encode(p)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", f, err)
	}
	return b, nil
}

// Encode returns a record's whole data. It fails as [EncodePayload] does.
func Encode(h Header, f Format, p Payload) ([]byte, error) {
	payload, err := EncodePayload(f, p)
	if err != nil {
		return nil, err
	}
	return append(AppendHeader(nil, h), payload...), nil
}
