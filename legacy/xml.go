package legacy

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/beevik/etree"
	"golang.org/x/text/encoding"
)

// maxXMLDepth bounds how deep elements may nest. The deepest valid element, a
// character in a string of a bean, is five deep.
const maxXMLDepth = 16

// document is a parsed XML payload. No DTD is read and no entity beyond XML's
// five is known. Strings in it are guarded.
type document struct {
	*etree.Document
	guardedText
	before   int               // bytes before the text: a byte order mark
	encoding encoding.Encoding // of the payload, if it is neither UTF-8 nor US-ASCII
	decoded  []byte            // the text before guarding, if it has one
}

func decodeXML(data []byte) (Format, Payload, *Error) {
	d, err := parseXML(data)
	if err != nil {
		return "", nil, err
	}
	switch root := d.Root(); root.FullTag() {
	case "java":
		p, err := d.beans(root)
		return BeansXML, p, err
	case "properties":
		p, err := d.properties(root)
		return PropertiesXML, p, err
	default:
		return "", nil, badPayload(d.at(root), "XML root element %.60q: expected java (XMLEncoder) or properties (storeToXML)", root.FullTag())
	}
}

func parseXML(data []byte) (*document, *Error) {
	d := &document{Document: etree.NewDocument()}
	text, err := d.decode(data)
	if err != nil {
		return nil, err
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, badPayload(d.before+i, "XML: byte %#02x isn't UTF-8", text[i])
	}
	d.guardedText = guardXML(text)
	d.ReadSettings = etree.ReadSettings{MaxDepth: maxXMLDepth, PreserveDuplicateAttrs: true, CharsetReader: asIs}
	if err := d.ReadFromBytes(d.text); err != nil {
		return nil, d.syntaxError(err)
	}
	return d, d.checkProlog()
}

// asIs accepts any declared encoding, because [parseXML] has turned the text into
// UTF-8 already.
func asIs(_ string, r io.Reader) (io.Reader, error) { return r, nil }

func (d *document) offset(guarded int) int {
	o := d.source(guarded)
	if d.encoding != nil {
		o = d.length(d.decoded[:min(o, len(d.decoded))])
	}
	return d.before + o
}

// syntaxError finds the offset by scanning again, because the tree's reader
// reports only a line.
func (d *document) syntaxError(err error) *Error {
	e := &Error{Kind: BadPayload, Offset: noOffset, Msg: "XML", Err: err}
	scan := d.scanner()
	depth, before := 0, 0
	for {
		token, scanErr := scan.RawToken()
		switch token := token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		case xml.Directive:
			if !isHarmless(string(token)) { // the error is likely an entity it declares
				return badDeclaration(d.offset(before), string(token))
			}
		}
		switch {
		case errors.Is(err, etree.ErrMaxDepth) && depth > maxXMLDepth:
			e.Msg, e.Err = fmt.Sprintf("XML nested more than %d deep", maxXMLDepth), nil
			e.Offset = d.offset(before)
			return e
		case scanErr == io.EOF:
			// The tokens are fine, so it is their nesting.
			e.Msg, e.Err = "XML: an element isn't closed, or another one is", nil
			return e
		case scanErr != nil:
			e.Err = scanErr
			e.Offset = d.offset(int(scan.InputOffset()))
			return e
		}
		before = int(scan.InputOffset())
	}
}

func (d *document) scanner() *xml.Decoder {
	scan := xml.NewDecoder(bytes.NewReader(d.text))
	scan.CharsetReader = asIs
	return scan
}

func (d *document) checkProlog() *Error {
	if d.Root() == nil {
		return badPayload(d.offset(len(d.text)), "XML without an element: expected java or properties")
	}
	for _, child := range d.Child {
		switch child := child.(type) {
		case *etree.Element:
			if child != d.Root() {
				return badPayload(d.at(child), "XML: element %.60q after the root element", child.FullTag())
			}
		case *etree.CharData:
			if !isBlankXML(child.Data) {
				return badPayload(noOffset, "XML: text %.40q outside the root element", unguard(child.Data))
			}
		case *etree.Directive:
			if !isHarmless(child.Data) {
				return d.directive(child)
			}
		}
	}
	return nil
}

