package legacy

import (
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
