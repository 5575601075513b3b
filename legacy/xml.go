package legacy

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is an XML payload, which is read once from front to back. No DTD is read, and no
// entity beyond XML's five is known. Unlike encoding/xml, document reads a reference to
// any UTF-16 unit, as Java writes and reads them, and knows where each element begins. The
// strings that it returns are parts of one copy of the payload where they can be.
type document struct {
	scanner
	before     int         // bytes before the text: a byte order mark
	latin1     bool        // the payload is ISO-8859-1, and the text is that in UTF-8
	attributes []attribute // of all tags; each has a part of it
}

// tag is a start tag. The zero value is the document around the root element, or no tag.
type tag struct {
	name       string
	at         int // where it begins in the text
	attributes []attribute
	empty      bool // it is an end tag, too
}

type attribute struct{ name, value string }

// jdkDecl is the declaration that the JDK writes.
const jdkDecl = `<?xml version="1.0" encoding="UTF-8"`

// encodingDecl finds the encoding that an XML declaration names.
var encodingDecl = regexp.MustCompile(`^[ \t\r\n]*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']`)

// decodeXML decodes either XML format. Around the root element may be white space,
// comments, and a document type that declares nothing itself.
func decodeXML(data []byte) (format Format, p Payload, err *Error) {
	d, err := openXML(data)
	if err != nil {
		return "", nil, err
	}
	root, err := d.child(tag{})
	switch {
	case err != nil:
		return "", nil, err
	case root.name == "java":
		format = BeansXML
		p, err = d.beans(root)
	case root.name == "properties":
		format = PropertiesXML
		p, err = d.properties(root)
	case root.name == "":
		err = d.bad(len(d.text), "no element: want java or properties")
	default:
		err = d.bad(root.at, "root element %.60q: want java (XMLEncoder) or properties (storeToXML)", root.name)
	}
	if err != nil {
		return "", nil, err
	}
	if next, err := d.child(tag{}); err != nil {
		return "", nil, err
	} else if next.name != "" {
		return "", nil, d.bad(next.at, "element %.60q after the root element", next.name)
	}
	return format, p, nil
}

// openXML turns the payload into UTF-8.
func openXML(data []byte) (*document, *Error) {
	if utf16BOM(data) {
		return nil, badPayload(0, "XML in UTF-16: want UTF-8, US-ASCII or ISO-8859-1")
	}
	text := bytes.TrimPrefix(data, []byte(utf8BOM))
	d := &document{before: len(data) - len(text)}
	var m []int
	if !bytes.HasPrefix(text, []byte(jdkDecl)) { // a search would take a tenth of the time
		m = encodingDecl.FindSubmatchIndex(text)
	}
	if m != nil {
		switch name := string(text[m[2]:m[3]]); strings.ToUpper(name) {
		case "UTF-8", "US-ASCII":
		case "ISO-8859-1":
			text, d.latin1 = fromLatin1(text), true
		default:
			return nil, badPayload(d.before+m[2], "XML in encoding %.40q: want UTF-8, US-ASCII or ISO-8859-1", name)
		}
	}
	if i := invalidUTF8(text); i >= 0 {
		return nil, badPayload(d.before+i, "XML: byte %#02x isn't UTF-8", text[i])
	}
	d.text = string(text)
	return d, nil
}