func (d *document) directive(refused *etree.Directive) *Error {
	at := d.find(func(t xml.Token) bool {
		found, ok := t.(xml.Directive)
		return ok && string(found) == refused.Data
	})
	return badDeclaration(at, refused.Data)
}

func badDeclaration(at int, data string) *Error {
	return badPayload(at, "XML: declaration %.40q: expected none, or a document type that only names an external DTD, which isn't read", data)
}

// isHarmless reports whether a declaration is a document type without an internal
// subset. Only an internal subset could define entities.
func isHarmless(declaration string) bool {
	if !strings.HasPrefix(declaration, "DOCTYPE") {
		return false
	}
	quote := rune(0)
	for _, r := range declaration {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '<':
			return false
		}
	}
	return true
}

// find returns the offset in the payload of the first token that matches, or
// noOffset. The tree doesn't record where its parts come from.
func (d *document) find(match func(xml.Token) bool) int {
	scan := d.scanner()
	for start := 0; ; start = int(scan.InputOffset()) {
		token, err := scan.RawToken()
		if err != nil {
			return noOffset
		}
		if match(token) {
			return d.offset(start)
		}
	}
}

func (d *document) at(e *etree.Element) int {
	nth := 0
	before(&d.Element, e, &nth)
	return d.find(func(t xml.Token) bool {
		if _, ok := t.(xml.StartElement); ok {
			nth--
		}
		return nth == 0
	})
}

func before(root, e *etree.Element, count *int) bool {
	for _, child := range root.Child {
		if element, ok := child.(*etree.Element); ok {
			*count++
			if element == e || before(element, e, count) {
				return true
			}
		}
	}
	return false
}

func (d *document) checkAttributes(e *etree.Element, known ...string) *Error {
	for i, a := range e.Attr {
		name := a.FullKey()
		same := func(b etree.Attr) bool { return b.FullKey() == name }
		if slices.ContainsFunc(e.Attr[:i], same) {
			return badPayload(d.at(e), "XML: element %.60q has attribute %.40q twice", e.FullTag(), name)
		}
		if !slices.Contains(known, name) {
			return badPayload(d.at(e), "XML: element %.60q has attribute %.40q: expected only %s", e.FullTag(), name, strings.Join(known, ", "))
		}
	}
	return nil
}

func attribute(e *etree.Element, name string) string {
	if a := e.SelectAttr(name); a != nil {
		return attributeValue(*a)
	}
	return ""
}

// attributeValue returns an attribute's value. XML demands that line ends and
// tabs in it become blanks, and the library doesn't do this. Those that a
// reference wrote are still guarded then, and stay.
func attributeValue(a etree.Attr) string { return unguard(blanks.Replace(a.Value)) }

var blanks = strings.NewReplacer("\t", " ", "\n", " ")

func isBlankXML(text string) bool { return strings.Trim(unguard(text), " \t\r\n") == "" }

func (d *document) elements(e *etree.Element) ([]*etree.Element, *Error) {
	var elements []*etree.Element
	for _, child := range e.Child {
		switch child := child.(type) {
		case *etree.Element:
			elements = append(elements, child)
		case *etree.CharData:
			if !isBlankXML(child.Data) {
				return nil, badPayload(d.at(e), "XML: text %.40q directly in element %.60q", unguard(child.Data), e.FullTag())
			}
		case *etree.Directive:
			return nil, d.directive(child)
		}
	}
	return elements, nil
}

func (d *document) content(e *etree.Element, element func(*etree.Element) (string, *Error)) (string, *Error) {
	var b strings.Builder
	for _, child := range e.Child {
		switch child := child.(type) {
		case *etree.CharData:
			b.WriteString(unguard(child.Data))
		case *etree.Directive:
			return "", d.directive(child)
		case *etree.Element:
			s, err := element(child)
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		}
	}
	return joinSurrogates(b.String()), nil
}
