package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

func readJSON(r *Reading) (any, bool) { return r.parse(r.Data) }

// parse reads the JSON of a znode, and reports what is wrong with it.
func (r *Reading) parse(data []byte) (any, bool) {
	v, err := parseJSON(data)
	if err != nil && r.Map.python {
		v, err = parseJSON(plainNumbers(data))
	}
	if err != nil {
		r.Fault(NotJSON, "JSON", fmt.Sprintf("%s: %v", show(data), err))
		return nil, false
	}
	return v, true
}

// parseJSON reads one JSON value and nothing after it. Numbers keep their digits.
func parseJSON(data []byte) (any, error) {
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

// stringOrNumber matches a JSON string, or one of the three numbers that Python writes
// and JSON does not have.
var stringOrNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// plainNumbers replaces Python's Infinity, -Infinity and NaN with 0.
func plainNumbers(data []byte) []byte {
	return stringOrNumber.ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("0")
	})
}
