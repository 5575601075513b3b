package javaobj

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// class reads a class description and those of its superclasses. sub is the
// class whose superclass this is, nil for an object's own class.
func (d *decoder) class(sub *class) (*class, *Error) {
	at := d.pos
	code, err := d.byte("a class description")
	if err != nil {
		return nil, err
	}
	if code == tcReference {
		object, err := d.reference()
		if err != nil {
			return nil, err
		}
		c, ok := object.(*class)
		if !ok {
			return nil, d.errAt(at, "a reference to %s: want a class description", describe(object))
		}
		return c, nil
	}
	if code != tcClassDesc {
		return nil, d.unwanted(at, code, "a class description")
	}
	name, err := d.utf("a class name")
	if err != nil {
		return nil, err
	}
	c := classes[name]
	if c == nil {
		want := "a java.util.Properties of strings, Boolean, Integer and Long"
		if sub != nil {
			want = fmt.Sprintf("the superclass of %s", sub.name)
		}
		return nil, d.refuse(at, name, want)
	}
	if slices.Contains(d.handles, any(c)) {
		return nil, d.errAt(at, "class %s described a second time", name)
	}
	d.handles = append(d.handles, c)
	if err := d.describes(c); err != nil {
		return nil, err
	}
	superAt := d.pos
	if c.super == nil {
		code, err := d.byte("the end of a class description")
		if err != nil {
			return nil, err
		}
		if code != tcNull {
			return nil, d.errAt(superAt, "class %s has a superclass: want none", name)
		}
		return c, nil
	}
	super, err := d.class(c)
	if err != nil {
		return nil, err
	}
	if super != c.super {
		return nil, d.errAt(superAt, "class %s has superclass %s: want %s", name, super.name, c.super.name)
	}
	return c, nil
}

// describes checks that the stream describes c as every JDK does. With another
// description, the following bytes would mean something else.
func (d *decoder) describes(c *class) *Error {
	at := d.pos
	head, err := d.take(8+1+2, "a class description")
	if err != nil {
		return err
	}
	if uid := binary.BigEndian.Uint64(head); uid != c.uid {
		return d.errAt(at, "class %s has serialVersionUID %016x: want %016x", c.name, uid, c.uid)
	}
	if head[8] != c.flags {
		return d.errAt(at+8, "class %s has flags %#02x: want %#02x", c.name, head[8], c.flags)
	}
	if n := binary.BigEndian.Uint16(head[9:]); int(n) != len(c.fields) {
		return d.errAt(at+9, "class %s has %d fields: want %d", c.name, n, len(c.fields))
	}
	for _, f := range c.fields {
		at := d.pos
		code, err := d.byte("a field")
		if err != nil {
			return err
		}
		name, err := d.utf("a field's name")
		if err != nil {
			return err
		}
		if code != f.code || name != f.name {
			return d.errAt(at, "class %s has field %q of type %q: want %q of type %q", c.name, name, code, f.name, f.code)
		}
		if f.signature == "" {
			continue
		}
		at = d.pos
		if code, err = d.byte("a field's class"); err != nil {
			return err
		}
		if code != tcString {
			return d.unwanted(at, code, "a field's class")
		}
		signature, err := d.string(code)
		if err != nil {
			return err
		}
		if signature.Text != f.signature {
			return d.errAt(at, "field %s.%s is a %.60q: want %q", c.name, f.name, signature.Text, f.signature)
		}
	}
	at = d.pos
	end, err := d.byte("the end of a class's annotations")
	if err != nil {
		return err
	}
	if end != tcEndBlockData {
		return d.errAt(at, "class %s has an annotation, %s: want none", c.name, codeName(end))
	}
	return nil
}
