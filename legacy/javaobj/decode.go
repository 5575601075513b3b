package javaobj

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Decode reads a stream that holds one Properties and nothing else. It returns the entries, with those of the
// defaults that no own entry overrides. A value is a string (WTF-8), a bool, or a json.Number for an Integer or Long. Every error
// is an [*Error] and comes with nil. Decode doesn't keep data.
func Decode(data []byte) (map[string]any, error) {
	d := &decoder{data: data, text: string(data), handles: make([]any, 0, usualHandles)}
	p, err := d.stream()
	if err != nil {
		return nil, err
	}
	return p, nil
}

// usualHandles is room for the objects of all but the strangest record.
const usualHandles = 48

// decoder walks the stream once, forwards. Its methods stop at the first
// error; nothing is read after one.
type decoder struct {
	data    []byte
	text    string // a copy of data, which the strings of the entries share
	pos     int
	handles []any // *class, properties, string, bool, int32 or int64, by handle minus baseHandle
	printed int   // how many bytes the entries read so far stand for
}

type properties map[string]any

func (d *decoder) stream() (properties, *Error) {
	magic, err := d.take(len(Magic), "the stream's magic and version")
	if err != nil {
		return nil, err
	}
	if string(magic) != Magic {
		return nil, d.errAt(0, "begins with % x: expected % x", magic, Magic)
	}
	p, err := d.properties(0)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, d.errAt(len(Magic), "null: expected a java.util.Properties")
	}
	if d.pos != len(d.data) {
		return nil, d.errAt(d.pos, "%d bytes follow the object: expected none", len(d.data)-d.pos)
	}
	return p, nil
}

func (d *decoder) properties(depth int) (properties, *Error) {
	at := d.pos
	code, err := d.byte("a java.util.Properties or null")
	if err != nil {
		return nil, err
	}
	switch code {
	case tcNull:
		return nil, nil
	case tcReference:
		object, err := d.reference()
		if err != nil {
			return nil, err
		}
		if _, ok := object.(properties); ok {
			// Every Properties that has a handle by now is still being read.
			return nil, d.errAt(at, "defaults that contain themselves")
		}
		return nil, d.errAt(at, "a reference to %s: expected a java.util.Properties", describe(object))
	case tcObject:
	default:
		return nil, d.unwanted(at, code, "a java.util.Properties")
	}
	if depth > maxDefaults {
		return nil, d.errAt(at, "defaults nested more than %d deep", maxDefaults)
	}
	classAt := d.pos
	c, err := d.class(nil)
	if err != nil {
		return nil, err
	}
	if c != propertiesClass {
		return nil, d.refuse(classAt, c.name, "java.util.Properties")
	}
	d.handles = append(d.handles, properties{})
	p, err := d.hashtable()
	if err != nil {
		return nil, err
	}
	defaults, err := d.properties(depth + 1)
	for key, value := range defaults {
		if _, overridden := p[key]; !overridden {
			p[key] = value
		}
	}
	return p, err
}

// hashtable reads the superclass's part: two fields, then what
// Hashtable.writeObject adds.
func (d *decoder) hashtable() (properties, *Error) {
	at := d.pos
	fixed, err := d.take(4+4+2+blockDataSize, "a Hashtable's fields and sizes")
	if err != nil {
		return nil, err
	}
	if f := math.Float32frombits(binary.BigEndian.Uint32(fixed)); !(f > 0) { // also not a number
		return nil, d.errAt(at, "load factor %v: expected one above zero", f)
	}
	if fixed[8] != tcBlockData || fixed[9] != blockDataSize {
		return nil, d.errAt(at+8, "bytes % x: expected block data of %d bytes", fixed[8:10], blockDataSize)
	}
	count := int32(binary.BigEndian.Uint32(fixed[14:]))
	// Don't allocate for a claimed number. The shortest entry is an empty
	// string of 3 bytes and a value of 3 bytes.
	const shortestEntry = 6
	if left := len(d.data) - d.pos; count < 0 || int(count) > left/shortestEntry {
		return nil, d.errAt(at+14, "claims %d entries, and %d bytes are left", count, left)
	}
	p := make(properties, count)
	for range count {
		if err := d.entry(p); err != nil {
			return nil, err
		}
	}
	end, err := d.byte("the end of a Hashtable's data")
	if err != nil {
		return nil, err
	}
	if end != tcEndBlockData {
		return nil, d.errAt(d.pos-1, "code %#02x after %d entries: expected end of block data (%#02x)", end, count, tcEndBlockData)
	}
	return p, nil
}

