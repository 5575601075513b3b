package legacy

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf16"
)

// properties reads a document of Properties.storeToXML.
func (d *document) properties(root tag) (Payload, *Error) {
	if err := d.known(root, "version"); err != nil {
		return nil, err
	}
	noElement := func(e tag) (string, *Error) {
		return "", d.bad(e.at, "element %.60q within text", e.name)
	}
	p := make(Payload, usualProperties)
	for {
		e, err := d.child(root)
		switch {
		case err != nil || e.name == "":
			return p, err
		case e.name != "comment" && e.name != "entry":
			return nil, d.bad(e.at, "element %.60q in properties: want entry or comment", e.name)
		}
		text, err := d.textOf(e, noElement)
		if err != nil {
			return nil, err
		}
		if e.name == "comment" {
			continue
		}
		if err := d.known(e, "key"); err != nil {
			return nil, err
		}
		if len(e.attributes) == 0 {
			return nil, d.bad(e.at, "entry without a key")
		}
		p[e.attributes[0].value] = text
	}
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
