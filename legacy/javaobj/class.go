package javaobj

import (
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
			return nil, d.errAt(at, "a reference to %s: expected a class description", describe(object))
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
	at = d.pos
	rest, err := d.take(len(c.rest), "a class description")
	if err != nil {
		return nil, err
	}
	for i := range rest {
		if rest[i] != c.rest[i] { // the bytes after it would mean something else
			return nil, d.errAt(at+i, "class %s is not described as in every JDK: byte %#02x, expected %#02x", name, rest[i], c.rest[i])
		}
	}
	if c == propertiesClass {
		d.handles = append(d.handles, defaultsType)
	}
	superAt := d.pos
	if c.super == nil {
		code, err := d.byte("the end of a class description")
		if err != nil {
			return nil, err
		}
		if code != tcNull {
			return nil, d.errAt(superAt, "class %s has a superclass: expected none", name)
		}
		return c, nil
	}
	super, err := d.class(c)
	if err != nil {
		return nil, err
	}
	if super != c.super {
		return nil, d.errAt(superAt, "class %s has superclass %s: expected %s", name, super.name, c.super.name)
	}
	return c, nil
}
