package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth is how deep JSON may nest. No service writes JSON that is nearly so
// deep, and a recursive reader can read it.
const maxDepth = 500

var errTooDeep = errors.New("it is nested too deep")

func readJSON(r *Reading) (any, bool) { return r.parse(r.Data) }

// parse reads the JSON of a znode, and reports what is wrong with it.
func (r *Reading) parse(data []byte) (any, bool) {
	v, err := parseJSON(data, r.Map.python)
	switch {
	case errors.Is(err, errTooDeep):
		r.Fault(JSONTooDeep, fmt.Sprintf("JSON that nests at most %d deep", maxDepth), "JSON that nests deeper")
	case err != nil:
		r.Fault(NotJSON, "JSON", fmt.Sprintf("%s: %v", show(data), err))
	default:
		return v, true
	}
	return nil, false
}

// parseJSON reads one JSON value and nothing after it. Numbers keep their digits.
// With python, it also accepts the three numbers that Python writes and JSON does
// not have.
func parseJSON(data []byte, python bool) (any, error) {
	if tooDeep(data) {
		return nil, errTooDeep
	}
	v, err := decodeJSON(data)
	if err != nil && python {
		if changed := plainNumbers(data); !bytes.Equal(changed, data) {
			return decodeJSON(changed)
		}
	}
	return v, err
}

func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty")
		}
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more data at byte %d", dec.InputOffset())
	}
	return v, nil
}

// tooDeep counts brackets outside of strings. It needs no stack.
func tooDeep(data []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// plainNumbers replaces Python's Infinity, -Infinity and NaN with 0.
func plainNumbers(data []byte) []byte {
	var out []byte
	inString := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		if inString {
			out = append(out, c)
			if c == '\\' && i+1 < len(data) {
				i++
				out = append(out, data[i])
			}
			inString = c != '"'
			continue
		}
		word := ""
		for _, w := range []string{"-Infinity", "Infinity", "NaN"} {
			if bytes.HasPrefix(data[i:], []byte(w)) {
				word = w
				break
			}
		}
		if word != "" {
			out = append(out, '0')
			i += len(word) - 1
			continue
		}
		inString = c == '"'
		out = append(out, c)
	}
	return out
}
