package javaobj

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Encode returns the stream that a JVM's ObjectOutputStream writes for p. A
// stream that [Decode] read comes back byte for byte. It fails if an entry has
// no key or value, a key occurs twice, a string isn't WTF-8, or the defaults
// nest too deep or contain themselves.
func (p *Properties) Encode() ([]byte, error) {
	e := &encoder{out: []byte(Magic), handles: make(map[any]uint32), signature: p.signature}
	if e.signature == nil {
		e.signature = &String{propertiesClass.fields[0].signature}
	}
	if err := e.properties(p, 0); err != nil {
		return nil, err
	}
	return e.out, nil
}

type encoder struct {
	out       []byte
	handles   map[any]uint32 // keyed by pointer: identity is what the stream shares
	signature *String
}

// known writes a reference if the stream already has the object. Otherwise it
// gives the object the next handle.
func (e *encoder) known(object any) bool {
	handle, ok := e.handles[object]
	if ok {
		e.out = binary.BigEndian.AppendUint32(append(e.out, tcReference), handle)
		return true
	}
	e.handles[object] = baseHandle + uint32(len(e.handles))
	return false
}

func (e *encoder) properties(p *Properties, depth int) error {
	if p == nil {
		e.out = append(e.out, tcNull)
		return nil
	}
	if _, ok := e.handles[p]; ok {
		return errors.New("defaults contain themselves")
	}
	if depth > maxDefaults {
		return fmt.Errorf("defaults nested more than %d deep", maxDefaults)
	}
	if !(p.LoadFactor > 0) {
		return fmt.Errorf("load factor %v: want one above zero", p.LoadFactor)
	}
	e.out = append(e.out, tcObject)
	if err := e.class(propertiesClass); err != nil {
		return err
	}
	e.known(p)
	e.out = binary.BigEndian.AppendUint32(e.out, math.Float32bits(p.LoadFactor))
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(p.Threshold))
	e.out = append(e.out, tcBlockData, blockDataSize)
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(p.Capacity))
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(len(p.Entries)))
	seen := make(map[string]bool, len(p.Entries))
	for _, entry := range p.Entries {
		if entry.Key == nil || entry.Value == nil {
			return errors.New("an entry without a key or a value")
		}
		if seen[entry.Key.Text] {
			return fmt.Errorf("key %.60q occurs twice", entry.Key.Text)
		}
		seen[entry.Key.Text] = true
		if err := e.value(entry.Key); err != nil {
			return err
		}
		if err := e.value(entry.Value); err != nil {
			return fmt.Errorf("value of %.60q: %w", entry.Key.Text, err)
		}
	}
	e.out = append(e.out, tcEndBlockData)
	return e.properties(p.Defaults, depth+1)
}

func (e *encoder) value(v Value) error {
	if s, ok := v.(*String); ok {
		return e.string(s)
	}
	if e.handles[v] != 0 {
		e.known(v)
		return nil
	}
	// The description comes before the object, and so does its handle.
	e.out = append(e.out, tcObject)
	switch v := v.(type) {
	case *Boolean:
		e.class(booleanClass)
		e.known(v)
		b := byte(0)
		if v.Value {
			b = 1
		}
		e.out = append(e.out, b)
	case *Integer:
		e.class(integerClass)
		e.known(v)
		e.out = binary.BigEndian.AppendUint32(e.out, uint32(v.Value))
	case *Long:
		e.class(longClass)
		e.known(v)
		e.out = binary.BigEndian.AppendUint64(e.out, uint64(v.Value))
	}
	return nil
}

func (e *encoder) class(c *class) error {
	if c == nil {
		e.out = append(e.out, tcNull)
		return nil
	}
	if e.known(c) {
		return nil
	}
	e.out = append(e.out, tcClassDesc)
	e.utf(c.name)
	e.out = binary.BigEndian.AppendUint64(e.out, c.uid)
	e.out = append(e.out, c.flags)
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(len(c.fields)))
	for _, f := range c.fields {
		e.out = append(e.out, f.code)
		e.utf(f.name)
		if f.signature != "" {
			if err := e.string(e.signature); err != nil {
				return err
			}
		}
	}
	e.out = append(e.out, tcEndBlockData)
	return e.class(c.super)
}

// utf writes a name of the tables in stream.go, which are ASCII and short.
func (e *encoder) utf(s string) {
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(len(s)))
	e.out = append(e.out, s...)
}

func (e *encoder) string(s *String) error {
	if e.known(s) {
		return nil
	}
	modified, err := appendModified(nil, s.Text)
	if err != nil {
		return fmt.Errorf("%.60q: %w", s.Text, err)
	}
	if len(modified) > maxShortString {
		e.out = binary.BigEndian.AppendUint64(append(e.out, tcLongString), uint64(len(modified)))
	} else {
		e.out = binary.BigEndian.AppendUint16(append(e.out, tcString), uint16(len(modified)))
	}
	e.out = append(e.out, modified...)
	return nil
}
