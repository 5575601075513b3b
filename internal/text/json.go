package text

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// PlainJSON returns an error of package json in plain words: what was found and what was wanted,
// without the names of Go's types and packages. It returns other errors as they are.
func PlainJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var base64At base64.CorruptInputError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.As(err, &syntax):
		return plainSyntax(syntax)
	case errors.As(err, &kind):
		return plainKind(kind)
	case errors.As(err, &base64At):
		return fmt.Errorf("the text is not base64 (see its byte %d)", int64(base64At))
	}
	if err != nil { // the package has no type for it
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("found the field %s, which does not belong here", name)
		}
	}
	return err
}

var errCut = errors.New("the JSON ends too early")

// wants has what is wanted, by the words of a syntax error.
var wants = []struct{ context, want string }{
	{"looking for beginning of value", "a value"},
	{"looking for beginning of object key string", "a name in quotes"},
	{"after object key:value pair", "a comma or }"},
	{"after object key", "a colon"},
	{"after array element", "a comma or ]"},
}

func plainSyntax(err *json.SyntaxError) error {
	text := err.Error()
	if strings.HasPrefix(text, "unexpected end") {
		return errCut
	}
	found, context := "", ""
	if rest, ok := strings.CutPrefix(text, "invalid character "); ok && len(rest) > 3 {
		end := strings.Index(rest[1:], "' ") + 2 // the character can be a quote
		if end > 2 {
			found, context = rest[:end], rest[end+1:]
		}
	}
	if context == "after top-level value" {
		return fmt.Errorf("found %s after the end of the JSON", found)
	}
	for _, w := range wants {
		if context == w.context {
			return fmt.Errorf("this is not JSON: found %s, expected %s", found, w.want)
		}
	}
	if found != "" {
		return fmt.Errorf("this is not JSON: found %s %s", found, context)
	}
	return errors.New("this is not JSON")
}

// kinds are the kinds of JSON values, as package json names them.
var kinds = map[string]string{"string": "a string", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}

func plainKind(err *json.UnmarshalTypeError) error {
	found, ok := kinds[err.Value]
	if !ok { // such as "number 1.5"
		found = "the " + err.Value
	}
	text := fmt.Sprintf("found %s, expected %s", found, kindOf(err.Type))
	if err.Field != "" {
		text = err.Field + ": " + text
	}
	return errors.New(text)
}

// kindOf is the kind of the JSON values that fit a type.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of %d bits, 0 or more", t.Bits())
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}
