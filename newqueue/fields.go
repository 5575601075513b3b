package newqueue

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// A field is one key of a znode's object, and how the variable with its value is
// read and written. A content lists its fields once, for both directions.
type field struct {
	key   string
	read  func(Object) error
	value func() any // what is written
}

// Document is the content of a znode that holds a JSON object: [Configuration], [Submission], [StatusReport], [Identifiers], [Metadata],
// [Inventory], [Store], [Token], [BatchStatus], [JobStatus] or [AccessStatus].
type Document[T any] interface {
	*T
	// fields also returns where the keys are that the layout doesn't have; nil if the content leaves them out.
	fields(Dialect) ([]field, *Object)
}

// Parse parses the data of a znode, as in Parse[JobStatus](d, data). A time that can't be parsed becomes the zero time. The error is that of
// the first key whose value has another type than the layout says; what could be read is there.
func Parse[T any, D Document[T]](d Dialect, data []byte) (content T, err error) {
	o, err := ParseObject(data)
	if err != nil {
		return content, err
	}
	return FromObject[T, D](d, o)
}

// FromObject is [Parse] for an object that was parsed.
func FromObject[T any, D Document[T]](d Dialect, o Object) (content T, err error) {
	fields, other := D(&content).fields(d)
	rest, err := o.readFields(fields)
	if other != nil {
		*other = rest
	}
	return content, err
}

// ToObject returns the JSON object that a znode with this content holds.
func ToObject[T any, D Document[T]](d Dialect, content T) Object {
	fields, other := D(&content).fields(d)
	if other == nil {
		other = new(Object)
	}
	return writeFields(fields, *other)
}

// readFields reads the object into the fields. rest has all other keys, nil if there are
// none. The error is that of the first field that can't be read.
func (o Object) readFields(fields []field) (rest Object, err error) {
	known := make(map[string]bool, len(fields))
	for _, f := range fields {
		known[f.key] = true
		if bad := f.read(o); err == nil {
			err = bad
		}
	}
	for key, v := range o {
		if known[key] {
			continue
		}
		if rest == nil {
			rest = Object{}
		}
		rest[key] = v
	}
	return rest, err
}

func writeFields(fields []field, other Object) Object {
	o := make(Object, len(fields)+len(other))
	maps.Copy(o, other)
	for _, f := range fields {
		if v := f.value(); v != leftOut {
			o[f.key] = v
		}
	}
	return o
}

// as is a field that get reads, and that is written as it is.
func as[T any](key string, v *T, get func(o Object, key string) (T, error)) field {
	return field{key,
		func(o Object) (err error) {
			*v, err = get(o, key)
			return err
		},
		func() any { return *v }}
}

func text(key string, v *string) field { return as(key, v, Object.String) }

func count(key string, v *int) field { return as(key, v, Object.count) }

func number(key string, v *int64) field { return as(key, v, Object.number) }

// scalar is a text that can be read from a number, too.
func scalar(key string, v *string) field { return as(key, v, Object.scalar) }

// httpStatus is a scalar that is written as a number if it looks like one: then it is
// the HTTP status that the storage service answered (TokenPostState).
func httpStatus(key string, v *string) field {
	f := scalar(key, v)
	f.value = func() any {
		if n, err := ParseNumber([]byte(*v)); err == nil && string(FormatNumber(n)) == *v {
			return json.Number(*v)
		}
		return *v
	}
	return f
}

// texts is an array. An empty one is [] and not null.
func texts(key string, v *[]string) field {
	f := as(key, v, Object.strings)
	f.value = func() any {
		out := make([]any, len(*v))
		for i, s := range *v {
			out[i] = s
		}
		return out
	}
	return f
}

// date reads a time. It is tolerant: no operation depends on a time, so a bad one must
// not stop a job, and becomes the zero time. mrtq check reports it.
func (d Dialect) date(key string, v *time.Time) field {
	return field{key,
		func(o Object) error {
			text, err := o.String(key)
			if *v, _ = d.ParseTime(text); err != nil {
				*v = time.Time{}
			}
			return err
		},
		func() any { return d.FormatTime(*v) }}
}

// message is a text that dialect design leaves out if it is empty.
func (d Dialect) message(v *string) field {
	f := text("message", v)
	f.value = func() any {
		if *v == "" && d != MrtZK {
			return leftOut
		}
		return *v
	}
	return f
}

var leftOut = new(int)

// state is an entity's state. known are the states of both dialects.
func state[T ~string](d Dialect, key string, known []string, v *T) field {
	f := lastState(d, key, known, v)
	read := f.read
	f.read = func(o Object) error {
		err := read(o)
		if err == nil && *v == "" {
			err = fmt.Errorf("%s is missing", key)
		}
		return err
	}
	return f
}

// lastState is a state, or null for none.
func lastState[T ~string](d Dialect, key string, known []string, v *T) field {
	return field{key,
		func(o Object) error {
			name, err := o.String(key)
			*v = T(d.parseState(name, known))
			return err
		},
		func() any {
			if *v == "" {
				return nil
			}
			return d.stateName(string(*v), known)
		}}
}
