package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What can be wrong with a record. A *[DecodeError] wraps one of these.
var (
	ErrShort  = errors.New("ends too early")
	ErrLength = errors.New("length is out of range")
	ErrOp     = errors.New("operation not allowed here")
	ErrNull   = errors.New("is null")
)

// DecodeError says which field of a record could not be read, at which byte of the payload.
type DecodeError struct {
	Off   int    // offset in the bytes given to NewDecoder
	Field string // "path", "acl count"
	Err   error  // one of the sentinels above
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("zookeeper record: byte %d: %s: %v", e.Off, e.Field, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }

// Decoder reads jute, ZooKeeper's encoding, from a byte slice. After its first error every read
// returns a zero value, and Err returns that error, so a caller can read a whole record and check
// once. A record cannot make it allocate more than the record has bytes, because it checks every
// count against the bytes that are left.
type Decoder struct {
	buf []byte
	off int
	err error
}

// NewDecoder returns a decoder that reads from b. It keeps b, and the buffers that it returns alias
// b.
func NewDecoder(b []byte) *Decoder { return &Decoder{buf: b} }

// Err returns the first error, a *[DecodeError], or nil.
func (d *Decoder) Err() error { return d.err }

// Len returns how many bytes are left.
func (d *Decoder) Len() int { return len(d.buf) - d.off }

func (d *Decoder) fail(off int, field string, err error) {
	if d.err == nil {
		d.err = &DecodeError{Off: off, Field: field, Err: err}
	}
}

func (d *Decoder) take(n int, field string) []byte {
	if d.err != nil {
		return nil
	}
	if d.Len() < n {
		d.fail(d.off, field, ErrShort)
		return nil
	}
	b := d.buf[d.off : d.off+n : d.off+n]
	d.off += n
	return b
}

// Int reads a 4-byte int.
func (d *Decoder) Int(field string) int32 {
	b := d.take(4, field)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

// Long reads an 8-byte long.
func (d *Decoder) Long(field string) int64 {
	b := d.take(8, field)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

// Bool reads one byte. Any byte but 0 is true, as for Java's DataInput.
func (d *Decoder) Bool(field string) bool {
	b := d.take(1, field)
	return b != nil && b[0] != 0
}

// Buffer reads a buffer. It returns nil for null, and a slice of the input otherwise, even if the
// buffer is empty.
func (d *Decoder) Buffer(field string) []byte {
	off := d.off
	n := d.Int(field)
	if d.err != nil || n == -1 {
		return nil
	}
	if n < 0 {
		d.fail(off, field, ErrLength)
		return nil
	}
	return d.take(int(n), field)
}

// String reads a string. If it is null, the error is ErrNull.
func (d *Decoder) String(field string) string {
	off := d.off
	b := d.Buffer(field)
	if b == nil {
		d.fail(off, field, ErrNull)
		return ""
	}
	return string(b)
}

// vector reads a vector. It returns nil for null. shortest is how many bytes the shortest element
// has.
func vector[T any](d *Decoder, field string, shortest int, element func() T) []T {
	off := d.off
	n := int(d.Int(field))
	switch {
	case n < -1:
		d.fail(off, field, ErrLength)
	case n*shortest > d.Len():
		d.fail(off, field, ErrShort)
	}
	if d.err != nil || n == -1 {
		return nil
	}
	out := make([]T, 0, n)
	for range n {
		out = append(out, element())
	}
	if d.err != nil {
		return nil
	}
	return out
}

// Strings reads a vector of strings. It returns nil for a null vector.
func (d *Decoder) Strings(field string) []string {
	return vector(d, field, 4, func() string { return d.String(field) })
}
