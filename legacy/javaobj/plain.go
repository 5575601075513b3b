package javaobj

import (
	"encoding/binary"
	"math"
)

// Plain is one entry of a stream, as [AppendPlain] reads it.
type Plain struct {
	Key   string
	Value any // string or bool
	Depth int // 0 for the Properties' own, 1 for its defaults', 2 for those' defaults'
}

// AppendPlain is a fast [Decode] for plain streams: those that a JVM writes for a
// Properties with a few entries whose values are strings and Booleans. It appends
// the entries to dst, first the Properties' own, then those of its defaults. They
// are the entries that Decode reads. For any other stream, good or bad, ok is
// false.
//
// It is fast because it allocates no objects. The entries' strings share the
// stream's memory where they can.
func AppendPlain(dst []Plain, stream string) (entries []Plain, ok bool) {
	r := plainReader{text: stream}
	if !r.take(prologue) {
		return nil, false
	}
	r.handle(plainOther, "") // the two classes, and between them the type of the field "defaults"
	r.handle(plainString, propertiesClass.fields[0].signature)
	r.handle(plainOther, "")
	for depth := range plainDepth {
		r.handle(plainOther, "") // the Properties
		if dst, ok = r.hashtable(dst, depth); !ok {
			return nil, false
		}
		if r.take(null) {
			return dst, r.pos == len(stream)
		}
		if !r.take(another) {
			return nil, false
		}
	}
	return nil, false
}

const (
	plainHandles = 64 // how many objects a plain stream has at most
	plainDepth   = 4  // how many Properties
)

var (
	// prologue is how the stream of a Properties begins, up to the first byte
	// that can differ.
	prologue = Magic + string([]byte{tcObject}) + description(propertiesClass)
	null     = string([]byte{tcNull})
	// another is how a Properties begins if the stream has described the class
	// before.
	another = string(binary.BigEndian.AppendUint32([]byte{tcObject, tcReference}, baseHandle))

	booleanDescription = description(booleanClass)
)

func description(c *class) string {
	e := &encoder{handles: make(map[any]uint32), signature: &String{propertiesClass.fields[0].signature}}
	if err := e.class(c); err != nil {
		panic(err) // the classes are ours
	}
	return string(e.out)
}

// plainReader walks the stream once, forwards.
type plainReader struct {
	text    string
	pos     int
	handles [plainHandles]plainHandle // by handle minus baseHandle
	used    int                       // of the handles
	printed int                       // as decoder's
	boolean int                       // the handle of class Boolean, 0 before it is described
}

type plainHandle struct {
	kind plainKind
	text string // of a string
}

type plainKind byte

const (
	plainString plainKind = iota
	plainFalse
	plainTrue
	plainOther // what an entry can't refer to
)

// hashtable reads as [decoder.hashtable] does.
func (r *plainReader) hashtable(dst []Plain, depth int) (entries []Plain, ok bool) {
	fixed := r.next(4 + 4 + 2 + blockDataSize)
	if fixed == "" || !(math.Float32frombits(number(fixed)) > 0) || fixed[8] != tcBlockData || fixed[9] != blockDataSize {
		return nil, false
	}
	count := number(fixed[14:])
	if count > plainHandles {
		return nil, false
	}
	begin := len(dst)
	for range count {
		key, ok := r.value()
		if !ok || key.kind != plainString {
			return nil, false
		}
		for _, e := range dst[begin:] {
			if e.Key == key.text {
				return nil, false
			}
		}
		value, ok := r.value()
		if !ok {
			return nil, false
		}
		e := Plain{Key: key.text, Depth: depth}
		if value.kind == plainString {
			e.Value = value.text
		} else {
			e.Value = value.kind == plainTrue
		}
		r.printed += len(key.text) + max(len(value.text), maxDigits)
		dst = append(dst, e)
	}
	return dst, r.byte() == tcEndBlockData && r.printed <= freeExpansion
}

// value reads a string or a Boolean, or a reference to one.
func (r *plainReader) value() (plainHandle, bool) {
	switch r.byte() {
	case tcString:
		if text, ok := r.string(); ok {
			return r.handle(plainString, text)
		}
	case tcReference:
		h, ok := r.reference()
		return h, ok && h.kind != plainOther
	case tcObject:
		return r.object()
	}
	return plainHandle{}, false
}

func (r *plainReader) string() (text string, ok bool) {
	length := r.next(2)
	if length == "" {
		return "", false
	}
	n := int(length[0])<<8 | int(length[1])
	if text = r.next(n); len(text) < n {
		return "", false
	}
	if isPlain(text) {
		return text, true
	}
	text, _, err := fromModified([]byte(text))
	return text, err == nil
}

// object reads a Boolean, the class of which is described at the first.
func (r *plainReader) object() (plainHandle, bool) {
	if r.boolean == 0 && r.take(booleanDescription) {
		r.boolean = r.used
		if _, ok := r.handle(plainOther, ""); !ok {
			return plainHandle{}, false
		}
	} else if class := r.next(1 + 4); class == "" || class[0] != tcReference || r.boolean == 0 || number(class[1:]) != baseHandle+uint32(r.boolean) {
		return plainHandle{}, false
	}
	switch value := r.next(1); value {
	case "\x00":
		return r.handle(plainFalse, "")
	case "\x01":
		return r.handle(plainTrue, "")
	}
	return plainHandle{}, false
}

// handle gives an object the next handle, if there is one.
func (r *plainReader) handle(kind plainKind, text string) (plainHandle, bool) {
	if r.used == plainHandles {
		return plainHandle{}, false
	}
	r.handles[r.used] = plainHandle{kind, text}
	r.used++
	return r.handles[r.used-1], true
}

func (r *plainReader) reference() (plainHandle, bool) {
	b := r.next(4)
	if b == "" {
		return plainHandle{}, false
	}
	i := int64(number(b)) - baseHandle
	if i < 0 || i >= int64(r.used) {
		return plainHandle{}, false
	}
	return r.handles[i], true
}

// take skips next if the text continues with it.
func (r *plainReader) take(next string) bool {
	if len(r.text)-r.pos < len(next) || r.text[r.pos:r.pos+len(next)] != next {
		return false
	}
	r.pos += len(next)
	return true
}

// next returns the next n bytes, "" if there are fewer.
func (r *plainReader) next(n int) string {
	if len(r.text)-r.pos < n {
		return ""
	}
	r.pos += n
	return r.text[r.pos-n : r.pos]
}

// byte returns the next byte. At the end it is 0, which is no type code.
func (r *plainReader) byte() byte {
	if b := r.next(1); b != "" {
		return b[0]
	}
	return 0
}

func number(b string) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// isPlain reports whether s is ASCII without NUL, which modified UTF-8 spells
// as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i]-1 >= 0x7f { // 0 wraps around
			return false
		}
	}
	return true
}
