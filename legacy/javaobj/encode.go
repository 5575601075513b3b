package javaobj

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encode returns the stream that a JVM's ObjectOutputStream writes for a Properties
// with these entries and without defaults. It fails for a value of another type than
// [Entry] names, and for a string that isn't WTF-8.
func Encode(entries []Entry) ([]byte, error) {
	e := &encoder{out: []byte(Magic + "\x73"), next: baseHandle, handles: map[any]uint32{}}
	e.class(propertiesClass)
	e.next++
	// The load factor, threshold and number of buckets that JDK 9 and later write.
	buckets := len(entries)*4/3 + len(entries)/20 + 3
	if buckets%2 == 0 {
		buckets--
	}
	e.out = binary.BigEndian.AppendUint32(e.out, math.Float32bits(0.75))
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(buckets*3/4))
	e.out = append(e.out, tcBlockData, blockDataSize)
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(buckets))
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(len(entries)))
	for _, entry := range entries {
		if err := e.string(entry.Key); err != nil {
			return nil, err
		}
		if err := e.value(entry.Value); err != nil {
			return nil, fmt.Errorf("value of %.60q: %w", entry.Key, err)
		}
	}
	return append(e.out, tcEndBlockData, tcNull), nil
}

type encoder struct {
	out  []byte
	next uint32 // handle
	// handles are those of what the stream shares: class descriptions, and the two
	// Booleans, of which Java has one each.
	handles map[any]uint32
}

// known writes a reference if the stream already has the object.
func (e *encoder) known(object any) bool {
	handle, ok := e.handles[object]
	if ok {
		e.out = binary.BigEndian.AppendUint32(append(e.out, tcReference), handle)
	}
	return ok
}

// add gives an object the next handle.
func (e *encoder) add(object any) {
	e.handles[object] = e.next
	e.next++
}

// value writes a value. The description of an object's class comes before the object, and
// so does its handle.
func (e *encoder) value(v any) error {
	switch v := v.(type) {
	case string:
		return e.string(v)
	case bool:
		if e.known(v) {
			return nil
		}
		e.out = append(e.out, tcObject)
		e.class(booleanClass)
		e.add(v)
		b := byte(0)
		if v {
			b = 1
		}
		e.out = append(e.out, b)
	case int32:
		e.out = append(e.out, tcObject)
		e.class(integerClass)
		e.next++
		e.out = binary.BigEndian.AppendUint32(e.out, uint32(v))
	case int64:
		e.out = append(e.out, tcObject)
		e.class(longClass)
		e.next++
		e.out = binary.BigEndian.AppendUint64(e.out, uint64(v))
	default:
		return fmt.Errorf("a %T: expected a string, bool, int32 or int64", v)
	}
	return nil
}

func (e *encoder) class(c *class) {
	if c == nil {
		e.out = append(e.out, tcNull)
		return
	}
	if e.known(c) {
		return
	}
	e.add(c)
	e.out = binary.BigEndian.AppendUint16(append(e.out, tcClassDesc), uint16(len(c.name)))
	e.out = append(append(e.out, c.name...), c.rest...)
	if c == propertiesClass {
		e.next++ // its string
	}
	e.class(c.super)
}

func (e *encoder) string(s string) error {
	modified, err := appendModified(nil, s)
	if err != nil {
		return fmt.Errorf("%.60q: %w", s, err)
	}
	e.next++
	if len(modified) > maxShortString {
		e.out = binary.BigEndian.AppendUint64(append(e.out, tcLongString), uint64(len(modified)))
	} else {
		e.out = binary.BigEndian.AppendUint16(append(e.out, tcString), uint16(len(modified)))
	}
	e.out = append(e.out, modified...)
	return nil
}
