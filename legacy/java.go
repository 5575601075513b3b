package legacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"mrtq/legacy/javaobj"
)

func decodeJava(data []byte) (Payload, *Error) {
	object, err := javaobj.Decode(data)
	if err != nil {
		var stream *javaobj.Error
		if !errors.As(err, &stream) {
			return nil, &Error{Kind: BadPayload, Offset: noOffset, Err: err}
		}
		e := badPayload(stream.Offset, "object stream: %s", stream.Msg)
		if stream.Class != "" {
			e.Kind, e.Class = UnsupportedClass, stream.Class
		}
		e.Err = stream.Err
		return nil, e
	}
	p := make(Payload, len(object.Entries))
	for o := object; o != nil; o = o.Defaults {
		for _, entry := range o.Entries {
			// Outermost first: a default counts only if nothing overrides it.
			if _, overridden := p[entry.Key.Text]; !overridden {
				p[entry.Key.Text] = fromJava(entry.Value)
			}
		}
	}
	return p, nil
}

func fromJava(v javaobj.Value) any {
	switch v := v.(type) {
	case *javaobj.String:
		return v.Text
	case *javaobj.Boolean:
		return v.Value
	case *javaobj.Integer:
		return json.Number(strconv.FormatInt(int64(v.Value), 10))
	case *javaobj.Long:
		return json.Number(strconv.FormatInt(v.Value, 10))
	}
	panic(fmt.Sprintf("legacy: a %T in a decoded object stream", v))
}

// encodeJava writes a Properties without defaults, and sorts its keys.
func encodeJava(p Payload) ([]byte, error) {
	object := javaobj.New(len(p))
	booleans := map[bool]*javaobj.Boolean{ // Java has one of each, and so has the stream
		true: {Value: true}, false: {Value: false},
	}
	for _, key := range slices.Sorted(maps.Keys(p)) {
		value, err := toJava(p[key], booleans)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		object.Entries = append(object.Entries, javaobj.Entry{Key: &javaobj.String{Text: key}, Value: value})
	}
	return object.Encode()
}

func toJava(v any, booleans map[bool]*javaobj.Boolean) (javaobj.Value, error) {
	switch v := v.(type) {
	case string:
		return &javaobj.String{Text: v}, nil
	case bool:
		return booleans[v], nil
	case json.Number:
		n, err := javaInteger(v)
		if err != nil {
			return nil, err
		}
		if int64(int32(n)) == n {
			return &javaobj.Integer{Value: int32(n)}, nil
		}
		return &javaobj.Long{Value: n}, nil
	}
	return nil, errValue(v, "a string, bool or number")
}

// javaInteger is n as an Integer or Long holds it. A number that would be
// printed otherwise, such as 1e3 or -0, isn't one.
func javaInteger(n json.Number) (int64, error) {
	i, err := n.Int64()
	if err != nil || strconv.FormatInt(i, 10) != n.String() {
		return 0, fmt.Errorf("number %s is neither Integer nor Long", n)
	}
	return i, nil
}

func errValue(v any, want string) error {
	return fmt.Errorf("a value of type %T: want %s", v, want)
}
