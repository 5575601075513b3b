package daemons

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mrtq/newqueue"
)

// These are the getters of org.json. They are exactly as strict as the originals.
// Their errors stand for JSONException, which is unchecked.

func getString(o newqueue.Object, key string) (string, error) {
	s, ok := o[key].(string)
	if !ok {
		return "", fmt.Errorf("JSONObject[%q] is not a string", key)
	}
	return s, nil
}

func getBoolean(o newqueue.Object, key string) (bool, error) {
	switch v := o[key].(type) {
	case bool:
		return v, nil
	case string:
		if strings.EqualFold(v, "true") || strings.EqualFold(v, "false") {
			return strings.EqualFold(v, "true"), nil
		}
	}
	return false, fmt.Errorf("JSONObject[%q] is not a Boolean", key)
}

func getNumber(o newqueue.Object, key string, bits int) (int64, error) {
	text := ""
	switch v := o[key].(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil { // Number.intValue, Number.longValue
			return int64(f), nil
		}
	case string:
		text = v
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("JSONObject[%q] is not a number", key)
	}
	return n, nil
}

// stringOr does what the library's jsonStringProperty does: it returns a default if
// the key is missing, and an error if the value is not a string.
func stringOr(o newqueue.Object, key, otherwise string) (string, error) {
	if _, there := o[key]; !there {
		return otherwise, nil
	}
	return getString(o, key)
}

// value does what JSONUtil.getValue does. There is false, for its null, if the value
// is anything but a string.
func value(o newqueue.Object, key string) (s string, there bool) {
	s, there = o[key].(string)
	return s, there
}
