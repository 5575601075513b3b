package merritt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"mrtq/internal/layout"
)

// mostLevels is how deep org.json reads objects and arrays into each other.
const mostLevels = 512

// strictly refuses JSON that a service refuses, before read reads it: org.json takes no key twice in an
// object and no more than some levels, and the admin tool takes only UTF-8. encoding/json takes all that.
func strictly(read func(*layout.Reading) any) func(*layout.Reading) any {
	return func(r *layout.Reading) any {
		if wrong := refused(r.Data); wrong != "" {
			r.Fault(layout.NotJSON, r.Node.Codec.Says, wrong)
			return nil
		}
		return read(r)
	}
}

// refused says what a service does not take in a JSON text, "" for nothing.
func refused(data []byte) string {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("byte %#02x at offset %d is not UTF-8", data[at], at)
		}
		at += size
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		keys  map[string]bool // nil for an array, and around the text
		value bool            // the next token is the value of a key
	}
	stack := []level{{}}
	for {
		token, err := dec.Token()
		if err != nil {
			return "" // the end, or no JSON, which read reports
		}
		top := &stack[len(stack)-1]
		if name, ok := token.(string); ok && top.keys != nil && !top.value {
			if top.keys[name] {
				return fmt.Sprintf("key %.40q is there twice", name)
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
		if len(stack)-1 > mostLevels {
			return fmt.Sprintf("objects and arrays are in each other more than %d levels deep", mostLevels)
		}
	}
}
