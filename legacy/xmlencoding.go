package legacy

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// utf16Order finds the byte order of XML in UTF-16: by its byte order mark, or without one by the XML declaration, as the JDK's
// parsers do. mark is the length of the mark, and e is nil for other text. Only XML could be meant: the other formats have
// one encoding.
func utf16Order(b []byte) (e encoding.Encoding, mark int) {
	big, little := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	for _, begin := range []struct {
		bytes string
		e     encoding.Encoding
		mark  int
	}{
		{"\xfe\xff\x00", big, 2}, {"\xff\xfe<\x00", little, 2}, {"\xff\xfe \x00", little, 2}, {"\xff\xfe\t\x00", little, 2},
		{"\xff\xfe\r\x00", little, 2}, {"\xff\xfe\n\x00", little, 2}, {"\x00<\x00?", big, 0}, {"<\x00?\x00", little, 0},
	} {
		if bytes.HasPrefix(b, []byte(begin.bytes)) {
			return begin.e, begin.mark
		}
	}
	return nil, 0
}

func isUTF16(b []byte) bool { e, _ := utf16Order(b); return e != nil }

var encodingDecl = regexp.MustCompile(`^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']`)

// otherNames are names that only Java has, and encodings that are a part of another one.
var otherNames = strings.NewReplacer("UTF8", "UTF-8", "ISO8859_", "ISO-8859-", "CP125", "WINDOWS-125", "GB2312", "GBK", "TIS-620", "WINDOWS-874")

// decode returns the text of XML as UTF-8, as far as its encoding says. Where a byte stands for nothing, the JDK puts U+FFFD, and
// decode refuses it.
func (d *document) decode(data []byte) (text []byte, err *Error) {
	name, at := "UTF-16", 0
	if d.encoding, d.before = utf16Order(data); d.encoding == nil {
		text = bytes.TrimPrefix(data, []byte(utf8BOM))
		d.before = len(data) - len(text)
		m := encodingDecl.FindSubmatchIndex(text)
		if m == nil {
			return text, nil
		}
		name, at = string(text[m[2]:m[3]]), d.before+m[2]
		switch plain := otherNames.Replace(strings.ToUpper(name)); plain {
		case "UTF-8":
			return text, nil
		case "US-ASCII", "ASCII":
			if i := bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
				return nil, noCharacter(d.before+i, name)
			}
			return text, nil
		default:
			// A declaration in ASCII can't be one of UTF-16.
			if d.encoding, _ = ianaindex.IANA.Encoding(plain); d.encoding == nil || strings.HasPrefix(plain, "UTF-") {
				return nil, badPayload(at, "XML in encoding %.40q: expected UTF-8, UTF-16 or another common one, such as ISO-8859-1 or windows-1252", name)
			}
		}
	}
	text, decodeErr := d.encoding.NewDecoder().Bytes(data[d.before:])
	if decodeErr != nil {
		return nil, badPayload(at, "XML in encoding %.40q: %s", name, decodeErr)
	}
	if one, ok := d.encoding.(*charmap.Charmap); ok && strings.HasPrefix(one.String(), "ISO 8859-") {
		text = iso8859(one, data[d.before:])
	}
	d.decoded = text
	if i := bytes.IndexRune(text, utf8.RuneError); i >= 0 {
		if again, err := d.encoding.NewEncoder().Bytes(text); err != nil || !bytes.Equal(again, data[d.before:]) { // no U+FFFD is there
			return nil, noCharacter(d.offset(i), name)
		}
	}
	return text, nil
}

// iso8859 decodes one of ISO-8859, with the control characters of its upper half, which the library's maps lack.
func iso8859(one *charmap.Charmap, data []byte) (text []byte) {
	for _, b := range data {
		r := one.DecodeByte(b)
		if b >= 0x80 && b < 0xa0 {
			r = rune(b)
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

func (d *document) length(text []byte) int {
	if _, ok := d.encoding.(*charmap.Charmap); ok {
		return utf8.RuneCount(text)
	}
	before, _ := d.encoding.NewEncoder().Bytes(text)
	return len(before)
}

func noCharacter(at int, name string) *Error {
	return badPayload(at, "XML: a byte that stands for no character in %.40q", name)
}
