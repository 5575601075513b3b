package legacy

import (
	"encoding/json"
	"strconv"
)

// Payload is a record's properties. Its values are
//
//	string            strings. What a Java string holds beyond Unicode text, an
//	                  unpaired surrogate, is generalized UTF-8 (WTF-8): its three
//	                  bytes ED A0..BF xx. Everything else is valid UTF-8.
//	bool              java.lang.Boolean, JSON true and false
//	json.Number       java.lang.Integer and Long, JSON numbers, with every digit
//	nil, []any,
//	map[string]any    only from JSON
//
// Of a Properties with defaults, a payload has its own entries and its defaults.
// An own entry overrides the default with the same key.
type Payload map[string]any

// Text returns the string form of a value: strings as they are, "true" or
// "false", a number's digits. The second result is false if the payload has no
// such name, or if the value is null, an array or an object.
func (p Payload) Text(name string) (string, bool) {
	switch v := p[name].(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// MarshalJSON returns the canonical JSON of [AppendJSON]. It never fails. But
// json.Marshal escapes <, > and & in it. A json.Encoder with
// SetEscapeHTML(false) doesn't.
func (p Payload) MarshalJSON() ([]byte, error) { return AppendJSON(nil, p), nil }
