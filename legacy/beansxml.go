package legacy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	propertiesClass = "java.util.Properties"
	putMethod       = "put"
)

// tagClasses are the classes that XMLEncoder's elements stand for.
var tagClasses = map[string]string{
	"string": "java.lang.String", "boolean": "java.lang.Boolean", "int": "java.lang.Integer", "long": "java.lang.Long",
	"char": "java.lang.Character", "byte": "java.lang.Byte", "short": "java.lang.Short",
	"float": "java.lang.Float", "double": "java.lang.Double", "class": "java.lang.Class",
}

// beans reads a document of java.beans.XMLEncoder. Such a document is a
// program: it can construct any object and call any method. beans accepts
// only a program that puts strings, booleans and integers into a Properties. It
// reads this program and does not run it.
func (d *document) beans(root tag) (Payload, *Error) {
	if err := d.known(root, "version", "class", "id"); err != nil {
		return nil, err
	}
	object, err := d.child(root)
	if err != nil {
		return nil, err
	}
	if object.name == "" {
		return nil, d.bad(root.at, "element java is empty: want an object of class %s", propertiesClass)
	}
	if err := d.checkObject(object); err != nil {
		return nil, err
	}
	p := make(Payload, usualProperties)
	for {
		call, err := d.child(object)
		if err != nil {
			return nil, err
		}
		if call.name == "" {
			break
		}
		key, value, err := d.put(call)
		if err != nil {
			return nil, err
		}
		p[key] = value
	}
	second, err := d.child(root)
	if err == nil && second.name != "" {
		err = d.bad(second.at, "a second object in element java: want one")
	}
	return p, err
}

// checkObject refuses all but <object class="java.util.Properties">. XMLEncoder
// adds an id if an object is used twice.
func (d *document) checkObject(e tag) *Error {
	class := e.attribute("class")
	if e.name != "object" || class != propertiesClass {
		return d.refuse(e, "object class=\""+propertiesClass+"\"")
	}
	for _, a := range e.attributes {
		if name := a.name; name != "class" && name != "id" {
			return unsupportedClass(d.offset(e.at), class+"."+a.value, "XML: object with %.40s=%.60q isn't supported: want only a class", name, a.value)
		}
	}
	return d.known(e, "class", "id")
}

// put reads <void method="put"> and its two arguments.
func (d *document) put(call tag) (key string, value any, err *Error) {
	if call.name != "void" {
		return "", nil, d.refuse(call, "void method=\"put\"")
	}
	for _, a := range call.attributes {
		if a.name != "method" || a.value != putMethod {
			return "", nil, unsupportedClass(d.offset(call.at), propertiesClass+"."+a.value,
				"XML: void with %.40s=%.60q isn't supported: want method=\"put\"", a.name, a.value)
		}
	}
	if len(call.attributes) != 1 {
		return "", nil, d.bad(call.at, "void has %d attributes: want method=\"put\"", len(call.attributes))
	}
	n := 0
	for ; ; n++ {
		a, err := d.child(call)
		if err != nil {
			return "", nil, err
		}
		if a.name == "" {
			break
		}
		if value, err = d.argument(a); err != nil {
			return "", nil, err
		}
		if n > 0 {
			continue
		}
		if a.name != "string" {
			return "", nil, d.bad(a.at, "a key that is a %s: want a string", a.name)
		}
		key = value.(string)
	}
	if n != 2 {
		return "", nil, d.bad(call.at, "put with %d arguments: want a key and a value", n)
	}
	return key, value, nil
}

func (d *document) argument(e tag) (any, *Error) {
	tag := e.name
	bits := map[string]int{"int": 32, "long": 64}[tag]
	if tag != "string" && tag != "boolean" && bits == 0 || len(e.attributes) > 0 {
		return nil, d.refuse(e, "string, boolean, int or long")
	}
	text, err := d.textOf(e, d.char)
	if err != nil || tag == "string" {
		return text, err
	}
	if tag == "boolean" {
		if text != "true" && text != "false" {
			return nil, d.bad(e.at, "boolean %.40q: want true or false", text)
		}
		return text == "true", nil
	}
	if !isJavaInteger(text, bits) {
		return nil, d.bad(e.at, "%s %.40q: want a decimal number of %d bits", tag, text, bits)
	}
	return json.Number(text), nil
}

// isJavaInteger reports whether text is a number as Java prints it: it reads
// 010 as eight.
func isJavaInteger(text string, bits int) bool {
	n, err := strconv.ParseInt(text, 10, bits)
	return err == nil && strconv.FormatInt(n, 10) == text
}

// char reads <char code="#7"/>, which stands for a character that XML can't
// hold.
func (d *document) char(e tag) (string, *Error) {
	if e.name != "char" {
		return "", d.refuse(e, "char")
	}
	if err := d.known(e, "code"); err != nil {
		return "", err
	}
	code := e.attribute("code")
	text, ok := fromCharCode(code)
	inside, child, err := d.next(e)
	if err != nil {
		return "", err
	}
	if !ok || inside != "" || child.name != "" {
		return "", d.bad(e.at, "char with code %.40q: want the empty element char with the number of a character, such as #7", code)
	}
	return text, nil
}

// fromCharCode reads the number of a character as Java does, with Integer.decode.
func fromCharCode(code string) (text string, ok bool) {
	digits, base := code, 10
	for _, prefix := range []string{"#", "0x", "0X"} {
		if rest, ok := strings.CutPrefix(code, prefix); ok {
			digits, base = rest, 16
		}
	}
	if base == 10 && len(code) > 1 && code[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune {
		return "", false
	}
	return string(appendCharacter(nil, rune(n))), true
}

// refuse is the error for an element that stands for another class.
func (d *document) refuse(e tag, want string) *Error {
	class := e.attribute("class")
	if class == "" {
		class = tagClasses[e.name]
	}
	if class == "" {
		class = "<" + e.name + ">"
	}
	return unsupportedClass(d.offset(e.at), class, "XML: element %.60q for class %.200q isn't supported: want %s", e.name, class, want)
}

// encodeBeans sorts the keys. It names a version of Java that knows every
// element it uses.
func encodeBeans(p Payload) ([]byte, error) {
	out := []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<java version=\"1.8.0\" class=\"java.beans.XMLDecoder\">\n <object class=\"" + propertiesClass + "\">\n")
	for _, key := range slices.Sorted(maps.Keys(p)) {
		var err error
		if out, err = appendArgument(append(out, "  <void method=\"put\">\n"...), key); err != nil {
			return nil, err
		}
		if out, err = appendArgument(out, p[key]); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		out = append(out, "  </void>\n"...)
	}
	return append(out, " </object>\n</java>\n"...), nil
}

func appendArgument(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		dst, err := appendXML(append(dst, "   <string>"...), v, appendChar)
		return append(dst, "</string>\n"...), err
	case bool:
		return fmt.Appendf(dst, "   <boolean>%t</boolean>\n", v), nil
	case json.Number:
		n, err := javaInteger(v)
		if err != nil {
			return nil, err
		}
		tag := "long"
		if int64(int32(n)) == n {
			tag = "int"
		}
		return fmt.Appendf(dst, "   <%s>%d</%s>\n", tag, n, tag), nil
	}
	return nil, errValue(v, "a string, bool or number")
}

// appendChar writes a character as XMLEncoder does: as an element if XML
// forbids it.
func appendChar(dst []byte, r rune) []byte {
	if isXMLChar(r) {
		return utf8.AppendRune(dst, r)
	}
	return fmt.Appendf(dst, `<char code="#%x"/>`, r)
}
