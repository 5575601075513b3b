package legacy

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"
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

// beans reads a document of java.beans.XMLEncoder. Such a document is a program:
// it can construct any object and call any method. beans accepts only a program
// that puts strings, booleans and integers into a Properties. It reads this
// program and does not run it.
func (d *document) beans(root *etree.Element) (Payload, *Error) {
	if err := d.checkAttributes(root, "version", "class", "id"); err != nil {
		return nil, err
	}
	objects, err := d.elements(root)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, badPayload(d.at(root), "XML: element java is empty: expected an object of class %s", propertiesClass)
	}
	if err := d.checkObject(objects[0]); err != nil {
		return nil, err
	}
	if len(objects) > 1 {
		return nil, badPayload(d.at(objects[1]), "XML: a second object in element java: expected one")
	}
	calls, err := d.elements(objects[0])
	if err != nil {
		return nil, err
	}
	p := make(Payload, len(calls))
	for _, call := range calls {
		key, value, err := d.put(call)
		if err != nil {
			return nil, err
		}
		p[key] = value
	}
	return p, nil
}

// checkObject refuses all but <object class="java.util.Properties">. XMLEncoder
// adds an id if an object is used twice.
func (d *document) checkObject(e *etree.Element) *Error {
	class := attribute(e, "class")
	if e.FullTag() != "object" || class != propertiesClass {
		return d.refuse(e, "object class=\""+propertiesClass+"\"")
	}
	for _, a := range e.Attr {
		if name, value := a.FullKey(), attributeValue(a); name != "class" && name != "id" {
			return unsupportedClass(d.at(e), class+"."+value, "XML: object with %.40s=%.60q isn't supported: expected only a class", name, value)
		}
	}
	return d.checkAttributes(e, "class", "id")
}

// put reads <void method="put"> and its two arguments.
func (d *document) put(call *etree.Element) (key string, value any, err *Error) {
	if call.FullTag() != "void" {
		return "", nil, d.refuse(call, "void method=\"put\"")
	}
	for _, a := range call.Attr {
		if value := attributeValue(a); a.FullKey() != "method" || value != putMethod {
			return "", nil, unsupportedClass(d.at(call), propertiesClass+"."+value,
				"XML: void with %.40s=%.60q isn't supported: expected method=\"put\"", a.FullKey(), value)
		}
	}
	if len(call.Attr) != 1 {
		return "", nil, badPayload(d.at(call), "XML: void has %d attributes: expected method=\"put\"", len(call.Attr))
	}
	arguments, err := d.elements(call)
	if err != nil {
		return "", nil, err
	}
	values := make([]any, len(arguments))
	for i, a := range arguments { // a refused class matters more than a wrong number of arguments
		if values[i], err = d.argument(a); err != nil {
			return "", nil, err
		}
	}
	if len(arguments) != 2 {
		return "", nil, badPayload(d.at(call), "XML: put with %d arguments: expected a key and a value", len(arguments))
	}
	key, ok := values[0].(string)
	if !ok {
		return "", nil, badPayload(d.at(arguments[0]), "XML: a key that is a %s: expected a string", arguments[0].Tag)
	}
	return key, values[1], nil
}

func (d *document) argument(e *etree.Element) (any, *Error) {
	tag := e.FullTag()
	bits := map[string]int{"int": 32, "long": 64}[tag]
	if tag != "string" && tag != "boolean" && bits == 0 || len(e.Attr) > 0 {
		return nil, d.refuse(e, "string, boolean, int or long")
	}
	text, err := d.content(e, d.char)
	if err != nil || tag == "string" {
		return text, err
	}
	if tag == "boolean" {
		if text != "true" && text != "false" {
			return nil, badPayload(d.at(e), "XML: boolean %.40q: expected true or false", text)
		}
		return text == "true", nil
	}
	if !isJavaInteger(text, bits) {
		return nil, badPayload(d.at(e), "XML: %s %.40q: expected a decimal number of %d bits", tag, text, bits)
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
func (d *document) char(e *etree.Element) (string, *Error) {
	if e.FullTag() != "char" {
		return "", d.refuse(e, "char")
	}
	if err := d.checkAttributes(e, "code"); err != nil {
		return "", err
	}
	code := attribute(e, "code")
	text, ok := fromCharCode(code)
	if !ok || len(e.Child) > 0 {
		return "", badPayload(d.at(e), "XML: char with code %.40q: expected the empty element char with the number of a character, such as #7", code)
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
	if n > 0xffff {
		return string(rune(n)), true
	}
	return string(appendUnit(nil, uint16(n))), true
}

func (d *document) refuse(e *etree.Element, want string) *Error {
	class := attribute(e, "class")
	if class == "" {
		class = tagClasses[e.FullTag()]
	}
	if class == "" {
		class = "<" + e.FullTag() + ">"
	}
	return unsupportedClass(d.at(e), class, "XML: element %.60q for class %.200q isn't supported: expected %s", e.FullTag(), class, want)
}