func fromLatin1(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

// bad is an error at an offset in the text.
func (d *document) bad(at int, format string, a ...any) *Error {
	return badPayload(d.offset(at), "XML: "+format, a...)
}

// offset returns where the byte of the text lies in the payload.
func (d *document) offset(at int) int {
	if d.latin1 {
		at = utf8.RuneCountInString(d.text[:at])
	}
	return d.before + at
}

// child returns the next element in parent, after which the caller reads what is in it. It
// has no name at parent's end. Before it there may be only white space and comments.
func (d *document) child(parent tag) (tag, *Error) {
	begin := d.pos
	text, child, err := d.next(parent)
	switch {
	case err != nil:
		return tag{}, err
	case isBlankText(text):
		return child, nil
	case parent.name == "":
		return tag{}, d.bad(begin, "text %.40q outside the root element", text)
	}
	return tag{}, d.bad(parent.at, "text %.40q directly in element %.60q", text, parent.name)
}

// textOf returns the text in e. of reads a child element, and returns the text that it
// stands for.
func (d *document) textOf(e tag, of func(tag) (string, *Error)) (string, *Error) {
	text, child, err := d.next(e)
	if err != nil || child.name == "" {
		return text, err
	}
	var b strings.Builder
	for b.WriteString(text); child.name != ""; b.WriteString(text) {
		if text, err = of(child); err != nil {
			return "", err
		}
		b.WriteString(text)
		if text, child, err = d.next(e); err != nil {
			return "", err
		}
	}
	return joinSurrogates(b.String()), nil
}

// next reads text in parent up to the next start tag, or through parent's end tag. Then the
// child has no name.
func (d *document) next(parent tag) (text string, child tag, err *Error) {
	if parent.empty {
		return "", tag{}, nil
	}
	var room [4]string
	for parts := room[:0]; ; {
		text, err := d.characters('<')
		if err != nil {
			return "", tag{}, err
		}
		parts = append(parts, text)
		at := d.pos
		skipped, err := d.skip(parent.name == "")
		switch {
		case err != nil:
			return "", tag{}, err
		case skipped:
			continue
		case d.take(cdata):
			if text, err = d.cdataText(); err != nil {
				return "", tag{}, err
			}
			parts = append(parts, text)
			continue
		case d.atEnd() && parent.name != "":
			err = d.bad(at, "element %.60q isn't closed", parent.name)
		case d.atEnd():
		case d.take("</"):
			name := d.name()
			if d.blank(); name == "" || name != parent.name || !d.take(">") {
				err = d.bad(at, "end tag %.60q: want that of the innermost element", name)
			}
		default:
			child, err = d.startTag()
		}
		if len(parts) > 1 {
			text = joinSurrogates(strings.Join(parts, ""))
		}
		return text, child, err
	}
}

var (
	versionDecl = regexp.MustCompile(`\sversion\s*=\s*["']([^"']*)["']`)
	// doctype is a document type without an internal subset. Only that could define entities.
	doctype = regexp.MustCompile(`^<!DOCTYPE(?:[^"'\[<>]|"[^"]*"|'[^']*')*>`)
)

// skip skips a comment or a processing instruction, and outside the root element a
// document type without an internal subset.
func (d *document) skip(outside bool) (skipped bool, err *Error) {
	at, rest := d.pos, d.text[d.pos:]
	switch {
	case d.take("<!--"):
		if !d.takeThrough("--") || !d.take(">") {
			return false, d.bad(at, "invalid sequence: a comment that has no end, or -- in it")
		}
	case d.take("<?"):
		target := d.name()
		if !d.takeThrough("?>") || target == "" {
			return false, d.bad(at, "a processing instruction that has no end, or no name")
		}
		if target == "xml" && !strings.HasPrefix(rest, jdkDecl) {
			if m := versionDecl.FindStringSubmatch(d.text[at:d.pos]); m != nil && m[1] != "1.0" {
				return false, d.bad(at, "version %.20q: want 1.0", m[1])
			}
		}
	case strings.HasPrefix(rest, "<!") && !strings.HasPrefix(rest, cdata):
		declaration := doctype.FindString(rest)
		if declaration == "" || !outside {
			return false, d.bad(at, "declaration %.40q: want none, or a document type that only names an external DTD, which isn't read", rest[2:])
		}
		d.take(declaration)
	default:
		return false, nil
	}
	return true, nil
}

// startTag reads a start tag, or an empty element's only tag.
func (d *document) startTag() (tag, *Error) {
	e := tag{at: d.pos}
	d.take("<")
	if e.name = d.name(); e.name == "" {
		return tag{}, d.bad(e.at, "< without a name")
	}
	begin := len(d.attributes)
	for {
		d.blank()
		if e.empty = d.take("/>"); e.empty || d.take(">") {
			e.attributes = d.attributes[begin:]
			return e, nil
		}
		at, name := d.pos, d.name()
		if d.blank(); name == "" || !d.take("=") {
			return tag{}, d.bad(at, "malformed tag %.60q: want attributes, > or />", e.name)
		}
		d.blank()
		quote := byte('"')
		if !d.take(`"`) {
			if quote = '\''; !d.take("'") {
				return tag{}, d.bad(d.pos, "attribute %.40q without a quoted value", name)
			}
		}
		value, err := d.characters(quote)
		if err != nil {
			return tag{}, err
		}
		if d.atEnd() {
			return tag{}, d.bad(d.pos, "attribute %.40q: the value has no end", name)
		}
		d.pos++
		d.attributes = append(d.attributes, attribute{name, value})
	}
}

// name reads the name of an element, attribute or instruction, or "" if there is none.
func (d *document) name() string {
	begin := d.pos
	for !d.atEnd() && isNameByte(d.text[d.pos], d.pos == begin) {
		d.pos++
	}
	return d.text[begin:d.pos]
}

// isNameByte takes all characters beyond ASCII. Which names are known is checked later.
func isNameByte(c byte, first bool) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':' || c >= utf8.RuneSelf ||
		!first && ('0' <= c && c <= '9' || c == '-' || c == '.')
}

func isBlankText(s string) bool { return strings.Trim(s, " \t\r\n") == "" }

// attribute returns the value of an attribute; "" if there is none.
func (e tag) attribute(name string) string {
	for _, a := range e.attributes {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

// known refuses attributes of e that are not among these, or occur twice.
func (d *document) known(e tag, names ...string) *Error {
	for i, a := range e.attributes {
		if slices.ContainsFunc(e.attributes[:i], func(b attribute) bool { return a.name == b.name }) {
			return d.bad(e.at, "element %.60q has attribute %.40q twice", e.name, a.name)
		}
		if !slices.Contains(names, a.name) {
			return d.bad(e.at, "element %.60q has attribute %.40q: want only %s", e.name, a.name, strings.Join(names, ", "))
		}
	}
	return nil
}
