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
			if _, overridden := p[entry.Key]; !overridden {
				p[entry.Key] = fromJava(entry.Value)
			}
		}
	}
	return p, nil
}

func fromJava(v any) any {
	switch v := v.(type) {
	case int32:
		return json.Number(strconv.FormatInt(int64(v), 10))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	}
	return v // a string or bool
}

// encodeJava writes a Properties without defaults, and sorts its keys.
func encodeJava(p Payload) ([]byte, error) {
	entries := make([]javaobj.Entry, 0, len(p))
	for _, key := range slices.Sorted(maps.Keys(p)) {
		value, err := toJava(p[key])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		entries = append(entries, javaobj.Entry{Key: key, Value: value})
	}
	return javaobj.Encode(entries)
}

func toJava(v any) (any, error) {
	switch v := v.(type) {
	case string, bool:
		return v, nil
	case json.Number:
		n, err := javaInteger(v)
		if err == nil && int64(int32(n)) == n {
			return int32(n), nil
		}
		return n, err
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
	return fmt.Errorf("a value of type %T: expected %s", v, want)
}
