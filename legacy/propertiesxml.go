package legacy

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"

	"github.com/beevik/etree"
)

// properties reads a document of Properties.storeToXML.
func (d *document) properties(root *etree.Element) (Payload, *Error) {
	if err := d.checkAttributes(root, "version"); err != nil {
		return nil, err
	}
	elements, err := d.elements(root)
	if err != nil {
		return nil, err
	}
	noElement := func(e *etree.Element) (string, *Error) {
		return "", badPayload(d.at(e), "XML: element %.60q within text", e.FullTag())
	}
	p := make(Payload, len(elements))
	for _, e := range elements {
		switch e.FullTag() {
		case "comment":
			if _, err := d.content(e, noElement); err != nil {
				return nil, err
			}
		case "entry":
			if err := d.checkAttributes(e, "key"); err != nil {
				return nil, err
			}
			if len(e.Attr) == 0 {
				return nil, badPayload(d.at(e), "XML: entry without a key")
			}
			if p[attribute(e, "key")], err = d.content(e, noElement); err != nil {
				return nil, err
			}
		default:
			return nil, badPayload(d.at(e), "XML: element %.60q in properties: expected entry or comment", e.FullTag())
		}
	}
	return p, nil
}

// java.util.Properties.loadFromXML requires this document type.
const propertiesProlog = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE properties SYSTEM "http://java.sun.com/dtd/properties.dtd">
<properties>
`

// encodePropertiesXML sorts the keys.
func encodePropertiesXML(p Payload) ([]byte, error) {
	out := []byte(propertiesProlog)
	for _, key := range slices.Sorted(maps.Keys(p)) {
		value, ok := p[key].(string)
		if !ok {
			return nil, fmt.Errorf("%q: %w", key, errValue(p[key], "a string"))
		}
		var err error
		if out, err = appendXML(append(out, `<entry key="`...), key, appendReference); err != nil {
			return nil, err
		}
		if out, err = appendXML(append(out, `">`...), value, appendReference); err != nil {
			return nil, err
		}
		out = append(out, "</entry>\n"...)
	}
	return append(out, "</properties>\n"...), nil
}

// appendReference writes a character as Java does, although XML forbids it: a
// character that XML can't hold as one reference, and a character beyond U+FFFF
// as two, one for each surrogate. Properties.loadFromXML reads such characters
// in no other form.
func appendReference(dst []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(dst, "&#x%x;&#x%x;", high, low)
	}
	return fmt.Appendf(dst, "&#x%x;", r)
}
