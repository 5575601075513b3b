package newqueue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Object is the JSON object that a znode holds. It is a map and not a struct
// because a configuration keeps all other keys that a depositor sent, and readers
// ignore the keys that they do not know.
type Object map[string]any

// ParseObject parses the JSON object that a znode holds. Numbers stay
// [json.Number], so that unknown values can be written back unchanged.
func ParseObject(data []byte) (Object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var o Object
	if err := dec.Decode(&o); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if o == nil {
		return nil, errors.New("not a JSON object: it is null")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("not a JSON object: more data follows at byte %d", dec.InputOffset())
	}
	return o, nil
}

// Marshal returns the object as the bytes of a znode. Keys are sorted and nothing
// is escaped for HTML, so that the same content is always the same bytes. (One
// encoder for this and legacy.AppendJSON would change bytes: that one keeps Java's
// unpaired surrogates.)
func (o Object) Marshal() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any(o)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// String returns the string under a key, or "" if the key is absent or null. The
// error names the key if the value has another type.
func (o Object) String(key string) (string, error) {
	switch v := o[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s is %s: expected a string", key, JSONText(v))
	}
}

func (o Object) strings(key string) ([]string, error) {
	var array []any
	switch v := o[key].(type) {
	case nil:
		return nil, nil
	case []any:
		array = v
	default:
		return nil, fmt.Errorf("%s is %s: expected an array of strings", key, JSONText(v))
	}
	out := make([]string, len(array))
	for i, v := range array {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s[%d] is %s: expected a string", key, i, JSONText(v))
		}
		out[i] = s
	}
	return out, nil
}

func (o Object) count(key string) (int, error) {
	switch v := o[key].(type) {
	case nil:
		return 0, nil
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 32); err == nil && n >= 0 {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("%s is %s: expected a whole number from 0", key, JSONText(o[key]))
}

func (o Object) scalar(key string) (string, error) {
	if n, ok := o[key].(json.Number); ok {
		return n.String(), nil
	}
	return o.String(key)
}

func (o Object) number(key string) (int64, error) {
	s, err := o.scalar(key)
	if s == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %.60q: expected a whole number", key, s)
	}
	return n, nil
}

// JSONText shows a value of an object in a message, shortened if it is long.
func JSONText(v any) string {
	const most = 80
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// FormatNumber formats a number as priority and space_needed hold it: in decimal.
func FormatNumber(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// ParseNumber parses a decimal number of digits only, as [FormatNumber] formats it. It
// refuses a sign, blanks, and numbers beyond 63 bits.
func ParseNumber(data []byte) (int64, error) {
	for _, c := range data {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q is not a decimal number", data)
		}
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a decimal number up to %d", data, int64(math.MaxInt64))
	}
	return n, nil
}

// ParseSpaceNeeded parses the data of /jobs/JID/space_needed: a number of bytes. In dialect mrt-zk it can be
// -1, which the deployed Estimate writes if it does not find the size.
func ParseSpaceNeeded(d Dialect, data []byte) (int64, error) {
	if d == MrtZK && string(data) == "-1" {
		return -1, nil
	}
	return ParseNumber(data)
}

// ErrPriority says that a priority does not fit the two digits of a queue entry.
var ErrPriority = errors.New("a priority is a number from 0 to 99")

// MaxPriority is the largest priority that the two digits of a queue entry hold.
const MaxPriority = 99

// ParsePriority parses the data of /jobs/JID/priority. The error wraps
// [ErrPriority] if the number has more than two digits.
func ParsePriority(data []byte) (int, error) {
	n, err := ParseNumber(data)
	if err != nil {
		return 0, err
	}
	if n > MaxPriority {
		return 0, fmt.Errorf("%d: %w", n, ErrPriority)
	}
	return int(n), nil
}