func (d *decoder) entry(p properties) *Error {
	at := d.pos
	value, err := d.value()
	if err != nil {
		return err
	}
	key, ok := value.(string)
	if !ok {
		return d.errAt(at, "a key that is %s: expected a string", describe(value))
	}
	if _, twice := p[key]; twice {
		return d.errAt(at, "key %.60q a second time", key)
	}
	if value, err = d.value(); err != nil {
		return err
	}
	d.printed += printed(key) + printed(value)
	if d.printed > freeExpansion+maxExpansion*len(d.data) {
		return d.errAt(at, "shared strings stand for more than %d times the record's size", maxExpansion)
	}
	switch number := value.(type) {
	case int32:
		value = json.Number(strconv.FormatInt(int64(number), 10))
	case int64:
		value = json.Number(strconv.FormatInt(number, 10))
	}
	p[key] = value
	return nil
}

// printed is how many bytes a value takes when it is printed, at most.
func printed(v any) int {
	if s, ok := v.(string); ok {
		return len(s)
	}
	return len("-9223372036854775808")
}

func (d *decoder) value() (any, *Error) {
	const want = "a string, Boolean, Integer or Long"
	at := d.pos
	code, err := d.byte(want)
	if err != nil {
		return nil, err
	}
	switch code {
	case tcString, tcLongString:
		return d.string(code)
	case tcReference:
		object, err := d.reference()
		if err != nil {
			return nil, err
		}
		switch object := object.(type) {
		case string, bool, int32, int64:
			return object, nil
		case properties:
			return nil, d.refuse(at, propertiesClass.name, want)
		}
		return nil, d.errAt(at, "a reference to %s: expected %s", describe(object), want)
	case tcObject:
		return d.boxed(want)
	}
	return nil, d.unwanted(at, code, want)
}

func (d *decoder) boxed(want string) (any, *Error) {
	at := d.pos
	c, err := d.class(nil)
	if err != nil {
		return nil, err
	}
	handle := len(d.handles)
	d.handles = append(d.handles, nil)
	var v any
	switch c {
	case booleanClass:
		b, err := d.byte("a Boolean's value")
		if err != nil {
			return nil, err
		}
		if b > 1 {
			return nil, d.errAt(d.pos-1, "Boolean value %d: expected 0 or 1", b)
		}
		v = b == 1
	case integerClass:
		b, err := d.take(4, "an Integer's value")
		if err != nil {
			return nil, err
		}
		v = int32(binary.BigEndian.Uint32(b))
	case longClass:
		b, err := d.take(8, "a Long's value")
		if err != nil {
			return nil, err
		}
		v = int64(binary.BigEndian.Uint64(b))
	default:
		return nil, d.refuse(at, c.name, want)
	}
	d.handles[handle] = v
	return v, nil
}

func (d *decoder) string(code byte) (text string, err *Error) {
	at := d.pos
	if code == tcString {
		text, err = d.utf("a string")
	} else {
		var length []byte
		if length, err = d.take(8, "a long string's length"); err != nil {
			return "", err
		}
		n := binary.BigEndian.Uint64(length)
		if n <= maxShortString {
			return "", d.errAt(at, "a long string of %d bytes: expected more than %d", n, maxShortString)
		}
		if left := len(d.data) - d.pos; n > uint64(left) {
			return "", errEnd(at, fmt.Sprintf("a long string of %d bytes, and %d are left", n, left))
		}
		text, err = d.modified(int(n), "a long string")
	}
	if err != nil {
		return "", err
	}
	d.handles = append(d.handles, text)
	return text, nil
}

func (d *decoder) utf(want string) (string, *Error) {
	length, err := d.take(2, want)
	if err != nil {
		return "", err
	}
	return d.modified(int(binary.BigEndian.Uint16(length)), want)
}

func (d *decoder) modified(n int, want string) (string, *Error) {
	at := d.pos
	b, err := d.take(n, want)
	if err != nil {
		return "", err
	}
	if isASCII(b) {
		return d.text[at:d.pos], nil
	}
	s, bad, malformed := fromModified(b)
	if malformed != nil {
		return "", d.errAt(at+bad, "malformed modified UTF-8 in %s", want)
	}
	return s, nil
}

func (d *decoder) reference() (any, *Error) {
	at := d.pos
	b, err := d.take(4, "a handle")
	if err != nil {
		return nil, err
	}
	handle := binary.BigEndian.Uint32(b)
	i := int64(handle) - baseHandle
	if i < 0 || i >= int64(len(d.handles)) || d.handles[i] == nil {
		return nil, d.errAt(at, "a reference to handle %#x: nothing has it", handle)
	}
	return d.handles[i], nil
}

func (d *decoder) byte(want string) (byte, *Error) {
	b, err := d.take(1, want)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (d *decoder) take(n int, want string) ([]byte, *Error) {
	if n > len(d.data)-d.pos {
		return nil, errEnd(len(d.data), want)
	}
	b := d.data[d.pos : d.pos+n]
	d.pos += n
	return b, nil
}
