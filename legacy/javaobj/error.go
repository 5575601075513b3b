package javaobj

import (
	"fmt"
	"io"
)

// Error says why a stream is not a Properties. Offset is the wrong byte.
type Error struct {
	Offset int
	Class  string // the refused class; "" when the stream is malformed
	Msg    string // what was found, and what was wanted
	Err    error  // io.ErrUnexpectedEOF when the stream ends early, else nil
}

// Error returns the offset and the reason on one line.
func (e *Error) Error() string { return fmt.Sprintf("object stream, byte %d: %s", e.Offset, e.Msg) }

// Unwrap returns [io.ErrUnexpectedEOF] or nil.
func (e *Error) Unwrap() error { return e.Err }

func errEnd(offset int, want string) *Error {
	return &Error{Offset: offset, Msg: "the stream ends: expected " + want, Err: io.ErrUnexpectedEOF}
}

func (d *decoder) errAt(offset int, format string, a ...any) *Error {
	return &Error{Offset: offset, Msg: fmt.Sprintf(format, a...)}
}

func (d *decoder) refuse(offset int, class, want string) *Error {
	return &Error{Offset: offset, Class: class, Msg: fmt.Sprintf("class %.200q isn't supported: expected %s", class, want)}
}

// unwanted is the error for a type code that is not allowed here. If the code
// introduces an object of another class, the error names that class.
func (d *decoder) unwanted(offset int, code byte, want string) *Error {
	switch code {
	case tcEnum, tcArray:
		// The name of the class follows, unless the stream is damaged or ends.
		d.pos = offset + 1
		if tag, err := d.byte(want); err == nil && tag == tcClassDesc {
			if name, err := d.utf(want); err == nil {
				return d.refuse(offset, name, want)
			}
		}
	case tcClass:
		return d.refuse(offset, "java.lang.Class", want)
	case tcProxyClassDesc:
		return d.refuse(offset, "java.lang.reflect.Proxy", want)
	case tcString, tcLongString:
		return d.refuse(offset, "java.lang.String", want)
	}
	return d.errAt(offset, "code %#02x: expected %s", code, want)
}

func describe(object any) string {
	switch object := object.(type) {
	case *class:
		return "the description of class " + object.name
	case properties:
		return "a java.util.Properties"
	case string:
		return "a string"
	case bool:
		return "a Boolean"
	case int32:
		return "an Integer"
	case int64:
		return "a Long"
	}
	return "nothing"
}
