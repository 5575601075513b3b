package legacy

import (
	"bytes"
	"fmt"
	"slices"
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

// formats are all formats. Generated queues depend on the order.
var formats = []Format{JavaSerialized, BeansXML, PropertiesXML, JSON, Properties}

// Formats returns every format. The slice is a new one.
func Formats() []Format { return slices.Clone(formats) }

const (
	streamMagic = "\xac\xed"
	utf8BOM     = "\ufeff"
)

// xmlFormat is either of the XML formats: the root element says which.
const xmlFormat Format = "xml"

// detect returns a payload's format, which it finds by the content.
//
// White space before JSON and XML is skipped, as org.json and the JDK's parser
// for properties skip it. A byte order mark counts as XML's or JSON's (the
// JDK's parsers take it before XML; decoding refuses it before JSON, as
// org.json does). An array is JSON too: it isn't a record, and as properties
// text it would be one odd key. Everything else is properties text, which
// decoding refuses if it isn't text.
func detect(payload []byte) Format {
	text := trimSpace(bytes.TrimPrefix(payload, []byte(utf8BOM)))
	switch {
	case bytes.HasPrefix(payload, []byte(streamMagic)):
		return JavaSerialized
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return JSON
	case bytes.HasPrefix(text, []byte("<")), utf16BOM(payload):
		return xmlFormat
	}
	return Properties
}

func trimSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// utf16BOM reports whether b begins as UTF-16 text does. Only XML could be
// meant: the other formats have one encoding.
func utf16BOM(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0xfe, 0xff, 0, '<'}) || bytes.HasPrefix(b, []byte{0xff, 0xfe, '<', 0})
}

// DecodePayload decodes what follows a record's header. Every error is an
// [*Error], with an offset from the payload's beginning.
func DecodePayload(payload []byte) (Format, Payload, error) {
	if len(payload) == 0 {
		return "", nil, &Error{Kind: EmptyPayload, Offset: 0, Msg: "nothing is there: want a payload"}
	}
	var p Payload
	var err *Error
	format := detect(payload)
	switch format {
	case JavaSerialized:
		p, err = decodeJava(payload)
	case JSON:
		p, err = decodeJSON(payload)
	case Properties:
		p, err = decodeProperties(payload)
	default:
		format, p, err = decodeXML(payload)
	}
	if err != nil {
		return "", nil, err
	}
	return format, p, nil
}

// Encode returns a record's whole data, in an order that depends on nothing but p. It
// fails for an unknown format, for a string that isn't WTF-8, and for a value that
// the format can't hold: properties text and XML hold only strings, and only
// JSON holds null, arrays, objects, and numbers beyond 64 bits.
func Encode(h Header, f Format, p Payload) ([]byte, error) {
	var payload []byte
	var err error
	switch f {
	case JavaSerialized:
		payload, err = encodeJava(p)
	case BeansXML:
		payload, err = encodeBeans(p)
	case PropertiesXML:
		payload, err = encodePropertiesXML(p)
	case JSON:
		payload, err = encodeJSON(p)
	case Properties:
		payload, err = encodeProperties(p)
	default:
		err = fmt.Errorf("format is unknown: want one of %q", formats)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %q: %w", f, err)
	}
	return append(AppendHeader(nil, h), payload...), nil
}
