package layoutmap

import (
	"bytes"
	"encoding/json"
	"fmt"

	"mrtq/internal/layout"
)

// eachKeyOnce refuses JSON in which an object has a key twice, before read reads it: org.json,
// with which the services read, refuses it, and encoding/json takes the last one.
func eachKeyOnce(read func(*layout.Reading) any) func(*layout.Reading) any {
	return func(r *layout.Reading) any {
		if key, twice := keyTwice(r.Data); twice {
			r.Fault(layout.NotJSON, r.Node.Codec.Says, fmt.Sprintf("key %.40q is there twice", key))
			return nil
		}
		return read(r)
	}
}

// keyTwice finds a key that an object in a JSON text has twice.
func keyTwice(data []byte) (key string, twice bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		keys  map[string]bool // nil for an array, and around the text
		value bool            // the next token is the value of a key
	}
	stack := []level{{}}
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false // the end, or no JSON, which read reports
		}
		top := &stack[len(stack)-1]
		if name, ok := token.(string); ok && top.keys != nil && !top.value {
			if top.keys[name] {
				return name, true
			}
			top.keys[name], top.value = true, true
			continue
		}
		top.value = false
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}
