package legacy

import (
	"bytes"
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

const (
	streamMagic = "\xac\xed"
	utf8BOM     = "\ufeff"
)

// DecodePayload decodes what follows a record's header. Every error is an
// [*Error], with an offset from the payload's beginning.
//
// How a payload begins decides its format, and of XML the root element. White
// space before JSON and XML is skipped, as org.json and the JDK's parser for
// properties skip it. A byte order mark counts as XML's or JSON's (the JDK's
// parsers take it before XML; decoding refuses it before JSON, as org.json does).
// An array is JSON too: it isn't a record, and as properties text it would be one
// odd key. Everything else is properties text, which is refused if it isn't text.
func DecodePayload(payload []byte) (Format, Payload, error) {
	if len(payload) == 0 {
		return "", nil, &Error{Kind: EmptyPayload, Offset: 0, Msg: "nothing is there: expected a payload"}
	}
	format, p, err := decodePayload(payload)
	if err != nil {
		return "", nil, err
	}
	return format, p, nil
}

func decodePayload(payload []byte) (format Format, p Payload, err *Error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(payload, []byte(utf8BOM)), " \t\r\n")
	switch {
	case bytes.HasPrefix(payload, []byte(streamMagic)):
		p, err = decodeJava(payload)
		return JavaSerialized, p, err
	case bytes.HasPrefix(text, []byte("<")), isUTF16(payload):
		return decodeXML(payload)
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		p, err = decodeJSON(payload)
		return JSON, p, err
	}
	p, err = decodeProperties(payload)
	return Properties, p, err
}
