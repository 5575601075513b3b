package daemons

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mrtq/newqueue"
)

// These are the getters of org.json. They are exactly as strict as the originals.
// What they throw stands for JSONException, which is unchecked.

func getString(o newqueue.Object, key string) string {
	s, ok := o[key].(string)
	if !ok {
		throwf("JSONObject[%q] is not a string", key)
	}
	return s
}

func getBoolean(o newqueue.Object, key string) bool {
	switch v := o[key].(type) {
	case bool:
		return v
	case string:
		if strings.EqualFold(v, "true") || strings.EqualFold(v, "false") {
			return strings.EqualFold(v, "true")
		}
	}
	throwf("JSONObject[%q] is not a Boolean", key)
	return false
}

func getNumber(o newqueue.Object, key string, bits int) int64 {
	text := ""
	switch v := o[key].(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil { // Number.intValue, Number.longValue
			return int64(f)
		}
	case string:
		text = v
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		throwf("JSONObject[%q] is not a number", key)
	}
	return n
}

// optString does what the library's jsonStringProperty does: it returns "" if the key is
// missing, and throws if the value is not a string.
func optString(o newqueue.Object, key string) string {
	if _, there := o[key]; !there {
		return ""
	}
	return getString(o, key)
}

// value does what JSONUtil.getValue does. There is false, for its null, if the value
// is anything but a string.
func value(o newqueue.Object, key string) (s string, there bool) {
	s, there = o[key].(string)
	return s, there
}

// javaJSON writes a value as org.json does. The keys of an object are in no useful
// order there: its JSONObject is a hash table. Here they are in reverse order, so that
// every rewritten object differs from one with sorted keys.
func javaJSON(v any) string {
	switch v := v.(type) {
	case newqueue.Object:
		return javaJSON(map[string]any(v))
	case map[string]any:
		var all []string
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(v))) {
			all = append(all, javaQuote(key)+":"+javaJSON(v[key]))
		}
		return "{" + strings.Join(all, ",") + "}"
	case []any:
		var all []string
		for _, element := range v {
			all = append(all, javaJSON(element))
		}
		return "[" + strings.Join(all, ",") + "]"
	case string:
		return javaQuote(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("no JSON value: %v", v)) // only what ParseObject reads comes here
	}
	return string(b)
}

// javaQuote does what JSONObject.quote does.
func javaQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	var last rune
	for _, c := range s {
		switch {
		case c == '"', c == '\\', c == '/' && last == '<':
			b.WriteByte('\\')
			b.WriteRune(c)
		case strings.ContainsRune("\b\t\n\f\r", c):
			b.WriteString(map[rune]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}[c])
		case c < ' ', c >= 0x80 && c < 0xa0, c >= 0x2000 && c < 0x2100:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
		last = c
	}
	b.WriteByte('"')
	return b.String()
}
